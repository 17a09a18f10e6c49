/**
 * Rows to create that conflict with others: they are skipped, or update those.
 *
 * @module
 */
import { type Expression, sql } from "kysely";
import type { Statement } from "../connection/statement.ts";
import { DbError } from "../errors.ts";
import type { OperationContext } from "../query/operation.ts";
import { type Insertion, type InsertManner, insertRows } from "./many_inserts.ts";

/** MySQL's variable of what a statement has refused to write. */
const REFUSED = sql.raw("@fw_refused");
const RESET: Statement = { sql: "set @fw_refused = 0", parameters: [], reads: false };
const READ: Statement = { sql: "select @fw_refused", parameters: [], reads: true };

/** Skips the rows that have a value of a unique column that another row has; counts the others. */
export function skipConflicts(context: OperationContext): InsertManner<number> {
  const { table: { connection }, action } = context;
  const { returning } = connection.grammar;
  const manner: InsertManner<number> = {
    extend(operation) {
      operation.section("skip");
      return (insert) => {
        // A row that is all generated conflicts with no other.
        if (insert.toOperationNode().defaultValues) return insert;
        if (returning) return insert.onConflict((conflict) => conflict.doNothing());
        return unlessRefused(insert, { context, refuse: sql`${REFUSED} + 1` });
      };
    },
    async run({ statement, tuples }) {
      if (returning) return (await connection.execute(action, statement)).affectedRows;
      try {
        return tuples.length - Number(await refusedBy(statement, context));
      } catch (error) {
        if (tuples.length === 1 || !isOfKeys(error)) throw error;
        return await connection.transaction(async () => {
          let sum = 0;
          for (const tuple of tuples) {
            const [count = 0] = await insertRows([tuple], manner, context);
            sum += count;
          }
          return sum;
        });
      }
    },
  };
  return manner;
}

/**
 * Checks whether MySQL cannot generate a key: where a row of a negative key conflicts, the ones
 * that follow it in the statement would have keys beyond all numbers.
 */
function isOfKeys(error: unknown): boolean {
  return error instanceof DbError && (error.cause as { errno?: unknown } | null)?.errno === 1467;
}

/** Runs a statement of MySQL, and returns what it has refused to write. */
async function refusedBy(statement: Statement, context: OperationContext): Promise<unknown> {
  const { table: { connection }, action } = context;
  const [, , { rows }] = await connection.executeTogether(action, [RESET, statement, READ]);
  return rows[0]?.[0];
}

/**
 * Keeps an insertion of MySQL from failing where a row conflicts, and from nothing else, as IGNORE
 * would: its key is set to itself. The count of rows that it writes includes such rows, so that a
 * variable counts them.
 */
function unlessRefused(
  insert: Insertion,
  { context: { table }, refuse }: {
    readonly context: OperationContext;
    readonly refuse: Expression<unknown>;
  },
): Insertion {
  const key = sql.ref(`${table.name}.${table.primaryKey.name}`);
  return insert.onDuplicateKeyUpdate({
    [table.primaryKey.name]: sql`if(${REFUSED} := ${refuse}, ${key}, ${key})`,
  });
}
