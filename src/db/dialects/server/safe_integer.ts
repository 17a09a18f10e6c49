/**
 * Whole numbers within ±(2^53 - 1), in columns that hold 64 bits.
 *
 * @module
 */
import { type Expression, sql } from "kysely";

const MAX = sql.lit(Number.MAX_SAFE_INTEGER);
const MIN = sql.lit(Number.MIN_SAFE_INTEGER);
const MAX_INT64 = sql.raw("9223372036854775807");

/**
 * Returns a value that overflows where it is beyond the numbers of JavaScript. `toInt64` casts to
 * the 64 bits that overflow, whatever the column is.
 */
export function safeInteger(
  value: Expression<unknown>,
  toInt64: (value: Expression<unknown>) => Expression<unknown>,
): Expression<unknown> {
  return sql`case when ${value} not between ${MIN} and ${MAX}
    then ${MAX_INT64} + abs(${toInt64(value)}) else ${value} end`;
}
