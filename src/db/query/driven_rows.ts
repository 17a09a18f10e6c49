/**
 * Reads rows that few related rows lead to; what counts those is loaded when it is needed.
 *
 * @module
 */
import type { Compilable } from "kysely";
import { isBounded } from "./find_options.ts";
import type { Operation } from "./operation.ts";
import type { Filter } from "./operators.ts";
import { readRows, type RowsOptions } from "./rows_query.ts";
import { lazy } from "../../platform/lazy.ts";

const fewOrMany = lazy(() => import("./few_or_many.ts"));

/**
 * Returns the filter of rows that are found from related ones, where few meet a condition and the
 * database might check it for each row; otherwise the same filter. A page does not need all rows.
 */
export async function drivenFilter(
  filter: Filter,
  operation: Operation,
  { isPage = false }: { readonly isPage?: boolean } = {},
): Promise<Filter> {
  const { isDriven, table: { connection: { grammar } } } = operation;
  if (!isDriven || !(isPage || grammar.checksEach)) return filter;
  return await (await fewOrMany()).narrowed(filter, operation, { isPage });
}

/**
 * Reads the options of rows, as `readRows` does, of which few related rows may lead to those that
 * meet a condition.
 *
 * @throws {TypeError} if they name an unknown column
 * @throws {RangeError} if `take` or `skip` is not a whole number of 0 or more
 */
export function readDriven(
  options: RowsOptions,
  operation: Operation,
): (() => Compilable) | Promise<() => Compilable> {
  return operation.isDriven ? readFewOrAll(options, operation) : readRows(options, operation);
}

async function readFewOrAll(
  options: RowsOptions,
  operation: Operation,
): Promise<() => Compilable> {
  if (isBounded(options) && !options.locked && options.distinct === undefined) {
    return await (await fewOrMany()).readFewOrMany(options, operation);
  }
  return readRows({ ...options, filter: await drivenFilter(options.filter, operation) }, operation);
}
