/**
 * Reads pages of rows, by a cursor or by an offset.
 *
 * @module
 */
import { checkOptions } from "../../model/plain_object.ts";
import { givenFilters } from "../condition.ts";
import { Cursors } from "./cursor.ts";
import { checkBounds, dropUnselected, readOrder } from "../find_options.ts";
import { afterFilter, checkBeyond, keysetOf, withKeyset } from "./keyset.ts";
import { orderAfter } from "./order_after.ts";
import type { Operation } from "../operation.ts";
import type { ReadBatch } from "./row_stream.ts";
import type { AnyRow } from "../table_column.ts";

/** The members of a query of a page; their types are checked where they are read. */
export interface GivenPage {
  /** The condition. */
  readonly where?: unknown;
  /** The order. */
  readonly orderBy?: unknown;
  /** How many rows at most. */
  readonly take?: number;
  /** Where the page begins: the `next` of the one before it. */
  readonly cursor?: unknown;
  /** How many rows to leave out first, of a page by an offset. */
  readonly skip?: number | undefined;
  /** Whether to count all rows. */
  readonly withTotal?: boolean | undefined;
}

/** How a page is read. */
export interface PageReading {
  /** The options of the call beside the query. */
  readonly options: { readonly select?: unknown; readonly where?: unknown };
  /** Reads the rows that meet the options. */
  readonly read: ReadBatch;
  /** Counts rows. */
  readonly count: (options: { readonly where?: unknown }) => Promise<number>;
}

/** Rows, and what comes after them. */
export interface RowPage {
  /** The rows. */
  readonly rows: readonly AnyRow[];
  /** The cursor or the offset of the next page; `null` on the last page. */
  readonly next: string | null;
  /** The number of rows on all pages. */
  readonly total?: number;
}

const MEMBERS = ["where", "orderBy", "take", "cursor", "skip", "withTotal"];

/**
 * Reads a page, and one more row, which shows whether there is another page.
 *
 * @throws {TypeError} if the query has an unknown member or column, or both a cursor and an offset
 * @throws {RangeError} if `take` is not a whole number of 1 or more, or `skip` of 0 or more
 * @throws {DbError} `InvalidCursor` if the cursor is invalid, or that of another query
 */
export async function readRowPage(
  query: GivenPage,
  { options, read, count }: PageReading,
  operation: Operation,
): Promise<RowPage> {
  const { action } = operation;
  checkOptions(query, MEMBERS, { action, subject: "a page" });
  const { take = NaN, skip, withTotal = false } = query;
  const cursor = query.cursor ?? undefined;
  if (!(Number.isSafeInteger(take) && take > 0)) {
    throw new RangeError(`Cannot ${action}: take is not a whole number of 1 or more`);
  }
  if (cursor !== undefined && skip !== undefined) {
    throw new TypeError(`Cannot ${action}: a page has a cursor or skip, not both`);
  }
  const { select } = options;
  const page = skip === undefined
    ? await pageByCursor({ ...query, take, cursor }, { options, read }, operation)
    : await pageByOffset({ ...query, take, skip, select }, read, operation);
  if (!withTotal) return page;
  const { rows, next } = page;
  const isLast = next === null && cursor === undefined && (rows.length > 0 || !skip);
  if (isLast) return { ...page, total: (skip ?? 0) + rows.length };
  const where = [query, options].flatMap((it) => "where" in it ? [it.where] : []);
  return { ...page, total: await count({ where: { AND: where } }) };
}

/** The query of a page, whose bounds are checked. */
type CheckedPage = GivenPage & { readonly take: number };

async function pageByOffset(
  { orderBy, take, skip, select, ...query }: CheckedPage & {
    readonly skip: number;
    readonly select: unknown;
  },
  read: ReadBatch,
  operation: Operation,
): Promise<RowPage> {
  checkBounds({ take, skip }, operation);
  const filters = givenFilters(query, operation);
  const order = readOrder({ orderBy, isTotal: true, tiesFollow: true }, operation);
  const found = await read({ order, take: take + 1, skip, select }, filters);
  return { rows: found.slice(0, take), next: found.length > take ? String(skip + take) : null };
}

async function pageByCursor(
  { orderBy, take, cursor, ...query }: CheckedPage,
  { options: { select, where }, read }: Omit<PageReading, "count">,
  operation: Operation,
): Promise<RowPage> {
  const order = readOrder({ orderBy, isTotal: true, tiesFollow: true }, operation);
  const keyset = keysetOf({ order, subject: "a page without skip" }, operation);
  const cursors = new Cursors({ keyset, where: query.where, operation });
  const position = cursor === undefined ? undefined : cursors.read(cursor);
  const reading = position
    ? orderAfter({ order, keyset, conditions: [query.where, where] }, operation)
    : { order, keyset };
  const filters = givenFilters(query, operation);
  const found = await read(
    { order: reading.order, take: take + 1, select: withKeyset(select, keyset) },
    position ? [...filters, afterFilter({ keyset: reading.keyset, position }, operation)] : filters,
  );
  // The next page would have them again.
  if (position) checkBeyond(found, { keyset, position }, operation);
  const rows = found.slice(0, take);
  const last = rows.at(-1);
  const next = last && found.length > take ? cursors.write(last) : null;
  dropUnselected(rows, { select, columns: keyset.map(({ column }) => column) });
  return { rows, next };
}
