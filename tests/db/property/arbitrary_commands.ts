/** Commands to a database of things, at random. */
import fc from "fast-check";
import type { Command, Operation, Scope, Unique } from "../support/thing_operations.ts";
import { find, lock, lockingFind, someColumns, where } from "./arbitrary_conditions.ts";
import { aggregate, groupBy } from "./arbitrary_groups.ts";
import { targetOf, type Writing } from "./arbitrary_things.ts";
import { flat } from "./memory_condition.ts";

const scope = fc.oneof(
  { arbitrary: fc.constant<Scope>({}), weight: 3 },
  fc.constantFrom<Scope>({ flag: true }, { flag: false }, { flag: true, name: "a" }),
  {
    arbitrary: fc.constantFrom<Scope>({ withDeleted: true }, { withDeleted: true, flag: true }),
    weight: 2,
  },
);

/** Returns an operation that writes such data, or reads. */
function operationOf(writing: Writing): fc.Arbitrary<Operation> {
  const { keyless, keyed, fewRows, mixedRows, change, unique, key, upserts } = writing;
  const target = targetOf(writing);
  const someRows = fc.oneof(fewRows, fc.array(keyed, { maxLength: 5 }), mixedRows);
  const upsert = fc.tuple(key, keyless, change).map(([where, create, update]) => ({
    do: "upsert" as const,
    where,
    create: { ...create, ...flat(where) },
    update,
  }));
  const upsertMany = upserts.map(({ by, rows, update }) =>
    fc.record({ do: does("upsertMany"), by: fc.constant(by), create: rows, update })
  );
  return fc.oneof(
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
    { arbitrary: fc.record({ do: does("findUnique"), where: unique, lock }), weight: 1 },
    { arbitrary: fc.record({ do: does("delete", "purge"), where: target }), weight: 2 },
    {
      arbitrary: fc.tuple(does("findMany", "findFirst"), lockingFind)
        .map(([verb, options]) => ({ do: verb, ...options })),
      weight: 8,
    },
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
    { arbitrary: fc.oneof(...upsertMany), weight: 4 },
    { arbitrary: fc.record({ do: does("deleteMany"), where }), weight: 2 },
    { arbitrary: fc.record({ do: does("purgeMany"), where }), weight: 1 },
    { arbitrary: fc.record({ do: does("exists"), where }), weight: 1 },
    { arbitrary: fc.record({ do: does("count"), where, distinct: someColumns }), weight: 2 },
    { arbitrary: fc.record({ do: does("aggregate"), options: aggregate }), weight: 3 },
    { arbitrary: fc.record({ do: does("groupBy"), options: groupBy }), weight: 5 },
  );
}

/** Returns a command to a database of things that are written so. */
export function commandOf(writing: Writing): fc.Arbitrary<Command> {
  const operation = operationOf(writing);
  return fc.letrec<{ command: Command }>((tie) => ({
    command: fc.oneof(
      { maxDepth: 2 },
      {
        arbitrary: fc.tuple(scope, operation).map(([scope, operation]) => ({
          do: "operation" as const,
          scope,
          operation: inScope(operation, scope),
        })),
        weight: 11,
      },
      fc.record({
        do: does("transaction"),
        commands: fc.array(tie("command"), { maxLength: 4 }),
        commits: fc.boolean(),
      }),
    ),
  })).command;
}

function does<D extends string>(...names: readonly D[]): fc.Arbitrary<D> {
  return fc.constantFrom(...names);
}

/** Takes the columns of a scope, which it sets itself, out of data. */
function inScope(operation: Operation, scope: Scope): Operation {
  const columns = [...Object.keys(scope), ...scope.withDeleted ? [] : ["gone"]];
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
    case "upsert": {
      const { where, create, update } = operation;
      return {
        ...operation,
        where: withScope(where, scope),
        create: rid(create),
        update: rid(update),
      };
    }
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

/** An upsert refuses a key with another value than that of the scope. */
function withScope(where: Unique, { name }: Scope): Unique {
  if (!("name_rank" in where) || name === undefined) return where;
  // By type, conditions have the keys of one column.
  return { name_rank: { ...where.name_rank as object, name } } as unknown as Unique;
}
