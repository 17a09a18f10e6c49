/**
 * The types of conditions and of the options of finds, as plain values.
 *
 * @module
 */
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type {
  ColumnSpecs,
  ComparableIn,
  MemberIn,
  MemberSpecs,
  NameIn,
  NoTables,
  OrderedIn,
  PartsIn,
  SpecsOf,
  StoredIn,
  TableIn,
  TablesIn,
  TableSpecs,
  TextIn,
  TypeIn,
} from "./column_spec.ts";
import type { AnyModel } from "./model.ts";
import type { Order, Orders } from "./order.ts";
import type { LockOptions } from "./row_lock.ts";
import type { Condition } from "./value_condition.ts";

/**
 * A condition on the rows of a model: every member must hold. A column's member is a value to equal
 * or an object of operators. `AND: []` holds for every row, `OR: []` for none. Members that are
 * `undefined` and operators that do not apply fail at run time with a `TypeError`.
 *
 * As in SQL, `null` is neither equal nor unequal to a value: `{ name: { not: "x" } }` leaves out
 * rows without a name. Text is compared exactly and case-sensitively on every database, unless a
 * migration has given the column another collation, or `mode` is `"insensitive"`: then the ASCII
 * letters A to Z equal a to z.
 */
export type Where<M extends AnyModel> = Conditions<
  M["~model"]["table"],
  MemberSpecs<M, Record<never, never>>["all"]
>;

/** A condition that at most one row can meet: unique columns and keys, each with its value. */
export type UniqueWhere<M extends AnyModel> = UniqueConditions<ColumnSpecs<M>["unique"]>;

/** An order: columns with their directions, the first one counts most. JSON has none. */
export type OrderBy<M extends AnyModel> = Order<
  ComparableColumn<M>,
  TextIn<ColumnSpecs<M>["all"]>
>;

/** The columns whose values can be compared: all but those of JSON and arrays. */
export type ComparableColumn<M extends AnyModel> = ComparableIn<ColumnSpecs<M>["all"]>;

/** Which rows to find, in what order, and how many. */
export type FindManyOptions<M extends AnyModel> =
  & FindOptions<M["~model"]["table"], MemberSpecs<M, Record<never, never>>["all"]>
  & LockOptions;

/**
 * Conditions on the columns of a table, on related rows, and on other conditions; see
 * {@linkcode Where}. `W` are the columns and the relations of all tables.
 */
export type Conditions<
  T extends string,
  Spec extends string,
  W extends TableSpecs = NoTables,
> = {
  readonly [
    P in Spec | keyof Logic<T, Spec, W> as P extends keyof Logic<T, Spec, W> ? P : MemberIn<P>
  ]?: P extends keyof Logic<T, Spec, W> ? Logic<T, Spec, W>[P]
    : P extends `${string} -> ${infer To}` ? RelationCondition<To, W>
    : Condition<TypeIn<P>["kind"], TypeIn<P>["value"]>;
};

/** Conditions on other conditions. */
export interface Logic<T extends string, Spec extends string, W extends TableSpecs> {
  /** All of the conditions hold. */
  readonly AND: readonly PartCondition<T, Spec, W>[];
  /** At least one of the conditions holds. */
  readonly OR: readonly PartCondition<T, Spec, W>[];
  /** The condition does not hold. */
  readonly NOT: PartCondition<T, Spec, W>;
}

/** A part of a condition: another one, or an expression of Kysely. */
export type PartCondition<T extends string, Spec extends string, W extends TableSpecs> =
  | Conditions<T, Spec, W>
  | (T extends TableIn<W> ? KyselyCondition<StoredIn<T, W["of"]>, W> : never);

/**
 * A condition that Kysely's builder of expressions builds, on the columns of the table, with the
 * values of the driver. Other tables that it reads are not scoped.
 */
export interface KyselyCondition<T extends keyof TablesIn<W>, W extends TableSpecs> {
  /** Builds it. */
  (eb: ExpressionBuilder<TablesIn<W>, T>): Expression<SqlBool>;
}

/** A condition on the rows of a table, `[]` if they are many, that are related to a row. */
export type RelationCondition<To extends string, W extends TableSpecs> = To extends `${infer T}[]`
  ? ManyCondition<Conditions<T, SpecsOf<T, W>, W>>
  : OneCondition<Conditions<To, SpecsOf<To, W>, W>>;

/** The operators on the rows of a relation to many; each one given must hold. */
export interface ManyCondition<C> {
  /** At least one related row meets the condition. */
  readonly some?: C;
  /** Each related row meets the condition; so it is without related rows. */
  readonly every?: C;
  /** No related row meets the condition; with `{}`, there is no related row. */
  readonly none?: C;
}

/** A condition on the one related row; `null` if there is no such row; or operators. */
export type OneCondition<C> = (C & OneOperators<C>) | null;

/** The operators on the row of a relation to one; each one given must hold. */
export interface OneOperators<C> {
  /** There is a related row, and it meets the condition; `null` if there is no related row. */
  readonly is?: C | null;
  /** No related row meets the condition; `null` if there is a related row. */
  readonly isNot?: C | null;
}

/** Conditions on unique columns; see {@linkcode UniqueWhere}. */
export type UniqueConditions<Spec extends string, P extends Spec = Spec> = P extends unknown ?
    & { readonly [Q in P as NameIn<Q>]: UniqueValue<Q> }
    & { readonly [Q in Exclude<Spec, P> as NameIn<Q>]?: UniqueValue<Q> }
  : never;

/** Conditions on unique columns, and on the version `V` of the row; `undefined` is any version. */
// Operations name it beside `UniqueConditions`: the compiler shows a type for both by its name.
export type VersionedConditions<Spec extends string, V extends string> = [V] extends [never] ? never
  : UniqueConditions<Spec> & { readonly [P in V]?: UniqueCondition<number> | undefined };

/** The value of a unique column, or the values of the columns of a key. */
export type UniqueValue<Spec extends string> = Spec extends `${string}: (${string})`
  ? { readonly [P in PartsIn<Spec> as NameIn<P>]: UniqueCondition<TypeIn<P>["value"]> }
  : UniqueCondition<TypeIn<Spec>["value"]>;

/** The value of a unique column, bare or as `{ equals }`. */
export type UniqueCondition<V> = NonNullable<V> | { readonly equals: NonNullable<V> };

/** Which rows: those that meet a condition. */
export interface FilterOptions<
  T extends string,
  Spec extends string,
  W extends TableSpecs = NoTables,
> {
  /** The condition; every row without one. */
  readonly where?: Conditions<T, Spec, W>;
}

/** The options of a find; see {@linkcode FindManyOptions}. */
export interface FindOptions<
  T extends string,
  Spec extends string,
  W extends TableSpecs = NoTables,
> extends FilterOptions<T, Spec, W> {
  /**
   * The order; with `skip`, `take` or `distinct` the primary key breaks ties. The values of a
   * related row that does not exist are `null`.
   */
  readonly orderBy?: Orders<ComparableIn<Spec>, OrderedIn<Spec>, W> | undefined;
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
export interface StreamOptions<
  T extends string,
  Spec extends string,
  W extends TableSpecs = NoTables,
> extends Omit<FindOptions<T, Spec, W>, "orderBy" | "distinct"> {
  /** The order, which has columns only; the primary key breaks ties. */
  readonly orderBy?: Orders<ComparableIn<Spec>, TextIn<Spec>> | undefined;
  /** How many rows a statement reads, 1 or more; 1000 unless given. */
  readonly batchSize?: number | undefined;
}
