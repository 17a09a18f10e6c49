/**
 * The types of orders, as plain values.
 *
 * @module
 */
import type {
  ComparableIn,
  MemberIn,
  NoTables,
  OrderedIn,
  SpecsOf,
  TableSpecs,
} from "./column_spec.ts";
import type { SortOrder } from "./model.ts";
import type { QueryMode } from "./value_condition.ts";

/** The directions of columns, and orders by related rows. */
export type Order<
  K extends string,
  Spec extends string = never,
  W extends TableSpecs = NoTables,
> = {
  readonly [P in K | Spec as P extends K ? P : MemberIn<P>]?: P extends `${string} -> ${infer To}`
    ? RelatedOrder<To, W>
    : P extends K ? SortOrder
    : TextOrder;
};

/** An order by text. */
export interface TextOrder {
  /** The direction. */
  readonly sort: SortOrder;
  /** Whether case counts; `"default"` unless given. */
  readonly mode?: QueryMode;
}

/** An order by the row of a relation to one, or by the number of the rows of one to many. */
export type RelatedOrder<To extends string, W extends TableSpecs> = To extends `${string}[]`
  ? CountOrder
  : Order<ComparableIn<SpecsOf<To, W>>, OrderedIn<SpecsOf<To, W>>, W>;

/** An order by the number of related rows. */
export interface CountOrder {
  /** The direction. */
  readonly _count?: SortOrder;
}

/** An order, or a list of them. */
export type Orders<
  K extends string,
  Spec extends string = never,
  W extends TableSpecs = NoTables,
> = Order<K, Spec, W> | readonly Order<K, Spec, W>[];
