/**
 * Reads any number of rows in batches.
 *
 * @module
 */
import { dbError } from "../errors.ts";
import { isPlainObject } from "../model/plain_object.ts";
import { every } from "./filters.ts";
import { checkBounds, dropUnselected, type PageOptions, readOrder } from "./find_options.ts";
import { identity } from "./key.ts";
import type { Operation } from "./operation.ts";
import { compareFilter, type Filter, lowerCase, operatorFilter } from "./operators.ts";
import type { SortOrder } from "../model/model.ts";
import type { AnyRow, TableColumn } from "./table_column.ts";

/** How many rows a statement reads, unless `batchSize` sets it. */
const BATCH_SIZE = 1000;

/** The options of a batch; its types are checked where they are read. */
export interface BatchOptions extends PageOptions {
  /** The columns to read; all of them unless given. */
  readonly select?: unknown;
}

/** How many rows of a stream to read, and how many by each statement. */
export interface StreamOptions extends BatchOptions {
  /** How many rows a statement reads. */
  readonly batchSize?: number | undefined;
}

/** A column of an order, and its direction. */
interface ColumnOrder {
  readonly column: TableColumn;
  readonly direction: SortOrder;
  readonly ignoresCase: boolean;
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
 * last row of the one before, so that nothing is open between them.
 *
 * @throws {TypeError} if the order has values of related rows
 * @throws {DbError} `Database` if a column of the order has values that its field cannot represent,
 * such as microseconds: rows would come twice
 * @throws {RangeError} if `take`, `skip` or `batchSize` is not a whole number, the last one of 1 or
 * more
 */
export async function* streamRows(
  { select, orderBy, take, skip, batchSize = BATCH_SIZE }: StreamOptions,
  run: RunBatch,
): AsyncGenerator<AnyRow> {
  let left = take ?? Infinity;
  let last: AnyRow | undefined;
  for (;;) {
    const size = Math.min(batchSize, left);
    const rows = await run(async (operation, read) => {
      checkBounds({ take, skip }, operation);
      if (!(Number.isSafeInteger(batchSize) && batchSize > 0)) {
        throw new RangeError(
          `Cannot ${operation.action}: batchSize is not a whole number of 1 or more`,
        );
      }
      const order = columnsOf(orderBy, operation);
      const columns = order.map(({ column }) => column);
      const names = columns.map(({ name }) => [name, true]);
      const page = {
        orderBy,
        take: size,
        skip: last ? 0 : skip,
        // An empty selection is a mistake.
        select: isPlainObject(select) && Object.keys(select).length > 0
          ? { ...select, ...Object.fromEntries(names) }
          : select,
      };
      const rows = await read(page, last ? [afterFilter({ last, order }, operation)] : []);
      const before = last;
      const isLast = (row: AnyRow) =>
        columns.every(({ name }) => identity(row[name]) === identity(before?.[name]));
      // Such as microseconds: the loop would not end.
      if (before && rows.some(isLast)) {
        const reason = "a column of its order is finer than its field";
        throw dbError(operation.action, { code: "Database", reason });
      }
      const end = rows.at(-1);
      // The caller may change the row and its values.
      last = end &&
        structuredClone(Object.fromEntries(columns.map(({ name }) => [name, end[name]])));
      dropUnselected(rows, { select, columns });
      return rows;
    });
    yield* rows;
    left -= rows.length;
    if (left === 0 || rows.length < size) return;
  }
}

/** Reads the order, which cannot have values of related rows: rows do not have them. */
function columnsOf(orderBy: unknown, operation: Operation): readonly ColumnOrder[] {
  if (operation.table.primaryKey.length === 0) {
    throw operation.mistake("a stream needs a key, and the model has none");
  }
  return readOrder({ orderBy, isTotal: true }, operation).map((term) => {
    const { column, direction, value, lowered } = term;
    if (!column || value && !lowered) {
      throw operation.mistake("a stream has no order by related rows");
    }
    return { column, direction, ignoresCase: lowered !== undefined };
  });
}

/** Returns the condition that a row comes after another. */
function afterFilter(
  { last, order }: { readonly last: AnyRow; readonly order: readonly ColumnOrder[] },
  operation: Operation,
): Filter {
  operation.section("after");
  const [{ column, direction, ignoresCase }] = order as [ColumnOrder];
  const valueIn = ({ column: { name }, ignoresCase }: ColumnOrder) =>
    ignoresCase ? lowerCase(last[name]) : last[name];
  const bounds: Filter[] = [];
  const isUpper = direction === "desc";
  const isBound = last[column.name] !== null && !(isUpper && column.field.flags.has("nullable"));
  // An index finds this one; databases do not derive it from the others.
  if (order.length > 1 && isBound) {
    const operator = isUpper ? "<=" : ">=";
    const operand = valueIn(order[0]!);
    bounds.push(compareFilter({ column, operator, operand, ignoresCase }, operation));
  }
  const equal: Filter[] = [];
  const alternatives: Filter[] = [];
  for (const one of order) {
    const { column, ignoresCase } = one;
    const operand = valueIn(one);
    for (const filter of beyond(one, { operand, operation })) {
      alternatives.push(every([...equal, filter]));
    }
    equal.push(operatorFilter({ column, operator: "equals", operand, ignoresCase }, operation));
  }
  return every([...bounds, (eb) => eb.or(alternatives.map((filter) => filter(eb)))]);
}

/** Returns the conditions that a value comes after another: `null` comes before all. */
function beyond(
  { column, direction, ignoresCase }: ColumnOrder,
  { operand, operation }: { readonly operand: unknown; readonly operation: Operation },
): readonly Filter[] {
  const isNull = (operator: "equals" | "not") =>
    operatorFilter({ column, operator, operand: null }, operation);
  if (direction === "asc") {
    return [
      operand === null
        ? isNull("not")
        : compareFilter({ column, operator: ">", operand, ignoresCase }, operation),
    ];
  }
  if (operand === null) return [];
  const less = compareFilter({ column, operator: "<", operand, ignoresCase }, operation);
  return column.field.flags.has("nullable") ? [less, isNull("equals")] : [less];
}
