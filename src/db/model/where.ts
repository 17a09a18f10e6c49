/**
 * The types of conditions and orders, as plain values.
 *
 * @module
 */
import type { ColumnSpecs, ComparableIn, NameIn, TypeIn } from "./column_spec.ts";
import type { FieldKind } from "./field_kind.ts";
import type { AnyModel, SortOrder } from "./model.ts";

/**
 * A condition on the rows of a model: every member must hold. A column's member is a value to equal
 * or an object of operators. `AND: []` holds for every row, `OR: []` for none. Members that are
 * `undefined` and operators that do not apply fail at run time with a `TypeError`.
 *
 * As in SQL, `null` is neither equal nor unequal to a value: `{ name: { not: "x" } }` leaves out
 * rows without a name. Text is compared exactly and case-sensitively on every database.
 */
export type Where<M extends AnyModel> = Conditions<ColumnSpecs<M>["all"]>;

/** A condition that at most one row can meet: unique columns, each with its value. */
export type UniqueWhere<M extends AnyModel> = UniqueConditions<ColumnSpecs<M>["unique"]>;

/** An order: columns with their directions, the first one counts most. JSON has none. */
export type OrderBy<M extends AnyModel> = Order<ComparableColumn<M>>;

/** The columns whose values can be compared: all but those of JSON. */
export type ComparableColumn<M extends AnyModel> = ComparableIn<ColumnSpecs<M>["all"]>;

/** Which rows to find, in what order, and how many. */
export type FindManyOptions<M extends AnyModel> = FindOptions<ColumnSpecs<M>["all"]>;

/** Conditions on columns, and on other conditions; see {@linkcode Where}. */
export type Conditions<Spec extends string> = {
  readonly [P in Spec | keyof Logic<Spec> as P extends keyof Logic<Spec> ? P : NameIn<P>]?:
    P extends keyof Logic<Spec> ? Logic<Spec>[P] : Condition<TypeIn<P>["kind"], TypeIn<P>["value"]>;
};

/** Conditions on other conditions. */
export interface Logic<Spec extends string> {
  /** All of the conditions hold. */
  readonly AND: readonly Conditions<Spec>[];
  /** At least one of the conditions holds. */
  readonly OR: readonly Conditions<Spec>[];
  /** The condition does not hold. */
  readonly NOT: Conditions<Spec>;
}

/** Conditions on unique columns; see {@linkcode UniqueWhere}. */
export type UniqueConditions<Spec extends string, P extends Spec = Spec> = P extends unknown ?
    & { readonly [Q in P as NameIn<Q>]: UniqueCondition<TypeIn<Q>["value"]> }
    & { readonly [Q in Exclude<Spec, P> as NameIn<Q>]?: UniqueCondition<TypeIn<Q>["value"]> }
  : never;

/** The value of a unique column, bare or as `{ equals }`. */
export type UniqueCondition<V> = NonNullable<V> | { readonly equals: NonNullable<V> };

/** The directions of columns. */
export type Order<K extends string> = { readonly [P in K]?: SortOrder };

/** The directions of columns, or a list of them. */
export type Orders<K extends string> = Order<K> | readonly Order<K>[];

/**
 * A condition on a column of a kind: a value to equal, or operators. A JSON column takes no value.
 */
export type Condition<K extends FieldKind, V> =
  | (K extends "json" ? Extract<V, null> : V)
  | Operators<K, V>;

/** The operators on a column of a kind that holds `V`; each one given must hold. */
export type Operators<K extends FieldKind, V> = K extends "json" ? NullOperators<V>
  :
    & EqualityOperators<V>
    & (K extends "boolean" | "blob" | "enum" ? unknown : OrderOperators<NonNullable<V>>)
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
  /** Is one of the values; an empty list matches no row. */
  readonly in?: readonly NonNullable<V>[];
  /** Is not among the values; an empty list matches every row. */
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
  /** Contains the text. */
  readonly contains?: string;
  /** Begins with the text. */
  readonly startsWith?: string;
  /** Ends with the text. */
  readonly endsWith?: string;
}

/** The options of a find; see {@linkcode FindManyOptions}. */
export interface FindOptions<Spec extends string> {
  /** The condition; every row without one. */
  readonly where?: Conditions<Spec>;
  /** The order; with `skip`, `take` or `distinct` the primary key breaks ties. */
  readonly orderBy?: Orders<ComparableIn<Spec>> | undefined;
  /** How many rows at most, 0 or more. */
  readonly take?: number | undefined;
  /** How many rows to leave out first, 0 or more. */
  readonly skip?: number | undefined;
  /**
   * Columns: of the rows that are equal in all of them, only the first by the order is found,
   * before `skip` and `take` count. `null` is equal to `null` here.
   */
  readonly distinct?: readonly ComparableIn<Spec>[] | undefined;
}

/** The options of a stream: those of a find, and how many rows a statement reads. */
export interface StreamOptions<Spec extends string> extends Omit<FindOptions<Spec>, "distinct"> {
  /** How many rows a statement reads, 1 or more; 1000 unless given. */
  readonly batchSize?: number | undefined;
}
