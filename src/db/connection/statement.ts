/**
 * Statements: SQL with places for values, which are filled in for each operation; and their
 * results.
 *
 * @module
 */
import { type Compilable, CompiledQuery, type QueryResult } from "kysely";

/** The place of a value in a statement. */
export class Slot {
  /** The value's index among the operation's. */
  readonly index: number;

  /** Creates the place of the value with an index. */
  constructor(index: number) {
    this.index = index;
  }
}

/** What a database runs. */
export interface Statement {
  /** The SQL, with the database's placeholders. */
  readonly sql: string;
  /** The value of each placeholder, or the {@linkcode Slot} of one. */
  readonly parameters: readonly unknown[];
  /** Whether it only reads. */
  readonly reads: boolean;
  /** The SQL that names it, if it combines several statements. */
  readonly main?: string | undefined;
}

/** A statement whose parameters are slots for the values of an operation. */
export interface CompiledStatement extends Statement {
  /** Whether its parameters are the values of an operation in their order. */
  readonly isPlain: boolean;
}

/** Compiles a query, which may have slots in the place of values. */
export function compile(query: Compilable): CompiledStatement {
  const { sql, parameters, query: node } = query.compile();
  const isPlain = parameters.every((it, index) => it instanceof Slot && it.index === index);
  return { sql, parameters, reads: node.kind === "SelectQueryNode", isPlain };
}

/** Fills the slots of a statement with values. */
export function fill(
  { sql, parameters, reads, isPlain }: CompiledStatement,
  values: readonly unknown[],
): Statement {
  const filled = isPlain && values.length === parameters.length
    ? values
    : parameters.map((it) => it instanceof Slot ? values[it.index] : it);
  return { sql, parameters: filled, reads };
}

/** A row as the driver reads it: the values in the order of the statement's columns. */
export type DriverRow = readonly unknown[];

/** The result of a statement. */
export interface StatementResult {
  /** The rows that it returned. */
  readonly rows: readonly DriverRow[];
  /** The number of rows that it wrote, or found unchanged; 0 if it only read. */
  readonly affectedRows: number;
  /** The generated key, on MySQL. */
  readonly insertId?: bigint | undefined;
}

/** What a driver returns for a statement that writes. */
interface DriverResult {
  readonly affectedRows: number;
  /** The generated key, or 0. */
  readonly insertId: number | string;
}

/** Returns the query of a statement. */
export function queryOf({ sql, parameters }: Statement): CompiledQuery {
  return CompiledQuery.raw(sql, [...parameters]);
}

/** Returns the result of a query of Kysely. */
export function resultOf(
  { rows, numAffectedRows, insertId }: QueryResult<unknown>,
): StatementResult {
  return {
    rows: rows.map((row) => Object.values(row as object)),
    affectedRows: Number(numAffectedRows ?? rows.length),
    insertId,
  };
}

/** Returns the result of one of several statements: its rows, or what the driver returns. */
export function partOf(part: readonly unknown[], { reads }: Statement): StatementResult {
  if (reads) return resultOf({ rows: [...part] });
  const [{ affectedRows, insertId }] = part as readonly [DriverResult];
  return { rows: [], affectedRows, insertId: insertId ? BigInt(insertId) : undefined };
}
