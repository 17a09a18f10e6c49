/** Writes of rows together with related rows, at random. */
import fc from "fast-check";
import { EDGES, type Kind } from "../support/shelf.ts";

/** A write of a row, in a scope. */
export type Write =
  & { readonly scope: { readonly flag?: boolean }; readonly kind: Kind }
  & (
    | { readonly do: "create"; readonly data: Data }
    | { readonly do: "update"; readonly where: Code; readonly data: Data }
    | { readonly do: "upsert"; readonly where: Code; readonly create: Data; readonly update: Data }
    | { readonly do: "delete"; readonly where: Code }
  );

/** The data of a row: its columns, and the steps of its relations. */
export type Data = Readonly<Record<string, unknown>>;

/** What names a row. */
export interface Code {
  readonly code: string;
}

/** Writes in a transaction of their own, or each by itself. */
export interface Block {
  readonly isTransaction: boolean;
  readonly commits: boolean;
  readonly writes: readonly Write[];
}

const KINDS: readonly Kind[] = ["person", "card", "book", "tag"];
const code = fc.constantFrom(..."abcdefgh");
const where: fc.Arbitrary<Code> = fc.record({ code });
const wheres = fc.oneof(where, fc.array(where, { maxLength: 3 }));

/** Which columns data has, and which relation it comes from, whose foreign key it lacks. */
interface DataOptions {
  readonly isUpdate?: boolean;
  readonly isNamed?: boolean;
  readonly inScope: boolean;
  readonly from?: string;
  readonly depth: number;
}

function data(
  kind: Kind,
  { isUpdate = false, isNamed, inScope, from, depth }: DataOptions,
): fc.Arbitrary<Data> {
  const edges = Object.entries(EDGES[kind]).filter(([, [to, how]]) =>
    depth > 0 && !(how === "own" && from === to)
  );
  const relations = edges.map(([name, [to, how]]) =>
    [name, steps(to, { how, isUpdate, inScope, from: kind, depth: depth - 1 })] as const
  );
  const columns: Record<string, fc.Arbitrary<unknown>> = {
    ...!isNamed && { code },
    ...!inScope && { flag: fc.boolean() },
    ...Object.fromEntries(relations),
  };
  return fc.record(columns, { requiredKeys: isUpdate || isNamed ? [] : ["code"] });
}

interface StepOptions {
  readonly how: "own" | "one" | "many" | "join";
  readonly isUpdate: boolean;
  readonly inScope: boolean;
  readonly from: Kind;
  readonly depth: number;
}

function steps(
  to: Kind,
  { how, isUpdate, inScope, from, depth }: StepOptions,
): fc.Arbitrary<object> {
  const options = { inScope, depth, ...how !== "own" && how !== "join" && { from } };
  const create = data(to, options);
  const connectOrCreate = fc.record({
    where,
    create: data(to, { ...options, isNamed: true }),
  });
  if (how === "own" || how === "one") {
    return fc.oneof(
      fc.record({ create }),
      fc.record({ connect: where }),
      fc.record({ connectOrCreate }),
      ...isUpdate ? [fc.constant({ disconnect: true })] : [],
    );
  }
  const all = {
    create: fc.oneof(create, fc.array(create, { maxLength: 3 })),
    connect: wheres,
    connectOrCreate: fc.oneof(connectOrCreate, fc.array(connectOrCreate, { maxLength: 2 })),
  };
  const more = { set: wheres, disconnect: wheres };
  return fc.record(isUpdate ? { ...all, ...more } : all, { requiredKeys: [] });
}

/** How deep relations are written. */
const DEPTH = 3;

const write: fc.Arbitrary<Write> = fc.oneof(
  ...KINDS.flatMap((kind) =>
    [{}, {}, { flag: true }, { flag: false }].map((scope) => {
      const inScope = "flag" in scope;
      const depth = DEPTH;
      const common = { scope: fc.constant(scope), kind: fc.constant(kind) };
      const update = data(kind, { isUpdate: true, inScope, depth });
      return fc.oneof(
        {
          arbitrary: fc.record({
            ...common,
            do: fc.constant("create" as const),
            data: data(kind, { inScope, depth }),
          }),
          weight: 3,
        },
        {
          arbitrary: fc.record({
            ...common,
            do: fc.constant("update" as const),
            where,
            data: update,
          }),
          weight: 4,
        },
        {
          arbitrary: fc.record({
            ...common,
            do: fc.constant("upsert" as const),
            where,
            create: data(kind, { isNamed: true, inScope, depth }),
            update,
          }),
          weight: 3,
        },
        fc.record({ ...common, do: fc.constant("delete" as const), where }),
      );
    })
  ),
);

/** Writes, of which some are one transaction. */
export const block: fc.Arbitrary<Block> = fc.record({
  isTransaction: fc.boolean(),
  commits: fc.boolean(),
  writes: fc.array(write, { minLength: 1, maxLength: 4 }),
});
