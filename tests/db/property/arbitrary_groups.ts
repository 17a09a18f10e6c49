/** Random aggregates of things, and random groups of them. */
import fc from "fast-check";
import { where } from "./arbitrary_conditions.ts";
import { big, number, price, text } from "./arbitrary_things.ts";
import { type Column, COLUMNS, ORDERED_COLUMNS } from "../support/thing.ts";
import type { Grouping } from "../support/thing_operations.ts";

/** Not keys, whose numbers differ from run to run. */
const VALUES = ORDERED_COLUMNS.filter((name) => name !== "id");
/** The columns that are added up. */
const NUMBERS: readonly Column[] = ["rank", "big", "price"];

const of = <N extends string>(names: readonly N[]) =>
  fc.subarray([...names], { minLength: 1 }).map((some) =>
    Object.fromEntries(some.map((name) => [name, true]))
  );

const values = {
  _count: fc.oneof(fc.constant(true as const), of(["_all", ...COLUMNS])),
  _sum: of(NUMBERS),
  _avg: of(NUMBERS),
  _min: of(VALUES),
  _max: of(VALUES),
};

/** The options of an aggregate. */
export const aggregate: fc.Arbitrary<Grouping> = fc.record({ where, ...values }, {
  requiredKeys: ["_count"],
});

const compared = <V>(value: fc.Arbitrary<V>) =>
  fc.oneof(
    value,
    fc.record({ gt: value }),
    fc.record({ lte: value }),
    fc.record({ not: value }),
    fc.record({ in: fc.array(value, { maxLength: 3 }) }),
    fc.record({ notIn: fc.array(value, { maxLength: 2 }) }),
    fc.record({ isNull: fc.boolean() }),
  );

const counted = compared(fc.nat({ max: 3 }));

const havings = fc.letrec<{ having: object; column: object }>((tie) => ({
  column: fc.oneof(
    fc.record({ name: fc.record({ _count: counted }) }),
    fc.record({ id: fc.record({ _count: counted }) }),
    fc.record({ rank: fc.record({ _sum: compared(number) }) }),
    fc.record({ rank: fc.record({ _sum: compared(number), _max: compared(number) }) }),
    fc.record({ rank: fc.record({ _avg: compared(fc.oneof(number, fc.constant(0.5))) }) }),
    fc.record({ big: fc.record({ _sum: compared(big) }) }),
    fc.record({ price: fc.record({ _sum: compared(price) }) }),
    fc.record({ name: fc.record({ _min: compared(text) }) }),
    fc.record({ flag: fc.record({ _max: fc.boolean() }) }),
  ) as fc.Arbitrary<object>,
  having: fc.oneof(
    { maxDepth: 2 },
    { arbitrary: tie("column"), weight: 5 },
    fc.record({ AND: fc.array(tie("having"), { maxLength: 2 }) }),
    fc.record({ OR: fc.array(tie("having"), { maxLength: 2 }) }),
    fc.record({ NOT: tie("having") }),
  ),
}));

const direction = fc.constantFrom("asc", "desc");
const orders = fc.oneof(
  fc.record({ _count: fc.record({ _all: direction }) }),
  fc.record({ _sum: fc.record({ rank: direction }) }),
  fc.record({ _sum: fc.record({ big: direction }) }),
  fc.record({ _avg: fc.record({ price: direction }) }),
  fc.record({ _avg: fc.record({ rank: direction }) }),
  fc.record({ _min: fc.record({ name: direction }) }),
  fc.record({ _max: fc.record({ flag: direction }) }),
) as fc.Arbitrary<object>;

/** The options of groups. */
export const groupBy: fc.Arbitrary<Grouping> = fc.constantFrom<Column[][]>(
  ["flag"],
  ["price"],
  ["rank"],
  ["name"],
  ["flag", "rank"],
).chain((by) => {
  const column = fc.tuple(fc.constantFrom(...by), direction).map((order) =>
    Object.fromEntries([order])
  );
  return fc.record({
    by: fc.constant(by),
    where,
    having: havings.having,
    orderBy: fc.array(fc.oneof(orders, column), { maxLength: 2 }),
    take: fc.nat({ max: 4 }),
    skip: fc.nat({ max: 2 }),
    ...values,
  }, { requiredKeys: ["by"] });
});
