/**
 * The SQL of a database brand; see `dialects/`.
 *
 * @module
 */
import type {
  ColumnDataType,
  ColumnDefinitionBuilder,
  Expression,
  KyselyPlugin,
  RawBuilder,
  SqlBool,
} from "kysely";
import type { DbFailure } from "../errors.ts";
import type { FieldKind } from "../model/field_kind.ts";
import type { AnyField } from "../model/model.ts";
import type { ReadLock } from "../model/row_lock.ts";
import type { IsolationLevel } from "../transaction/transaction.ts";
import type { Slot } from "./statement.ts";

/** Where one text must occur in another. */
export type TextMatch = "contains" | "startsWith" | "endsWith";

/** How the values of a kind are encoded for the driver and decoded from it; neither sees `null`. */
export interface Codec {
  /** Encodes a valid value for the driver. */
  readonly encode: (value: unknown, field: AnyField) => unknown;
  /** Decodes a value that the driver read; throws a `RangeError` with the reason if it cannot. */
  readonly decode: (raw: unknown, field: AnyField) => unknown;
}

/** An increment or a decrement of a column. */
export interface ColumnChange {
  /** The column. */
  readonly column: Expression<unknown>;
  /** Its new value. */
  readonly value: Expression<unknown>;
  /** The operation whose first operand is the column. */
  readonly operator: "+" | "-";
}

/** The operators of lists. */
export type ListOperator = "in" | "not in";

/** How a list is bound as one value: its SQL is the same for any length, which has no limit. */
export interface ListGrammar {
  /** The length from which lists are bound so; shorter ones are bound value by value. */
  readonly minLength: number;

  /** The kinds whose lists are always bound value by value. */
  readonly unlisted: readonly FieldKind[];

  /** Encodes a list of valid values for the driver. */
  encode(values: readonly unknown[], field: AnyField): unknown;

  /** Returns the condition that the value of a column is, or is not, in a list. */
  matches(column: Expression<unknown>, list: Slot, options: ListOptions): Expression<SqlBool>;
}

/** The functions of the values of a column in many rows. */
export type ValueAggregate = "sum" | "avg" | "min" | "max";

/** How a column is compared with a list. */
export interface ListOptions {
  /** The operator. */
  readonly operator: ListOperator;
  /** The kind of the column. */
  readonly kind: FieldKind;
}

/** An encoded value of a column, or `null`. */
export interface Cell {
  /** The name of the column. */
  readonly name: string;
  /** The field of the column. */
  readonly field: AnyField;
  /** The value. */
  readonly value: unknown;
}

/** Builds a condition on a text. */
export type TextCondition = (text: Expression<unknown>) => Expression<SqlBool>;

/** How many rows are bound as one value. */
export interface RecordsGrammar {
  /** The most characters of a value that has several rows. */
  readonly maxLength: number;

  /** Returns a row as a part of the value, and its length in characters. */
  encode(row: readonly Cell[]): { readonly record: unknown; readonly length: number };

  /** Returns the value that has these rows. */
  join(records: readonly unknown[]): unknown;

  /** Returns what follows the columns of the insertion into a table. */
  source(table: string, names: readonly string[], records: Slot): RawBuilder<unknown>;
}

/** The SQL of arrays, which is `null` of a column that is `null`. */
export interface ArrayGrammar {
  /** Whether it is the same list as another. */
  equals(column: Expression<unknown>, list: Slot): Expression<SqlBool>;

  /** Whether it has each element of a list. */
  hasEvery(column: Expression<unknown>, list: Slot, field: AnyField): Expression<SqlBool>;

  /** Whether it has an element of a list. Missing where it is several conditions, joined by OR. */
  hasSome?(column: Expression<unknown>, list: Slot): Expression<SqlBool>;

  /** How many elements it has. */
  length(column: Expression<unknown>): Expression<number>;

  /** Returns the list with the elements of another at its end; `null` counts as empty. */
  push(column: Expression<unknown>, list: Slot): Expression<unknown>;
}

/** The kinds of values of JSON. */
export type JsonKind = "null" | "boolean" | "number" | "string" | "array";

/** The SQL of a value of JSON. */
export interface JsonParts {
  /** The name of its type; `null` if there is no value. */
  readonly type: Expression<unknown>;
  /** The value, if it is a number. */
  readonly number: Expression<unknown>;
  /** The value, if it is a string. */
  readonly text: Expression<unknown>;
  /** Whether it is `true`, if it is a boolean. */
  readonly isTrue: Expression<SqlBool>;
  /** Whether an element meets a condition, if it is an array. */
  readonly has: (test: (element: JsonParts) => Expression<SqlBool>) => Expression<SqlBool>;
}

/** Builds a condition on the value at a path in a column; without a value, it is not true. */
export type JsonLocation = (
  column: Expression<unknown>,
  test: (value: JsonParts) => Expression<SqlBool>,
) => Expression<SqlBool>;

/** The SQL of values in JSON. */
export interface JsonGrammar {
  /** The names of the types of each kind. */
  readonly kinds: Readonly<Record<JsonKind, readonly string[]>>;

  /** Binds the steps of a path: names of members, and indexes of elements. */
  locate(
    path: readonly (string | number)[],
    bind: (step: string | number) => Slot,
  ): JsonLocation;

  /** Returns the operand of a comparison with a number. */
  number(slot: Slot): Expression<unknown>;

  /** Returns the operand of a comparison with a string. */
  text(slot: Slot): Expression<unknown>;
}

/** The SQL of a brand, and the codecs of its drivers. */
export interface Grammar {
  /** The name of the database in telemetry: `db.system.name` of OpenTelemetry. */
  readonly system: "postgresql" | "mysql" | "mariadb" | "sqlite";

  /** Which database it is. */
  readonly brand: "PostgreSQL" | "SQLite" | "MySQL";

  /** The codec of each kind. */
  readonly codecs: Readonly<Record<FieldKind, Codec>>;

  /** Whether a statement that writes rows can return them. */
  readonly returning: boolean;

  /**
   * Where a statement that writes cannot read its table in a subquery: changes the query that finds
   * the rows before.
   */
  readonly targetQuery?: KyselyPlugin;

  /** The default isolation level of the servers. */
  readonly defaultIsolation: IsolationLevel;

  /** Checks whether a failed statement makes its transaction impossible to commit. */
  dooms(failure: DbFailure): boolean;

  /** Whether `null` comes last in an ascending order. */
  readonly nullsLast: boolean;

  /** Whether an index finds the rows for `(a, b) > (?, ?)`, not `a > ? or (a = ? and b > ?)`. */
  readonly comparesRows: boolean;

  /**
   * Whether each index ends with a primary key of integers by itself: as one of its columns, the
   * key would not find the rows for `(a, b) > (?, ?)`.
   */
  readonly endsWithKey: boolean;

  /**
   * Whether a planner that finds rows by the equal columns of an index may check the columns after
   * them row by row: it does not, where the former are ranges.
   */
  readonly stopsAtEqual: boolean;

  /** Whether a prepared statement is planned again at each run if its limit is a parameter. */
  readonly plansByLimit: boolean;

  /** The maximum number of values that a statement can bind. */
  readonly maxParameters: number;

  /**
   * How the first rows of each of several groups are read: by LATERAL, by a subquery with LIMIT in
   * IN, or by a query for each that are united.
   */
  readonly firstOfEach: "lateral" | "correlated" | "union";

  /**
   * Returns the condition that a column has one of the values of a query, from which the database
   * finds the rows by an index. Missing on MySQL, whose optimizer chooses the way itself.
   */
  among?(column: Expression<unknown>, values: Expression<unknown>): Expression<SqlBool>;

  /** Whether it checks a condition on related rows for each row, also where few meet it. */
  readonly checksEach?: true;

  /**
   * Whether it joins the related rows of several conditions before it removes the duplicates: three
   * conditions that 100 rows meet would make a million of one row. Only the first is joined then.
   */
  readonly multipliesJoined?: boolean;

  /** How long lists are bound. */
  readonly list: ListGrammar;

  /** The SQL of arrays. */
  readonly arrays: ArrayGrammar;

  /** The SQL of values in JSON. */
  readonly json: JsonGrammar;

  /** How many rows are bound as one value, if they can be. */
  readonly records?: RecordsGrammar;

  /** `false` without transactions: rows that are created together must be one statement. */
  readonly hasTransactions?: false;

  /** The options after the columns in a table's definition. */
  readonly tableOptions?: Expression<unknown>;

  /** Returns the type of a field's column; an indexed one may need another type. */
  columnType(field: AnyField, isIndexed: boolean): ColumnDataType | Expression<unknown>;

  /**
   * The most characters of text in an indexed column, if there is a limit: the server may cut white
   * space at the end of longer text without an error.
   */
  readonly maxIndexedText?: number;

  /** Adds the generation of values to a column's definition. */
  generated(definition: ColumnDefinitionBuilder): ColumnDefinitionBuilder;

  /** Returns an encoded value as a literal for the definition of a table. */
  literal(encoded: unknown, field: AnyField): unknown;

  /** Returns what finds a part of texts, case-sensitively; `bind` binds a value that it needs. */
  matching(match: TextMatch, part: string, bind: (value: string) => Slot): TextCondition;

  /**
   * Returns text with the letters A to Z in lower case, all others unchanged, compared and ordered
   * by code point, regardless of the collation of its column.
   */
  lower(text: Expression<unknown>): RawBuilder<string>;

  /**
   * Compares a column of text with a value exactly, regardless of what its collation ignores,
   * such as case; by an index, if the type of the column is one of text. If it {@linkcode
   * Grammar.stopsAtEqual}, the index may find the value as a range.
   */
  exactly(
    column: Expression<unknown>,
    value: Slot,
    options: { readonly isRange: boolean },
  ): Expression<SqlBool>;

  /**
   * Returns the statement that moves generated keys past a key that was given, if the database does
   * not do so itself.
   */
  passKey?(table: string, column: string, key: bigint): string;

  /** Returns the expression that reads a column, if the driver could misread its value. */
  read?(column: Expression<unknown>, field: AnyField): RawBuilder<unknown> | undefined;

  /** Returns the operand of a comparison, if it is more than a placeholder. */
  operand?(slot: Slot, field: AnyField): Expression<unknown> | undefined;

  /**
   * Returns a change of a column in an expression that fails if the field cannot have the value;
   * the change itself if the database refuses it anyway.
   */
  checked(change: ColumnChange, field: AnyField): Expression<unknown>;

  /**
   * Returns the function of the values of a column. A sum of whole numbers and decimals is exact;
   * an average of them is the nearest double of the sum, divided by the count. An overflow fails.
   */
  aggregate(
    name: ValueAggregate,
    column: Expression<unknown>,
    field: AnyField,
  ): RawBuilder<unknown>;

  /** Returns the end of a query that locks its rows; SQLite has no locks of rows. */
  locking?(lock: ReadLock): string;

  /** The codecs of sums, where they differ from those of columns. */
  readonly sums?: Partial<Grammar["codecs"]>;

  /** Explains a driver's error. */
  explain(error: unknown): DbFailure;
}
