/**
 * Builds the queries of pages of rows that meet a condition on related rows. Where few rows meet
 * it, they are found from the related rows; where many do, in the order of the page, up to its end.
 *
 * @module
 */
import { type Compilable, type Expression, sql } from "kysely";
import { bindCount, checkBounds, namedTerms, readOrder } from "./find_options.ts";
import type { DrivingCondition, Operation } from "./operation.ts";
import type { Builder } from "./operators.ts";
import { KEY, one, type Subquery } from "./related_rows.ts";
import { ordered, type RowsOptions, withOrder } from "./rows_query.ts";
import { countOfRows, selectionOf } from "./table_column.ts";

/** How many rows are few: reading and sorting them takes about a millisecond. */
const FEW = 1000;

/** Names that no column has. */
const KEYS = "~keys";
const FOUND = "~found";
const ROWS = "~rows";

/**
 * Reads the options of a page, as `readRows` does. Planners estimate by averages how many rows a
 * condition on related rows has: the query counts up to {@linkcode FEW} of them, and reads nothing
 * in one of its two halves.
 *
 * @throws {TypeError} if they name an unknown column
 * @throws {RangeError} if `take` or `skip` is not a whole number of 0 or more
 */
export function readFewOrMany(
  { driving, ...options }: RowsOptions & { readonly driving: DrivingCondition },
  operation: Operation,
): () => Compilable {
  const { columns, filter } = options;
  const { source, connection: { kysely, grammar } } = operation.table;
  const order = readOrder({ orderBy: options.orderBy, isTotal: true }, operation);
  const bounds = checkBounds(options, operation);
  const take = bindCount({ name: "few or many; take", count: bounds.take }, operation);
  const skip = bindCount({ name: "skip", count: bounds.skip }, operation);
  const names = columns.map(({ column }) => column);
  const rows = () => withOrder(kysely.selectFrom(source), names, order).where(filter);
  const half = (page: Subquery, isOf: 0 | 1) => {
    const limit = sql<number>`case when ${hasMany({ driving, operation })} = ${sql.lit(isOf)}
      then cast(${take} as bigint) + cast(${skip} as bigint) else 0 end`;
    // A part of a union has no order of its own.
    return kysely.selectFrom(page.limit(limit).as(FOUND)).selectAll();
  };
  return () => {
    const found = rows().where((eb) => amongKeys(eb, { driving, operation }))
      // There are no more; the planner does not look for them in their order then.
      .limit(sql<number>`${sql.lit(FEW)}`);
    const all = kysely.selectFrom(found.as(FOUND)).selectAll();
    const few = half(ordered(all, namedTerms(order), grammar), 0);
    driving.isRowByRow = true;
    const many = half(ordered(rows(), order, grammar), 1);
    driving.isRowByRow = false;
    const read = kysely.selectFrom(few.unionAll(many).as(ROWS)).select(selectionOf(columns));
    return ordered(read, namedTerms(order), grammar)
      .limit(sql<number>`${take}`).offset(sql<number>`${skip}`);
  };
}

/** A condition that drives a query, and its operation. */
interface Driven {
  readonly driving: DrivingCondition;
  readonly operation: Operation;
}

function amongKeys(eb: Builder, { driving: { relation, keys }, operation }: Driven) {
  return relation.own.grammar.among!(eb.ref(`${operation.rows}.${relation.own.column}`), keys(eb));
}

/** Returns 1 if more than {@linkcode FEW} rows can be found, and 0 otherwise. */
function hasMany({ driving: { relation, keys }, operation }: Driven): Expression<unknown> {
  const { source, rows, connection: { kysely } } = operation.table;
  const found = (eb: Builder): Subquery =>
    relation.kind === "many"
      ? keys(eb)
      // Few rows may be those to which many refer.
      : eb.selectFrom(keys(eb).as(KEYS)).select(one)
        .innerJoin(source, `${KEYS}.${KEY}`, `${rows}.${relation.own.column}`);
  return kysely.selectFrom((eb) => found(eb).limit(sql<number>`${sql.lit(FEW + 1)}`).as(FOUND))
    .select(sql<number>`case when ${countOfRows().expression} > ${sql.lit(FEW)} then 1 else 0 end`
      .as("many"));
}
