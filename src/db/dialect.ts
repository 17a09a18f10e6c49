/**
 * What the data layer asks of a database brand; see `dialects/`.
 *
 * @module
 */
import type { ColumnDataType, Dialect as KyselyDialect, Expression, SqlBool } from "kysely";
import type { DbFailure } from "./errors.ts";
import type { FieldKind } from "./field_kind.ts";

/** Where in a text to look for another. */
export type TextMatch = "contains" | "startsWith" | "endsWith";

/** A row as the driver reads it: the values in the order that the statement names their columns. */
export type DriverRow = readonly unknown[];

/** How the values of a kind travel; neither sees `null`. */
export interface Codec {
  /** Turns a sound value into what the driver takes. */
  readonly encode: (value: unknown) => unknown;
  /** Turns what the driver read into the value. */
  readonly decode: (raw: unknown) => unknown;
}

/** An open database of one brand. */
export interface Dialect {
  /** Kysely's half: the grammar and the driver. */
  readonly kysely: KyselyDialect;

  /** The codec of each kind. */
  readonly codecs: Readonly<Record<FieldKind, Codec>>;

  /** The column type of each kind. */
  readonly columnTypes: Readonly<Record<FieldKind, ColumnDataType>>;

  /** What ends the definition of a table. */
  readonly tableOptions: Expression<unknown>;

  /** Gives the pattern that {@linkcode Dialect.matches} finds a text with, its wildcards escaped. */
  pattern(match: TextMatch, text: string): string;

  /** Compares a column with a pattern, with case. */
  matches(column: Expression<unknown>, pattern: unknown): Expression<SqlBool>;

  /** Says what a driver's error means. */
  explain(error: unknown): DbFailure;

  /**
   * Runs a statement at once if nothing can be under way that it would disturb; else gives
   * `undefined`, and the statement waits its turn in Kysely's queue.
   */
  runNow?(sql: string, parameters: readonly unknown[]): readonly DriverRow[] | undefined;

  /** Closes the database, unless it is closed. */
  close(): void | Promise<void>;
}
