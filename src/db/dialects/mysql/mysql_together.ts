/**
 * Statements that are sent together, and their answers.
 *
 * @module
 */
import type { TogetherOptions } from "../../connection/dialect.ts";
import type { Statement } from "../../connection/statement.ts";
import { lengthOf } from "./mysql.ts";

/** The most characters that statements run together may have: they are not prepared. */
const MAX_TOGETHER = 2 ** 16;

/** The values of several statements, which makes their SQL run as such. */
export class JointValues {
  /** The values. */
  readonly values: readonly unknown[];
  readonly #isWhole: boolean;

  /** Joins values; `isWhole` if a transaction is around the statements. */
  constructor(values: readonly unknown[], isWhole: boolean) {
    this.values = values;
    this.#isWhole = isWhole;
  }

  /** Returns the result of each statement. */
  resultsOf(answers: readonly unknown[]): readonly unknown[] {
    const results = answers.map((it) => Array.isArray(it) ? it : [it]);
    return this.#isWhole ? results.slice(1, -1) : results;
  }
}

/** Combines statements, whose values are written into their SQL. */
export function together(
  statements: readonly Statement[],
  { isWhole }: TogetherOptions,
): Statement | undefined {
  const values = statements.flatMap(({ parameters }) => parameters);
  const length = values.reduce<number>((sum, value) => sum + lengthOf(value), 0);
  if (length > MAX_TOGETHER) return undefined;
  const parts = statements.map(({ sql }) => sql);
  return {
    sql: (isWhole ? ["start transaction", ...parts, "commit"] : parts).join("; "),
    parameters: [new JointValues(values, isWhole)],
    reads: false,
  };
}
