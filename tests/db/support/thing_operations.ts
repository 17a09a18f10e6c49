/** The operations of a repository on things, as data. */
import type { CreateInput, FindManyOptions, UniqueWhere, Where } from "../../../src/db/mod.ts";
import type { LockOptions } from "../../../src/db/types.ts";
import type { Column, OrderedColumn, Thing, Things } from "./thing.ts";

/** A condition on rows. */
export type Condition = Where<typeof Thing>;

/** A condition on one row; that on keyed things has other keys. */
export type Unique = UniqueWhere<typeof Thing>;

/** A condition on the row of a write, and its version. */
export type Target = Unique & { readonly version?: number };

/** The data of a new row. */
export type Creation = CreateInput<typeof Thing>;

/** The data of an update. */
export type Change = Partial<Omit<Thing, "id" | "gone" | "version">>;

/** The options of a find; `select` may lack columns, which types ignore here. */
export type Find = FindManyOptions<typeof Thing> & { select?: Record<Column, true> };

/** The values of the rows of a scope; empty without a scope. */
export type Scope = { readonly [C in "name" | "rank" | "flag"]?: NonNullable<Thing[C]> } & {
  /** Whether marked rows are seen. */
  readonly withDeleted?: boolean;
};

/** The options of an aggregate, or of groups; types ignore here which columns there are. */
export interface Grouping {
  readonly where?: Condition;
  readonly by?: readonly Column[];
  /** A condition on groups: `{ rank: { _sum: { gt: 1 } } }`. */
  readonly having?: object;
  readonly orderBy?: readonly object[];
  readonly take?: number;
  readonly skip?: number;
  readonly _count?: true | object;
  readonly _sum?: object;
  readonly _avg?: object;
  readonly _min?: object;
  readonly _max?: object;
}

/** The operations of a repository; reads lock their rows inside a transaction only. */
export type Operation =
  | { do: "create"; data: Creation }
  | { do: "createMany"; data: Creation[]; skipDuplicates?: boolean }
  | { do: "createManyAndReturn"; data: Creation[] }
  | { do: "findUnique"; where: Unique; lock: LockOptions }
  | { do: "delete" | "purge"; where: Target }
  | { do: "findMany" | "findFirst"; options: Find; lock: LockOptions }
  | { do: "stream"; options: Find; batchSize: number }
  | { do: "update"; where: Target; data: Change }
  | { do: "updateMany" | "updateManyAndReturn"; where: Condition; data: Change }
  | { do: "upsert"; where: Unique; create: Creation; update: Change }
  | { do: "upsertMany"; by: string; create: Creation[]; update: (keyof Change)[] }
  | { do: "deleteMany" | "purgeMany" | "exists"; where: Condition }
  | { do: "count"; where: Condition; distinct: OrderedColumn[] }
  | { do: "aggregate" | "groupBy"; options: Grouping };

/** The operations of a database. */
export type Command =
  | { do: "operation"; scope: Scope; operation: Operation }
  | { do: "transaction"; commands: readonly Command[]; commits: boolean };

/** Runs an operation on the rows of a scope. */
export function runOperation(db: Things, scope: Scope, operation: Operation): Promise<unknown> {
  const thing = scopedThings(db, scope);
  // A condition that holds for every row is refused, unless the rows decide that.
  const naming = (where: Condition) => ({ AND: [where, { id: { not: 5000 } }] });
  switch (operation.do) {
    case "create":
      return thing.create({ data: operation.data });
    case "createMany": {
      const { data, skipDuplicates } = operation;
      return thing.createMany({ data, skipDuplicates });
    }
    case "createManyAndReturn":
      return thing.createManyAndReturn({ data: operation.data });
    case "findUnique":
      return thing.findUnique({ where: operation.where, ...operation.lock });
    case "findMany":
      return thing.findMany({ ...operation.options, ...operation.lock });
    case "findFirst": {
      const { take: _, ...options } = operation.options;
      return thing.findFirst({ ...options, ...operation.lock });
    }
    case "stream": {
      const { distinct: _, ...options } = operation.options;
      return Array.fromAsync(thing.stream({ ...options, batchSize: operation.batchSize }));
    }
    case "update":
      return thing.update({ where: operation.where, data: operation.data });
    case "updateMany":
      return thing.updateMany({ where: naming(operation.where), data: operation.data });
    case "updateManyAndReturn":
      return thing.updateManyAndReturn({ where: naming(operation.where), data: operation.data });
    case "upsert": {
      const { where, create, update } = operation;
      return thing.upsert({ where, create, update });
    }
    case "upsertMany": {
      const { create, update } = operation;
      return thing.upsertMany({ by: operation.by as "id", create, update });
    }
    case "delete":
      return thing.delete({ where: operation.where });
    case "purge":
      return thing.purge({ where: operation.where });
    case "deleteMany":
      return thing.deleteMany({ where: naming(operation.where) });
    case "purgeMany":
      return thing.purgeMany({ where: naming(operation.where) });
    case "exists":
      return thing.exists({ where: operation.where });
    case "count":
      return thing.count({ where: operation.where, distinct: operation.distinct });
    case "aggregate":
      return thing.aggregate(operation.options as { _count: true });
    case "groupBy":
      return thing.groupBy(operation.options as { by: ["name"] });
  }
}

function scopedThings({ thing }: Things, { withDeleted, ...scope }: Scope): Things["thing"] {
  // By type, data has no columns of the scope; neither has that of the operations.
  const seen = withDeleted ? thing.withDeleted() as unknown as Things["thing"] : thing;
  if (Object.keys(scope).length === 0) return seen;
  return seen.scoped(scope as Required<Omit<Scope, "withDeleted">>) as Things["thing"];
}
