/**
 * Statements that begin or end a transaction.
 *
 * @module
 */

/** White space and comments before a statement; MySQL executes those that begin with `/*!`. */
const BEFORE = String.raw`^(?:\s|--[^\n]*\n|#[^\n]*\n|\/\*(?![!M])[^]*?\*\/)*`;

/** Returns the pattern of statements that begin so, comments aside. */
export function beginning(pattern: RegExp): RegExp {
  return new RegExp(BEFORE + pattern.source, "i");
}

/**
 * Statements that begin or end a transaction; ROLLBACK TO only returns to a savepoint. What they
 * leave open may be another one, which no server reports.
 */
export const CONTROL = beginning(
  /(begin(?!\s+not\b)|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b))(?![\w$])/,
);
