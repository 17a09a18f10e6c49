/**
 * The types of pages of rows.
 *
 * @module
 */
import type { ComparableIn, NoTables, TableSpecs, TextIn } from "./column_spec.ts";
import type { Orders } from "./order.ts";
import type { FilterOptions } from "./where.ts";

/**
 * Which rows a page has. With `skip` it is a page by an offset, otherwise one by a cursor.
 */
export interface PageQuery<
  T extends string,
  Spec extends string,
  W extends TableSpecs = NoTables,
> extends FilterOptions<T, Spec, W> {
  /**
   * The order, which has columns only; the primary key breaks ties, in the direction of the last
   * column.
   */
  readonly orderBy?: Orders<ComparableIn<Spec>, TextIn<Spec>> | undefined;
  /** How many rows at most, 1 or more. */
  readonly take: number;
  /** Where the page begins: the `next` of the one before it; the first page without one. */
  readonly cursor?: string | null | undefined;
  /** How many rows to leave out first, 0 or more. */
  readonly skip?: number | undefined;
  /** Whether to count the rows on all pages; `false` by default. */
  readonly withTotal?: boolean | undefined;
}

/** A page of rows. */
export interface Page<R> {
  /** The rows. */
  readonly rows: R[];
  /**
   * The `cursor` of the next page, or its `skip` as text if this one has `skip`; `null` on the last
   * page.
   */
  readonly next: string | null;
  /** The number of rows on all pages, if it was counted. */
  readonly total?: number | undefined;
}
