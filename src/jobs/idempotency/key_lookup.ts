/**
 * Finds an idempotency key, with the time of the database: the clocks of the processes may differ,
 * and one that is ahead must not end the keys of the others.
 *
 * @module
 */
import { sql } from "kysely";
import { fill, Slot } from "../../db/connection/statement.ts";
import type { Row } from "../../db/model/row.ts";
import type { Table } from "../../db/query/table.ts";
import { decodeRow, selectionOf } from "../../db/query/table_column.ts";
import { NOW } from "../database_clock.ts";
import type { IdempotencyKeyModel } from "./key_table.ts";

/** A lookup of a key. */
export interface KeyLookup {
  /** Its row, if there is one. */
  readonly row: Row<IdempotencyKeyModel> | null;
  /** The time of the database, in milliseconds since 1970; on SQLite, that of the system. */
  readonly now: number;
}

/**
 * Looks a key up by its digest, in one statement with the time.
 *
 * @throws {DbError} if the database fails
 */
export async function lookUp(table: Table, id: string): Promise<KeyLookup> {
  const { columns, connection: { kysely, grammar } } = table;
  const action = `find ${table.name}`;
  const compiled = table.statement(
    "by id, with the time",
    () =>
      kysely.selectFrom(sql`(select 1)`.as("one"))
        .leftJoin(table.source, (join) => join.on(sql.ref("id"), "=", new Slot(0)))
        .select([...selectionOf(columns), sql.raw(NOW[grammar.brand]).as("now")]),
  );
  const encoded = table.column("id", action).encode(id, action);
  const { rows: [values = []] } = await table.execute(action, fill(compiled, [encoded]));
  // Without a row, its key is null; the columns decode the types of their fields.
  const row = values[0] === null ? null : decodeRow(values, columns) as Row<IdempotencyKeyModel>;
  return { row, now: Number(values.at(-1)) };
}
