/**
 * The types of conditions and orders, as plain values.
 *
 * @module
 */
import type { FieldKind } from "./field_kind.ts";
import type { AnyModel, SortOrder } from "./model.ts";
import type { ColumnName, ColumnValue, KindOf, UniqueColumn } from "./row.ts";

/**
 * A condition on the rows of a model: every member must hold. A column's member is a value to equal
 * or an object of operators. `AND: []` holds for every row, `OR: []` for none. Members that are
 * `undefined` and operators without a meaning are refused at run time with a `TypeError`.
 *
 * As in SQL, `null` is neither equal nor unequal to a value: `{ name: { not: "x" } }` leaves out
 * rows without a name. Text is compared exactly, with case, on every database.
 */
export type Where<M extends AnyModel> =
  & { readonly [K in ColumnName<M>]?: Condition<KindOf<M, K>, ColumnValue<M, K>> }
  & {
    /** All of the conditions hold. */
    readonly AND?: readonly Where<M>[];
    /** At least one of the conditions holds. */
    readonly OR?: readonly Where<M>[];
    /** The condition does not hold. */
    readonly NOT?: Where<M>;
  };

/** A condition that at most one row can meet: unique columns, each with its value. */
export type UniqueWhere<M extends AnyModel> = {
  [K in UniqueColumn<M>]:
    & { readonly [Required in K]: UniqueCondition<M, K> }
    & { readonly [Other in Exclude<UniqueColumn<M>, K>]?: UniqueCondition<M, Other> };
}[UniqueColumn<M>];

/** The value of a unique column, bare or as `{ equals }`. */
export type UniqueCondition<M extends AnyModel, K extends ColumnName<M>> =
  | NonNullable<ColumnValue<M, K>>
  | { readonly equals: NonNullable<ColumnValue<M, K>> };

/** A condition on a column of a kind: a value to equal, or operators. A JSON column takes no value. */
export type Condition<K extends FieldKind, V> =
  | (K extends "json" ? Extract<V, null> : V)
  | Operators<K, V>;

/** The operators on a column of a kind that holds `V`; each one given must hold. */
export type Operators<K extends FieldKind, V> = K extends "json" ? NullOperators<V>
  :
    & EqualityOperators<V>
    & (K extends "boolean" | "blob" ? unknown : OrderOperators<NonNullable<V>>)
    & (K extends "text" ? TextOperators : unknown);

/** The operators on a JSON column. */
export interface NullOperators<V> {
  /** `null` means IS NULL. */
  readonly equals?: Extract<V, null>;
  /** `null` means IS NOT NULL. */
  readonly not?: Extract<V, null>;
  /** Whether it is `null`. */
  readonly isNull?: boolean;
}

/** The operators on every column but those of JSON. */
export interface EqualityOperators<V> {
  /** Is the value; `null` means IS NULL. */
  readonly equals?: V;
  /** Is another value; `null` means IS NOT NULL. */
  readonly not?: V;
  /** Is one of the values; never of an empty list. */
  readonly in?: readonly NonNullable<V>[];
  /** Is none of the values; always of an empty list. */
  readonly notIn?: readonly NonNullable<V>[];
  /** Whether it is `null`. */
  readonly isNull?: boolean;
}

/** The operators on numbers, text, timestamps and UUIDs. */
export interface OrderOperators<V> {
  /** Is less. */
  readonly lt?: V;
  /** Is less or equal. */
  readonly lte?: V;
  /** Is greater. */
  readonly gt?: V;
  /** Is greater or equal. */
  readonly gte?: V;
}

/** The operators on text. They have no wildcards: `%`, `_`, `*` and `?` stand for themselves. */
export interface TextOperators {
  /** Holds the text. */
  readonly contains?: string;
  /** Begins with the text. */
  readonly startsWith?: string;
  /** Ends with the text. */
  readonly endsWith?: string;
}

/** An order: columns with their directions, the first one counts most. JSON has none. */
export type OrderBy<M extends AnyModel> = {
  readonly [K in ColumnName<M> as KindOf<M, K> extends "json" ? never : K]?: SortOrder;
};

/** The columns whose values can be told apart: all but those of JSON. */
export type ComparableColumn<M extends AnyModel> = {
  [K in ColumnName<M>]: KindOf<M, K> extends "json" ? never : K;
}[ColumnName<M>];

/** Which rows to find, in what order, and how many. */
export interface FindManyOptions<M extends AnyModel> {
  /** The condition; every row without one. */
  readonly where?: Where<M> | undefined;
  /** The order; with `skip`, `take` or `distinct` the primary key breaks ties. */
  readonly orderBy?: OrderBy<M> | readonly OrderBy<M>[] | undefined;
  /** How many rows at most, 0 or more. */
  readonly take?: number | undefined;
  /** How many rows to leave out first, 0 or more. */
  readonly skip?: number | undefined;
  /**
   * Columns: of the rows that are equal in all of them, only the first by the order is found, before
   * `skip` and `take` count. `null` is equal to `null` here.
   */
  readonly distinct?: readonly ComparableColumn<M>[] | undefined;
}
