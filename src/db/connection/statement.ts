/**
 * Statements: SQL with places for values, which are filled in for each operation.
 *
 * @module
 */
import type { Compilable } from "kysely";

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
