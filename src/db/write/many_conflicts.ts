/**
 * Rows to create that conflict with others: they are skipped, or update those.
 *
 * @module
 */
import { type Expression, type ExpressionBuilder, sql } from "kysely";
import type { AnyTables } from "../connection/dialect.ts";
import type { Statement } from "../connection/statement.ts";
import { DbError } from "../errors.ts";
import { isGenerated } from "../model/model.ts";
import { every, hasUnseen, scopeFilters } from "../query/filters.ts";
import type { Operation, OperationContext } from "../query/operation.ts";
import type { Filter } from "../query/operators.ts";
import type { Table } from "../query/table.ts";
import type { TableColumn, Values } from "../query/table_column.ts";
import { assign, type Assignments } from "./assignments.ts";
import { fieldsOf, taken } from "./inserts.ts";
import type { Extend, InsertBatch, Insertion, InsertManner, Tuple } from "./many_inserts.ts";
import { namesOf } from "./row_reading.ts";
import { type RowUpsert, upsertRow } from "./upsert.ts";

/** MySQL's variable of how many rows a statement has refused to write. */
const RESET: Statement = { sql: "set @fw_refused = 0", parameters: [], reads: false };
const READ: Statement = { sql: "select @fw_refused", parameters: [], reads: true };

/** What to set in the rows that rows to create conflict with. */
export interface ManyUpdates {
  /** The unique columns by which rows conflict. */
  readonly by: readonly TableColumn[];
  /** The columns to set. */
  readonly columns: readonly TableColumn[];
  /** What to set besides, which is the same in every row: times, and the next version. */
  readonly stamps: Values;
}

/** Skips the rows that have a value of a unique column that another row has; counts the others. */
export function skipConflicts(context: OperationContext): InsertManner<number> {
  const { table, table: { connection }, action } = context;
  const { returning } = connection.grammar;
  return {
    extend: skip,
    async run(batch) {
      if (returning) return (await table.execute(action, batch.statement)).affectedRows;
      return batch.tuples.length - await refusedBy(batch, context);
    },
  };
}

/** Makes an insertion skip the rows that conflict. */
export function skip(operation: Operation): (insert: Insertion) => Insertion {
  const { table } = operation;
  operation.section("skip");
  return (insert) =>
    table.connection.grammar.returning
      ? insert.onConflict((conflict) => conflict.doNothing())
      : insert.onDuplicateKeyUpdate(unless(sql`false`, table));
}

/**
 * Updates rows of the scope in place of creating rows that conflict with them by a column.
 *
 * @throws {DbError} `UniqueViolation` if a row is out of scope, or has the value of another unique
 * column
 */
export function updateConflicts(
  { by, columns, stamps }: ManyUpdates,
  context: OperationContext,
): InsertManner<void> {
  const { table, table: { connection }, action } = context;
  const { returning } = connection.grammar;
  const names = columns.map(({ column }) => column);
  const extend: Extend = (operation) => {
    operation.section(`by ${fieldsOf(by)} update ${names} at`);
    const stamped = assign(stamps, operation);
    operation.section("in");
    const scoped = every(scopeFilters(operation, { of: table.rows }));
    return (insert) =>
      returning
        ? insert.onConflict((conflict) =>
          conflict.columns(namesOf({ columns: by }))
            .doUpdateSet((eb) =>
              Object.fromEntries([
                ...names.map((name) => [name, eb.ref(`excluded.${name}`)]),
                ...Object.entries(stamped),
              ])
            )
            .where(scoped)
        )
        : insert.onDuplicateKeyUpdate((eb) =>
          overwrite({ by, columns, stamped }, { scoped, table, eb })
        );
  };
  return {
    extend,
    async run(batch) {
      if (returning) {
        const { affectedRows } = await table.execute(action, batch.statement);
        if (affectedRows < batch.tuples.length) throw taken(by, context);
        return;
      }
      try {
        return await connection.transaction(async () => {
          if (await refusedBy(batch, context) !== 0) throw taken(by, context);
        });
      } catch (error) {
        if (!(error instanceof DbError) || error.code !== "UniqueViolation") throw error;
      }
      // Another column conflicts, or a row is out of scope: each is a matter of its own.
      await connection.transaction(async () => {
        for (const tuple of batch.tuples) {
          await upsertRow(rowUpsert(tuple, { by, columns, stamps }, table), context);
        }
      });
    },
    mayUndo: returning && hasUnseen(context),
  };
}

/** Returns one row to create or to update. */
export function rowUpsert(
  tuple: Tuple,
  { by, columns, stamps }: ManyUpdates,
  { columns: all }: Pick<Table, "columns">,
): RowUpsert {
  const valueOf = (column: TableColumn) => [column, tuple[column.index]] as const;
  return {
    unique: new Map(by.map(valueOf)),
    created: new Map(all.map(valueOf).filter(([, value]) => value !== undefined)),
    values: new Map([...columns.map(valueOf), ...stamps]),
  };
}

/** Runs a statement of MySQL, and returns how many rows it has refused to write. */
async function refusedBy(
  { statement }: InsertBatch,
  { table, action }: OperationContext,
): Promise<number> {
  const [, , { rows }] = await table.executeTogether(action, [RESET, statement, READ]);
  return Number(rows[0]?.[0]);
}

/**
 * Returns what keeps an insertion of MySQL from failing where a row conflicts, and from nothing
 * else, as IGNORE would: a column is set to itself, which is no generated key, as MySQL refuses one
 * that the same statement has generated. A variable counts the rows that are not accepted: the
 * number of rows that are written includes them.
 */
function unless(accepted: Expression<unknown>, table: Table, set: readonly string[] = []) {
  const { column } =
    table.columns.find(({ field, column }) => !isGenerated(field) && !set.includes(column)) ??
      table.primaryKey[0]!;
  const same = sql.ref(`${table.rows}.${column}`);
  return { [column]: sql`if(${accepted} or (@fw_refused := @fw_refused + 1), ${same}, ${same})` };
}

/** Returns the assignments of MySQL for rows that conflict by any unique column. */
function overwrite(
  { by, columns, stamped }: Omit<ManyUpdates, "stamps"> & { readonly stamped: Assignments },
  { scoped, table, eb }: {
    readonly scoped: Filter;
    readonly table: Table;
    readonly eb: ExpressionBuilder<AnyTables, string>;
  },
): Record<string, Expression<unknown>> {
  const stored = ({ column }: Pick<TableColumn, "column">) => sql.ref(`${table.rows}.${column}`);
  const given = ({ column }: TableColumn): Assignments[string] => sql`values(${sql.ref(column)})`;
  const same = by.map((column) => sql`${stored(column)} = ${given(column)}`);
  const accepted = sql`(${sql.join([...same, scoped(eb)], sql` and `)})`;
  const assigned = [
    ...columns.map((column) => [column.column, given(column)] as const),
    ...Object.entries(stamped),
  ];
  return {
    ...unless(accepted, table, assigned.map(([column]) => column)),
    ...Object.fromEntries(
      assigned.map(([column, value]) => [
        column,
        sql`if(${accepted}, ${value}, ${stored({ column })})`,
      ]),
    ),
  };
}
