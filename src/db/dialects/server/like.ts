/**
 * Text matching with LIKE.
 *
 * @module
 */
import { type Expression, sql, type SqlBool } from "kysely";
import type { TextMatch } from "../../connection/grammar.ts";
import type { Slot } from "../../connection/statement.ts";

/** Returns the pattern of a literal text, whose wildcards are escaped. */
export function likePattern(match: TextMatch, text: string): string {
  const literal = text.replace(/[%_!]/g, "!$&");
  return `${match === "startsWith" ? "" : "%"}${literal}${match === "endsWith" ? "" : "%"}`;
}

/**
 * Compares a column with a pattern. The escape is not a backslash, which MySQL treats specially.
 */
export function like(column: Expression<unknown>, pattern: Slot): Expression<SqlBool> {
  return sql<SqlBool>`${column} like ${pattern} escape '!'`;
}
