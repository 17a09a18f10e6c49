/**
 * Filters of rows that few related rows lead to; what counts those is loaded when it is needed.
 *
 * @module
 */
import type { Operation } from "./operation.ts";
import type { Filter } from "./operators.ts";

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
  return await (await import("./few_or_many.ts")).narrowed(filter, operation, { isPage });
}
