/**
 * Chooses how the rows that meet conditions on related rows are found. Where few related rows meet
 * one, the rows are found from these; otherwise each row is checked, of a page in its order, up to
 * its end. Planners choose by averages, which are wrong for a tag that all rows have; here, the
 * related rows are counted first, up to a limit. Both ways have the same result.
 *
 * @module
 */
import { type Compilable, sql } from "kysely";
import { every } from "./filters.ts";
import { namedTerms, readOrder } from "./find_options.ts";
import type { DrivingCondition, Operation } from "./operation.ts";
import type { Builder, Filter } from "./operators.ts";
import { KEY, one } from "./related_rows.ts";
import { ordered, readPage, readRows, type RowsOptions, withOrder } from "./rows_query.ts";
import { countOfRows, selectionOf } from "./table_column.ts";

/** How many rows are few beside a page: reading and sorting them takes about a millisecond. */
const FEW_OF_PAGE = 1000;
/** How many are few beside all rows, each of which would be checked. */
const FEW_OF_ALL = 10_000;
/** The most conditions of an operation that are counted. */
const MAX_COUNTED = 4;
/** More rows than there are: a subquery with bounds is not merged into the query around it. */
const ALL = Number.MAX_SAFE_INTEGER;

/** Names that no column has. */
const KEYS = "~keys";
const FOUND = "~found";

/**
 * Reads the options of a page, as `readRows` does.
 *
 * @throws {TypeError} if they name an unknown column
 * @throws {RangeError} if `take` or `skip` is not a whole number of 0 or more
 */
export async function readFewOrMany(
  options: RowsOptions,
  operation: Operation,
): Promise<() => Compilable> {
  const { columns } = options;
  const filter = await narrowed(options.filter, operation, { isPage: true });
  if (filter === options.filter) return readRows(options, operation);
  const { source, connection: { kysely, grammar } } = operation.table;
  const order = options.order ??
    readOrder({ orderBy: options.orderBy, isTotal: true }, operation);
  const bounded = readPage(options, operation);
  const names = columns.map(({ column }) => column);
  return () => {
    const found = withOrder(kysely.selectFrom(source), names, order).where(filter)
      .limit(sql.lit(ALL)).offset(sql.lit(0));
    const read = kysely.selectFrom(found.as(FOUND)).select(selectionOf(columns));
    return bounded(ordered(read, namedTerms(order), grammar));
  };
}

/**
 * Returns a filter that finds few rows from related ones, or the same filter, which then is checked
 * for each row of a page.
 */
export async function narrowed(
  filter: Filter,
  operation: Operation,
  { isPage }: { readonly isPage: boolean },
): Promise<Filter> {
  const few = await fewestRows(operation, isPage ? FEW_OF_PAGE : FEW_OF_ALL);
  if (isPage) {
    // Few rows, and those up to the end of a page, are checked one by one.
    for (const driving of operation.driving) driving.isRowByRow = true;
    operation.section("row by row");
  }
  return few ? every([few, filter]) : filter;
}

/**
 * Returns the filter of the rows of the condition that fewest meet; `undefined` if more than a
 * limit meet each.
 */
async function fewestRows(operation: Operation, limit: number): Promise<Filter | undefined> {
  const { kysely } = operation.table.connection;
  const driving = operation.driving.slice(0, MAX_COUNTED);
  const { rows: [counts = []] } = await operation.runBeside(
    `counts up to ${limit}`,
    () =>
      kysely.selectNoFrom(
        driving.map((it, index) => countOf(it, { operation, limit }).as(`~${index}`)),
      ),
  );
  const numbers = counts.map(Number);
  const fewest = Math.min(...numbers);
  if (fewest > limit) return undefined;
  const index = numbers.indexOf(fewest);
  const { relation: { own }, keys } = driving[index]!;
  operation.section(`few by ${index}`);
  return (eb) => own.grammar.among!(eb.ref(`${operation.rows}.${own.column}`), keys(eb));
}

/** Returns how many rows a condition finds, up to one more than a limit. */
function countOf(
  { relation, keys }: DrivingCondition,
  { operation, limit }: { readonly operation: Operation; readonly limit: number },
) {
  const { source, rows, connection: { kysely } } = operation.table;
  const found = (eb: Builder) =>
    relation.kind === "many"
      ? keys(eb)
      // Few rows may be those to which many refer.
      : eb.selectFrom(keys(eb).as(KEYS)).select(one)
        .innerJoin(source, `${KEYS}.${KEY}`, `${rows}.${relation.own.column}`);
  return kysely.selectFrom((eb) => found(eb).limit(sql.lit(limit + 1)).as(FOUND))
    .select(countOfRows());
}
