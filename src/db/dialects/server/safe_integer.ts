/**
 * Whole numbers within ±(2^53 - 1), in columns that hold 64 bits.
 *
 * @module
 */
import { type Expression, sql } from "kysely";
import type { ColumnChange } from "../../connection/dialect.ts";
import type { AnyField } from "../../model/model.ts";

const MAX = sql.lit(Number.MAX_SAFE_INTEGER);
const MIN = sql.lit(Number.MIN_SAFE_INTEGER);
const MAX_INT64 = sql.raw("9223372036854775807");

/**
 * Returns a change that overflows where it is beyond the numbers of JavaScript. Servers refuse what
 * columns of the other kinds cannot hold.
 */
export function safeInteger({ value }: ColumnChange, { kind }: AnyField): Expression<unknown> {
  if (kind !== "integer") return value;
  return sql`case when ${value} not between ${MIN} and ${MAX}
    then ${MAX_INT64} + abs(${value}) else ${value} end`;
}
