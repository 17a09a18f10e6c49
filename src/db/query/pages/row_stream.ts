/**
 * Reads any number of rows in batches.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  checkBounds,
  dropUnselected,
  type OrderTerm,
  type PageOptions,
  readOrder,
} from "../find_options.ts";
import { afterFilter, checkBeyond, keysetOf, positionOf, withKeyset } from "./keyset.ts";
import { orderAfter } from "./order_after.ts";
import type { Operation } from "../operation.ts";
import type { Filter } from "../operators.ts";
import type { AnyRow } from "../table_column.ts";

/** How many rows a statement reads, unless `batchSize` sets it. */
const BATCH_SIZE = 1000;

/** The rows of a batch. */
export interface BatchOptions {
  /** The order, a total one. */
  readonly order: readonly OrderTerm[];
  /** How many rows at most. */
  readonly take: number;
  /** How many rows to leave out first. */
  readonly skip?: number | undefined;
  /** The columns to read; all of them unless given. */
  readonly select: unknown;
}

/**
 * How many rows of a stream to read, and how many by each statement; the types are checked where
 * they are read.
 */
export interface StreamOptions extends PageOptions {
  /** The condition. */
  readonly where?: unknown;
  /** The columns to read; all of them unless given. */
  readonly select?: unknown;
  /** How many rows a statement reads. */
  readonly batchSize?: number | undefined;
}

/** Reads the rows that meet conditions. */
export type ReadBatch = (
  options: BatchOptions,
  after: readonly Filter[],
) => Promise<readonly AnyRow[]>;

/** Runs an operation that reads a batch. */
export type RunBatch = (
  work: (operation: Operation, read: ReadBatch) => Promise<readonly AnyRow[]>,
) => Promise<readonly AnyRow[]>;

/**
 * Yields rows in their order, which ends with the primary key: each batch is what comes after the
 * last row of the one before, so that nothing is open between them. All are read in the context,
 * such as the transaction, in which the first row is asked for.
 *
 * @throws {TypeError} if the order has values of related rows
 * @throws {DbError} `Database` if a column of the order has values that its field cannot represent,
 * such as microseconds: rows would come twice
 * @throws {RangeError} if `take`, `skip` or `batchSize` is not a whole number, the last one of 1 or
 * more
 */
export async function* streamRows(
  { where, select, orderBy, take, skip, batchSize = BATCH_SIZE }: StreamOptions,
  run: RunBatch,
): AsyncGenerator<AnyRow> {
  // `Array.fromAsync` of Node 22 asks for the others without a context.
  const inside = AsyncLocalStorage.snapshot();
  let left = take ?? Infinity;
  let last: AnyRow | undefined;
  for (;;) {
    const size = Math.min(batchSize, left);
    const rows = await inside(run, async (operation, read) => {
      checkBounds({ take, skip }, operation);
      if (!(Number.isSafeInteger(batchSize) && batchSize > 0)) {
        throw new RangeError(
          `Cannot ${operation.action}: batchSize is not a whole number of 1 or more`,
        );
      }
      const order = readOrder({ orderBy, isTotal: true }, operation);
      const keyset = keysetOf({ order, subject: "a stream" }, operation);
      const reading = last
        ? orderAfter({ order, keyset, conditions: [where] }, operation)
        : { order, keyset };
      const page = {
        order: reading.order,
        take: size,
        skip: last ? 0 : skip,
        select: withKeyset(select, keyset),
      };
      const position = last;
      const after = position ? [afterFilter({ position, keyset: reading.keyset }, operation)] : [];
      const rows = await read(page, after);
      // The loop would not end.
      if (position) checkBeyond(rows, { position, keyset }, operation);
      const end = rows.at(-1);
      last = end && positionOf(end, keyset);
      dropUnselected(rows, { select, columns: keyset.map(({ column }) => column) });
      return rows;
    });
    yield* rows;
    left -= rows.length;
    if (left === 0 || rows.length < size) return;
  }
}
