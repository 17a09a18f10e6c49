/**
 * What the data layer asks of a database brand; see `dialects/`.
 *
 * @module
 */
import type {
  ColumnDataType,
  ColumnDefinitionBuilder,
  Dialect as KyselyDialect,
  Driver,
  Expression,
  Kysely,
  RawBuilder,
  SqlBool,
} from "kysely";
import type { Slot, Statement } from "./statement.ts";
import type { DbFailure } from "../errors.ts";
import type { FieldKind } from "../model/field_kind.ts";
import type { AnyField } from "../model/model.ts";
import type { IsolationLevel } from "../transaction/transaction.ts";

/** Tables whose names and columns are known at run time only. */
export type AnyTables = Record<string, Record<string, unknown>>;

/** Where in a text to look for another. */
export type TextMatch = "contains" | "startsWith" | "endsWith";

/** A row as the driver reads it: the values in the order that the statement names their columns. */
export type DriverRow = readonly unknown[];

/** What a statement did. */
export interface StatementResult {
  /** The rows it gave. */
  readonly rows: readonly DriverRow[];
  /** How many rows it wrote, or found and left as they were; 0 if it only read. */
  readonly affectedRows: number;
  /** The key that the database generated; MySQL has no other way to tell. */
  readonly insertId?: bigint | undefined;
}

/** How the values of a kind are encoded for the driver and decoded from it; neither sees `null`. */
export interface Codec {
  /** Turns a sound value into what the driver takes. */
  readonly encode: (value: unknown, field: AnyField) => unknown;
  /** Turns what the driver read into the value. */
  readonly decode: (raw: unknown, field: AnyField) => unknown;
}

/** The SQL of a brand, and what its drivers read and take. */
export interface Grammar {
  /** Which database it is. */
  readonly brand: "PostgreSQL" | "SQLite" | "MySQL";

  /** The codec of each kind. */
  readonly codecs: Readonly<Record<FieldKind, Codec>>;

  /** Whether a statement that writes rows can give them. */
  readonly returning: boolean;

  /** The isolation of a transaction that asks for none, as servers have it. */
  readonly defaultIsolation: IsolationLevel;

  /** Tells whether a failed statement dooms the transaction that it was part of. */
  dooms(failure: DbFailure): boolean;

  /** Whether `null` comes last in an ascending order. */
  readonly nullsLast: boolean;

  /** How many values a statement can bind. */
  readonly maxParameters: number;

  /** What ends the definition of a table. */
  readonly tableOptions?: Expression<unknown>;

  /** Gives the type of a field's column; one that is indexed may need another. */
  columnType(field: AnyField, isIndexed: boolean): ColumnDataType | Expression<unknown>;

  /** Makes a column's values be generated. */
  generated(definition: ColumnDefinitionBuilder): ColumnDefinitionBuilder;

  /** Says an encoded value in the definition of a table. */
  literal(encoded: unknown, field: AnyField): unknown;

  /** Gives the pattern that {@linkcode Grammar.matches} finds a text with. */
  pattern(match: TextMatch, text: string): string;

  /** Compares a column with a pattern, with case. */
  matches(match: TextMatch, column: Expression<unknown>, pattern: Slot): Expression<SqlBool>;

  /** Says that a generated key comes after one that was given, if the database does not see to it. */
  passKey?(table: string, column: string, key: Slot): RawBuilder<unknown>;

  /** Says a value that a column is compared with, if its placeholder alone would not do. */
  operand?(slot: Slot, field: AnyField): Expression<unknown> | undefined;

  /** Says what a driver's error means. */
  explain(error: unknown): DbFailure;
}

/** An open database. */
export interface Dialect {
  /** The brand's SQL. */
  readonly grammar: Grammar;

  /** Kysely's half: its grammar and the driver. */
  readonly kysely: KyselyDialect;

  /** How many connections there are at most, if the dialect decides. */
  readonly poolMax?: number;

  /** Whether an open transaction keeps out everyone else who writes. */
  readonly transactionsLock?: boolean;

  /**
   * Runs a statement at once, inside the open transaction if it belongs there. Gives `undefined` if it
   * does not, and would disturb what is under way: then it waits its turn.
   */
  runNow?(statement: Statement, inTransaction: boolean): StatementResult | undefined;

  /** Runs a statement on a connection of its choice, faster than through Kysely. */
  runFree?(statement: Statement): Promise<StatementResult>;

  /** Tells whether a transaction that was begun is still open, if the database can say so. */
  isTransactionOpen?(): boolean | undefined;

  /** Runs a script of several statements on the connection of a Kysely. */
  runScript?(script: string, kysely: Kysely<AnyTables>): Promise<void>;

  /** Closes the database, unless it is closed. */
  close?(): void | Promise<void>;
}

/** Returns a Kysely dialect that differs from another one in its driver only. */
export function withDriver(dialect: KyselyDialect, createDriver: () => Driver): KyselyDialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver,
    createIntrospector: (kysely) => dialect.createIntrospector(kysely),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}
