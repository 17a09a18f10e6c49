/**
 * The names and the types of aggregates: counts, sums, averages, and the least and the greatest
 * values.
 *
 * @module
 */
import type { ComparableIn, NameIn, RelationsIn, TableSpecs, TypeIn } from "./column_spec.ts";
import type { FieldValues } from "./field_kind.ts";
import type { Select } from "./include.ts";
import type { Order } from "./order.ts";
import type { Condition } from "./value_condition.ts";
import type { FilterOptions } from "./where.ts";

/** The names of the aggregates. */
export const AGGREGATES: readonly string[] = ["_count", "_sum", "_avg", "_min", "_max"];

/** The kinds of numbers. */
export type NumericKind = "integer" | "bigint" | "real" | "decimal";

/** The names of the columns of numbers. */
export type NumericIn<Spec extends string> = NameIn<
  Extract<Spec, `${string}: ${NumericKind}${"" | "?"}`>
>;

/** Columns to count the values of that are not `null`; `_all` counts rows. */
export type Counts<K extends string> = { readonly [P in K]?: true };

/** A `_count` of type `C` if it names columns `K` only. */
export type CheckedCount<C, K extends string> = C extends true ? C
  : [C] extends [Counts<K>] ? [Exclude<keyof C, K>] extends [never] ? C : true | Counts<K>
  : true | Counts<K>;

/** The aggregates to read. */
export interface Aggregates<
  Spec extends string,
  C,
  Sum extends string,
  Avg extends string,
  Min extends string,
  Max extends string,
> {
  /** `true` counts rows; columns count their values that are not `null`. */
  readonly _count?: CheckedCount<C, NameIn<Spec> | "_all"> | undefined;
  /** The sums of columns. */
  readonly _sum?: Select<Sum> | undefined;
  /** The averages of columns. */
  readonly _avg?: Select<Avg> | undefined;
  /** The least values of columns. */
  readonly _min?: Select<Min> | undefined;
  /** The greatest values of columns. */
  readonly _max?: Select<Max> | undefined;
}

/** Which aggregates of which rows to read. */
export interface AggregateOptions<
  T extends string,
  Spec extends string,
  W extends TableSpecs,
  C,
  Sum extends string,
  Avg extends string,
  Min extends string,
  Max extends string,
> extends Aggregates<Spec, C, Sum, Avg, Min, Max>, FilterOptions<T, Spec, W> {}

/** The aggregates as they are read: without values that are not `null`, all but counts are. */
export type Aggregated<
  Spec extends string,
  C,
  Sum extends string,
  Avg extends string,
  Min extends string,
  Max extends string,
> =
  & IfAny<C, { _count: C extends true ? number : { -readonly [P in keyof C]: number } }>
  & IfAny<Sum, { _sum: { [P in Sum]: ValueIn<Spec, P> | null } }>
  & IfAny<Avg, { _avg: { [P in Avg]: AverageOf<KindIn<Spec, P>> | null } }>
  & IfAny<Min, { _min: { [P in Min]: ValueIn<Spec, P> | null } }>
  & IfAny<Max, { _max: { [P in Max]: ValueIn<Spec, P> | null } }>;

/** A part of a result that is read if any name asks for it. */
export type IfAny<K, Part> = [K] extends [never] ? unknown : Part;

/** The kind of a column by its name. */
export type KindIn<Spec extends string, K extends string> = TypeIn<
  Extract<Spec, `${K}: ${string}`>
>["kind"];

/** The value of a column by its name; never `null`. */
export type ValueIn<Spec extends string, K extends string> = NonNullable<
  TypeIn<Extract<Spec, `${K}: ${string}`>>["value"]
>;

/** The average of values of a kind: of decimals, a decimal with four more digits. */
export type AverageOf<K> = K extends "decimal" ? string : number;

/** A condition on groups: on the aggregates of columns, and on other conditions. */
export type Having<Spec extends string> = {
  readonly [
    P in Spec | keyof HavingLogic<Spec> as P extends keyof HavingLogic<Spec> ? P : NameIn<P>
  ]?: P extends keyof HavingLogic<Spec> ? HavingLogic<Spec>[P]
    : HavingAggregates<TypeIn<P>["kind"], NonNullable<TypeIn<P>["value"]>>;
};

/** Conditions on other conditions. */
export interface HavingLogic<Spec extends string> {
  /** All of the conditions hold. */
  readonly AND: readonly Having<Spec>[];
  /** At least one of the conditions holds. */
  readonly OR: readonly Having<Spec>[];
  /** The condition does not hold. */
  readonly NOT: Having<Spec>;
}

/** Conditions on the aggregates of a column of a kind. An average is compared as a double. */
export type HavingAggregates<K extends keyof FieldValues, V> =
  & { readonly _count?: Condition<"integer", number> }
  & (K extends "json" | "array" ? unknown
    : { readonly _min?: Condition<K, V | null>; readonly _max?: Condition<K, V | null> })
  & (K extends NumericKind
    ? { readonly _sum?: Condition<K, V | null>; readonly _avg?: Condition<"real", number | null> }
    : unknown);

/** An order of groups, or a list of them. */
export type GroupOrders<Spec extends string, By extends string> =
  | GroupOrder<Spec, By>
  | readonly GroupOrder<Spec, By>[];

/** An order of groups: columns that they are grouped by, and aggregates. */
export type GroupOrder<Spec extends string, By extends string> =
  & Order<By>
  & AggregateOrder<Spec>;

/** An order by aggregates. */
export interface AggregateOrder<Spec extends string> {
  /** By counts. */
  readonly _count?: Order<NameIn<Spec> | "_all">;
  /** By sums. */
  readonly _sum?: Order<NumericIn<Spec>>;
  /** By averages. */
  readonly _avg?: Order<NumericIn<Spec>>;
  /** By the least values. */
  readonly _min?: Order<ComparableIn<Spec>>;
  /** By the greatest values. */
  readonly _max?: Order<ComparableIn<Spec>>;
}

/** Which groups to read. */
export interface GroupOptions<
  T extends string,
  Spec extends string,
  W extends TableSpecs,
  By extends string,
  C,
  Sum extends string,
  Avg extends string,
  Min extends string,
  Max extends string,
> extends AggregateOptions<T, Spec, W, C, Sum, Avg, Min, Max> {
  /** The columns whose values are the same in a group; `null` is one of them. */
  readonly by: readonly By[];
  /** The condition on the groups. */
  readonly having?: Having<Exclude<Spec, RelationsIn<Spec>>>;
  /** The order; with `take` and `skip` the columns of `by` break ties. */
  readonly orderBy?: GroupOrders<Spec, By> | undefined;
  /** How many groups at most, 0 or more. */
  readonly take?: number | undefined;
  /** How many groups to leave out first, 0 or more. */
  readonly skip?: number | undefined;
}
