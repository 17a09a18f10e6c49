/** Commands to a database of things, at random. */
import fc from "fast-check";
import { find, someColumns, target, unique, where } from "./arbitrary_conditions.ts";
import { change, code, fewRows, id, keyed, keyless, mixedRows } from "./arbitrary_things.ts";
import { aggregate, groupBy } from "./arbitrary_groups.ts";
import type { Change, Command, Operation, Scope } from "../support/thing.ts";

const scope = fc.oneof(
  { arbitrary: fc.constant<Scope>({}), weight: 3 },
  fc.constantFrom<Scope>({ flag: true }, { flag: false }, { flag: true, name: "a" }),
  {
    arbitrary: fc.constantFrom<Scope>({ withDeleted: true }, { withDeleted: true, flag: true }),
    weight: 2,
  },
);

const upsert = fc.tuple(fc.oneof(fc.record({ id }), fc.record({ code })), keyless, change)
  .map(([where, create, update]) => ({
    do: "upsert" as const,
    where,
    create: { ...create, ...where },
    update,
  }));

const changed = fc.subarray<keyof Change>([
  "name",
  "flag",
  "touched",
  "note",
  "mood",
  "day",
  "hour",
]).map((
  names,
) => [...names, "rank" as const]);
const upsertMany: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({
    do: does("upsertMany"),
    by: fc.constant("code" as const),
    create: fewRows,
    update: changed,
  }),
  fc.record({
    do: does("upsertMany"),
    by: fc.constant("id" as const),
    create: fc.uniqueArray(keyed, { maxLength: 4, selector: ({ id }) => id }),
    update: fc.oneof(changed, changed.map((names) => [...names, "code" as const])),
  }),
);

const someRows = fc.oneof(fewRows, fc.array(keyed, { maxLength: 5 }), mixedRows);

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { arbitrary: fc.record({ do: does("create"), data: fc.oneof(keyless, keyed) }), weight: 6 },
  {
    arbitrary: fc.record({
      do: does("createMany"),
      data: someRows,
      skipDuplicates: fc.boolean(),
    }),
    weight: 4,
  },
  { arbitrary: fc.record({ do: does("createManyAndReturn"), data: someRows }), weight: 2 },
  { arbitrary: fc.record({ do: does("findUnique"), where: unique }), weight: 1 },
  { arbitrary: fc.record({ do: does("delete", "purge"), where: target }), weight: 2 },
  { arbitrary: fc.record({ do: does("findMany", "findFirst"), options: find }), weight: 8 },
  {
    arbitrary: fc.record({
      do: does("stream"),
      options: find,
      batchSize: fc.integer({ min: 1, max: 3 }),
    }),
    weight: 4,
  },
  { arbitrary: fc.record({ do: does("update"), where: target, data: change }), weight: 3 },
  {
    arbitrary: fc.record({
      do: does("updateMany", "updateManyAndReturn"),
      where,
      data: change,
    }),
    weight: 3,
  },
  { arbitrary: upsert, weight: 4 },
  { arbitrary: upsertMany, weight: 4 },
  { arbitrary: fc.record({ do: does("deleteMany"), where }), weight: 2 },
  { arbitrary: fc.record({ do: does("purgeMany"), where }), weight: 1 },
  { arbitrary: fc.record({ do: does("exists"), where }), weight: 1 },
  { arbitrary: fc.record({ do: does("count"), where, distinct: someColumns }), weight: 2 },
  { arbitrary: fc.record({ do: does("aggregate"), options: aggregate }), weight: 3 },
  { arbitrary: fc.record({ do: does("groupBy"), options: groupBy }), weight: 5 },
);

const commands = fc.letrec<{ command: Command }>((tie) => ({
  command: fc.oneof(
    { maxDepth: 2 },
    {
      arbitrary: fc.tuple(scope, operation).map(([scope, operation]) => ({
        do: "operation" as const,
        scope,
        operation: withoutScope(operation, [
          ...Object.keys(scope),
          ...scope.withDeleted ? [] : ["gone"],
        ]),
      })),
      weight: 11,
    },
    fc.record({
      do: does("transaction"),
      commands: fc.array(tie("command"), { maxLength: 4 }),
      commits: fc.boolean(),
    }),
  ),
}));

/** A command. */
export const { command } = commands;

function does<D extends string>(...names: readonly D[]): fc.Arbitrary<D> {
  return fc.constantFrom(...names);
}

/** Takes the columns of a scope, which it sets itself, out of data. */
function withoutScope(operation: Operation, columns: readonly string[]): Operation {
  const rid = <T extends object>(data: T): T =>
    // Only columns go that may be missing.
    Object.fromEntries(Object.entries(data).filter(([name]) => !columns.includes(name))) as T;
  switch (operation.do) {
    case "create":
      return { ...operation, data: rid(operation.data) };
    case "createMany":
    case "createManyAndReturn":
      return { ...operation, data: operation.data.map(rid) };
    case "update":
    case "updateMany":
    case "updateManyAndReturn":
      return { ...operation, data: rid(operation.data) };
    case "upsert":
      return { ...operation, create: rid(operation.create), update: rid(operation.update) };
    case "upsertMany": {
      const { create, update } = operation;
      return {
        ...operation,
        create: create.map(rid),
        update: update.filter((name) => !columns.includes(name)),
      };
    }
    default:
      return operation;
  }
}
