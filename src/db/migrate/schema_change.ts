/**
 * Changes of a schema: one instance at a time, and on SQLite with precautions.
 *
 * @module
 */
import { type Kysely, sql } from "kysely";
import type { DbConnection } from "../connection/connection.ts";
import type { AnyTables } from "../connection/dialect.ts";
import { DbError } from "../errors.ts";
import { backOff } from "../transaction/transaction.ts";
import { lockInTransaction, underNamedLock } from "./schema_lock.ts";

/** How long to wait for another instance that migrates, where the database has no lock for it. */
const MAX_WAIT_MS = 60_000;

/** A change of a schema. */
export interface SchemaChange<T> {
  /** The action, for the error message: `"migrate"`. */
  readonly action: string;
  /** Whether it may recreate tables, for which SQLite needs precautions. */
  readonly recreates: boolean;
  /** Makes the change with the Kysely that it is given. */
  readonly run: (kysely: Kysely<AnyTables>) => Promise<T>;
}

/**
 * Changes a schema while no other instance does so: on PostgreSQL in a transaction, on MySQL on one
 * connection, on SQLite, if it may recreate tables, in a transaction, if the driver has them, and
 * with foreign keys off, which are checked at the end.
 *
 * @throws {TypeError} inside a transaction, which MySQL would commit
 * @throws {DbError} if the change cannot begin; `Database` if a reference is broken afterwards; and
 * whatever the function throws
 */
export async function changeSchema<T>(
  connection: DbConnection,
  { action, recreates, run }: SchemaChange<T>,
): Promise<T> {
  if (connection.isInTransaction) throw new TypeError(`Cannot ${action}: a transaction is open`);
  let hasBegun = false;
  const begin = (kysely: Kysely<AnyTables>) => {
    hasBegun = true;
    return run(kysely);
  };
  try {
    return await changeAlone(connection, { action, recreates, run: begin });
  } catch (error) {
    throw hasBegun ? error : connection.failure(action, error);
  }
}

async function changeAlone<T>(
  connection: DbConnection,
  { action, recreates, run }: SchemaChange<T>,
): Promise<T> {
  const { kysely } = connection;
  switch (connection.grammar.brand) {
    case "PostgreSQL":
      return await connection.transaction(async () => {
        await lockInTransaction({ kysely, action });
        return await run(kysely);
      }, { isolation: "read committed" }); // which shows what the instance before has changed
    case "MySQL":
      return await kysely.connection().execute((own) =>
        underNamedLock(() => run(own), { kysely: own, action })
      );
    case "SQLite": {
      if (!recreates) return await kysely.connection().execute(run);
      const checked = async () => {
        const result = await run(kysely);
        await checkForeignKeys(connection, action);
        return result;
      };
      return await withoutForeignKeys(() => runInTransaction(checked, connection), connection);
    }
  }
}

/**
 * Most changes of a table require SQLite to recreate it. Foreign keys would then delete the rows
 * that refer to the old one; they are checked at the end.
 */
async function withoutForeignKeys<T>(
  run: () => Promise<T>,
  { kysely }: DbConnection,
): Promise<T> {
  const { rows: [state] } = await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(
    kysely,
  );
  if (!state?.foreign_keys) return await run();
  await sql`pragma foreign_keys = off`.execute(kysely);
  try {
    return await run();
  } finally {
    await sql`pragma foreign_keys = on`.execute(kysely);
  }
}

/** A transaction is SQLite's only lock, and Kysely's migrator begins none there. */
async function runInTransaction<T>(run: () => Promise<T>, connection: DbConnection): Promise<T> {
  const endsAt = Date.now() + MAX_WAIT_MS;
  let hasBegun = false;
  for (let attempt = 0;; attempt++) {
    try {
      return await connection.transaction(() => {
        hasBegun = true;
        return run();
      });
    } catch (error) {
      // Some drivers over the network, such as that of D1, have no transactions.
      if (!hasBegun && !connection.transactionsLock) return await run();
      const { code } = connection.grammar.explain((error as Error).cause ?? {});
      const isBusy = code === "PoolTimeout" || code === "SerializationFailure";
      if (!isBusy || Date.now() > endsAt) throw error;
    }
    await backOff(attempt);
  }
}

async function checkForeignKeys({ kysely }: DbConnection, action: string): Promise<void> {
  const { rows: [broken] } = await sql<{ table: string }>`pragma foreign_key_check`.execute(kysely);
  if (!broken) return;
  throw new DbError("Database", `Cannot ${action}: rows of ${broken.table} refer to none`);
}
