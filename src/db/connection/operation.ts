/**
 * Operations: each has a shape, which decides its SQL, and values, which do not. The SQL of a shape
 * is compiled once.
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

/** One call of a repository's method: built up part by part, then run. */
export class Operation {
  /** What it does, for error messages: `"update users"`. */
  readonly action: string;
  readonly #values: unknown[];
  #shape: string;

  /** Begins an operation; `name` begins its shape, which says how many values it binds already. */
  constructor(name: string, action: string, values: unknown[] = []) {
    this.#values = values;
    this.action = action;
    this.#shape = `${name};`;
  }

  /** What decides its SQL. Equal shapes have equal SQL, so each part must be unmistakable. */
  get shape(): string {
    return this.#shape;
  }

  /** The values it binds, encoded. */
  get values(): readonly unknown[] {
    return this.#values;
  }

  /** Adds to the shape a part whose SQL binds nothing. */
  add(part: string): void {
    this.#shape += part;
  }

  /** Begins a named part of the shape. The `;` keeps it apart from columns of the same name. */
  section(name: string): void {
    this.#shape += `;${name} `;
  }

  /** Adds a part and the encoded value it binds; gives the value's place. */
  bind(part: string, value: unknown): Slot {
    this.#shape += part;
    return new Slot(this.#values.push(value) - 1);
  }
}

/** What a database runs. */
export interface Statement {
  /** The SQL, with the database's placeholders. */
  readonly sql: string;
  /** What each placeholder takes: a value, or the {@linkcode Slot} of one. */
  readonly parameters: readonly unknown[];
  /** Whether it only reads. */
  readonly reads: boolean;
}

/** The statement of a shape, whose parameters are slots where an operation has values. */
export interface CompiledStatement extends Statement {
  /** Whether its parameters are the values of an operation as they are. */
  readonly isPlain: boolean;
}

/** Compiles a query, which may have slots in the place of values. */
export function compile(query: Compilable): CompiledStatement {
  const { sql, parameters, query: node } = query.compile();
  const isPlain = parameters.every((it, index) => it instanceof Slot && it.index === index);
  return { sql, parameters, reads: node.kind === "SelectQueryNode", isPlain };
}

/** Puts an operation's values in the slots of its statement. */
export function fill(
  { sql, parameters, reads, isPlain }: CompiledStatement,
  { values }: Operation,
): Statement {
  const filled = isPlain && values.length === parameters.length
    ? values
    : parameters.map((it) => it instanceof Slot ? values[it.index] : it);
  return { sql, parameters: filled, reads };
}
