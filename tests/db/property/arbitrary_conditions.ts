/** Random conditions on things, and random options of finds. */
import fc from "fast-check";
import type { ExpressionBuilder } from "kysely";
import type { LockOptions } from "../../../src/db/types.ts";
import { type Column, COLUMNS, ORDERED_COLUMNS, type OrderedColumn } from "../support/thing.ts";
import type { Condition, Find } from "../support/thing_operations.ts";
import {
  big,
  code,
  day,
  hour,
  id,
  mood,
  number,
  price,
  rest,
  scalar,
  tags,
  text,
  time,
  word,
} from "./arbitrary_things.ts";
import type { KyselyCondition } from "./memory_condition.ts";

/** Some of the columns that have an order. */
export const someColumns = fc.subarray([...ORDERED_COLUMNS]);

const part = fc.constantFrom("", " ", "a", "A", "s", "%", "_", "!", "*", "?", "[a]", "'", "\\");
const match = fc.record({ contains: part, startsWith: part, endsWith: part }, { requiredKeys: [] })
  .map((operators) => ({ isNull: false, ...operators }));
const mode = fc.option(fc.constantFrom("insensitive", "default"), { nil: undefined });

const onList = fc.oneof(
  tags,
  fc.record({ equals: tags }),
  fc.record({ not: tags }),
  fc.record({ has: word }),
  fc.record({ hasEvery: tags }),
  fc.record({ hasSome: tags }),
  fc.record({ isEmpty: fc.boolean() }),
  fc.record({ isNull: fc.boolean() }),
);

const path = fc.array(fc.constantFrom("a", "b", "$", 0, 1), { maxLength: 2 });
const orNull = fc.oneof(scalar, fc.constant(null));
const onJson = fc.oneof(
  fc.record({ isNull: fc.boolean() }),
  fc.record({ path, equals: orNull }),
  fc.record({ path, not: orNull }),
  fc.record({ path, gte: fc.constantFrom(-3, 0, 1) }),
  fc.record({ path, lt: fc.constantFrom(0, 1, 5.5) }),
  fc.record({ path, string_contains: word }),
  fc.record({ path, string_starts_with: word }),
  fc.record({ path, string_ends_with: word }),
  fc.record({ path, array_contains: fc.oneof(orNull, fc.array(orNull, { maxLength: 2 })) }),
  fc.record({ path, isSet: fc.boolean() }),
);

/** How Kysely compares ranks, whose column has another name. */
const RANKS = { "<": "lt", ">=": "gte", "=": "equals" } as const;
const ofKysely = fc.tuple(fc.constantFrom("<", ">=", "="), number).map(([operator, operand]) => {
  const build = (eb: ExpressionBuilder<{ objects: { code: number } }, "objects">) =>
    eb("code", operator, operand);
  const same: KyselyCondition = { same: { rank: { [RANKS[operator]]: operand } } };
  // By type, it is a condition of Kysely for another table.
  return Object.assign(build, same) as unknown as Condition;
});

// By type, the operators are not those of a kind of column.
const conditions = fc.letrec<{ where: Condition; column: Condition }>((tie) => ({
  column: fc.oneof(
    fc.record({ id: fc.oneof(id, operators(id, ordered(id))) }),
    fc.record({ code: fc.oneof(code, inMode(operators(code, ordered(text)))) }),
    fc.record({ name: fc.oneof(rest.name, inMode(operators(text, ordered(text)))) }),
    fc.record({ code: inMode(match) }),
    fc.record({ name: inMode(match) }),
    fc.record({ rank: fc.oneof(rest.rank, operators(number, ordered(number))) }),
    fc.record({ touched: fc.oneof(time, operators(time, ordered(time))) }),
    fc.record({ version: operators(fc.integer({ min: 1, max: 3 }), ordered(fc.integer())) }),
    fc.record({ gone: fc.oneof(fc.constant(null), operators(time, ordered(time))) }),
    fc.record({ mood: fc.oneof(rest.mood, operators(mood)) }),
    fc.record({ day: fc.oneof(rest.day, operators(day, ordered(day))) }),
    fc.record({ hour: fc.oneof(rest.hour, operators(hour, ordered(hour))) }),
    fc.record({ big: fc.oneof(rest.big, operators(big, ordered(big))) }),
    fc.record({ price: fc.oneof(rest.price, operators(price, ordered(price))) }),
    { arbitrary: fc.record({ tags: onList }), weight: 2 },
    { arbitrary: fc.record({ data: onJson }), weight: 2 },
    fc.record({ flag: fc.oneof(fc.boolean(), operators(fc.boolean())) }),
  ) as fc.Arbitrary<Condition>,
  where: fc.oneof(
    { maxDepth: 3 },
    { arbitrary: tie("column"), weight: 5 },
    { arbitrary: fc.constant({}), weight: 1 },
    {
      arbitrary: fc.tuple(tie("column"), tie("column")).map(([a, b]) => ({ ...a, ...b })),
      weight: 2,
    },
    { arbitrary: fc.record({ AND: fc.array(tie("where"), { maxLength: 2 }) }), weight: 1 },
    { arbitrary: fc.record({ OR: fc.array(tie("where"), { maxLength: 3 }) }), weight: 3 },
    { arbitrary: fc.record({ NOT: tie("where") }), weight: 3 },
    fc.record({ AND: fc.tuple(ofKysely, tie("where")) }),
    fc.record({ OR: fc.tuple(tie("column"), ofKysely) }),
    fc.record({ NOT: ofKysely }),
  ) as fc.Arbitrary<Condition>,
}));

/** A condition. */
export const { where } = conditions;

/** The options of a find. */
export const find = fc.record({
  where,
  orderBy: fc.array(
    fc.tuple(fc.constantFrom(...ORDERED_COLUMNS), fc.constantFrom("asc", "desc"), mode)
      .map(([name, sort, mode]) => {
        const isText = name === "code" || name === "name";
        return { [name]: isText && mode ? { sort, mode } : sort };
      }),
    { maxLength: 3 },
  ),
  take: fc.nat({ max: 5 }),
  skip: fc.nat({ max: 3 }),
  // Mostly columns with few values: others are different in every row.
  distinct: fc.oneof(someColumns, fc.constantFrom<OrderedColumn[][]>(["flag"], ["rank"])),
  select: fc.subarray([...COLUMNS], { minLength: 1 }).map((names) =>
    // By type it has every column.
    Object.fromEntries(names.map((name) => [name, true])) as Record<Column, true>
  ),
}, { requiredKeys: [] });

/** A lock; nobody else has locked rows, so that it changes nothing. */
export const lock: fc.Arbitrary<LockOptions> = fc.oneof(
  { arbitrary: fc.constant({}), weight: 2 },
  fc.constantFrom<LockOptions>(
    { lock: "update" },
    { lock: "share" },
    { lock: "update", skipLocked: true },
    { lock: "share", noWait: true },
  ),
);

/** The options of a find, with a lock or without one; rows that are locked are not distinct. */
export const lockingFind: fc.Arbitrary<{ readonly options: Find; readonly lock: LockOptions }> = fc
  .tuple(find, lock).map(([options, lock]) => {
    const { distinct: _, ...rest } = options;
    return { options: lock.lock ? rest : options, lock };
  });

function operators<V>(value: fc.Arbitrary<V>, more: Record<string, fc.Arbitrary<unknown>> = {}) {
  const some = fc.array(value, { maxLength: 3 });
  const record = fc.record(
    { equals: value, not: value, in: some, notIn: some, isNull: fc.boolean(), ...more },
    { requiredKeys: [] },
  );
  // Few at a time: a conjunction of many hardly ever holds.
  return fc.tuple(record, fc.nat()).map(([all, pick]) => {
    const entries = Object.entries(all);
    return entries.length === 0
      ? { isNull: false }
      : Object.fromEntries([entries[pick % entries.length]!]);
  });
}

function inMode(condition: fc.Arbitrary<object>): fc.Arbitrary<object> {
  return fc.tuple(condition, mode)
    .map(([operators, mode]) => ({ ...operators, ...mode && { mode } }));
}

function ordered<V>(value: fc.Arbitrary<V>) {
  return { lt: value, lte: value, gt: value, gte: value };
}
