/** Random conditions on things, and random options of finds. */
import fc from "fast-check";
import { code, day, hour, id, mood, number, rest, text, time } from "./arbitrary_things.ts";
import { type Column, COLUMNS, type Condition } from "../support/thing.ts";

/** A condition that one row meets at most. */
export const unique = fc.oneof(
  fc.record({ id }),
  { arbitrary: fc.record({ code }), weight: 3 },
  fc.record({ id, code: fc.record({ equals: code }) }),
);

/** A condition on the row of a write, with or without its version. */
export const target = fc.tuple(unique, fc.option(fc.integer({ min: 1, max: 3 })))
  .map(([where, version]) => version === null ? where : { ...where, version });

/** Some of the columns. */
export const someColumns = fc.subarray([...COLUMNS]);

const part = fc.constantFrom("", " ", "a", "A", "s", "%", "_", "!", "*", "?", "[a]", "'", "\\");
const match = fc.record({ contains: part, startsWith: part, endsWith: part }, { requiredKeys: [] })
  .map((operators) => ({ isNull: false, ...operators }));
const mode = fc.option(fc.constantFrom("insensitive", "default"), { nil: undefined });

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
  ),
}));

/** A condition. */
export const { where } = conditions;

/** The options of a find. */
export const find = fc.record({
  where,
  orderBy: fc.array(
    fc.tuple(fc.constantFrom(...COLUMNS), fc.constantFrom("asc", "desc"), mode)
      .map(([name, sort, mode]) => {
        const isText = name === "code" || name === "name";
        return { [name]: isText && mode ? { sort, mode } : sort };
      }),
    { maxLength: 3 },
  ),
  take: fc.nat({ max: 5 }),
  skip: fc.nat({ max: 3 }),
  // Mostly columns with few values: others are different in every row.
  distinct: fc.oneof(someColumns, fc.constantFrom<Column[][]>(["flag"], ["rank"])),
  select: fc.subarray([...COLUMNS], { minLength: 1 }).map((names) =>
    // By type it has every column.
    Object.fromEntries(names.map((name) => [name, true])) as Record<Column, true>
  ),
}, { requiredKeys: [] });

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
