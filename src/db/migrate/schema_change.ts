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
import { keepingAlive, underNamedLock, underTransactionLock } from "./schema_lock.ts";

/** How long to wait for another instance that migrates, where the database has no lock for it. */
const MAX_WAIT_MS = 60_000;

/** A change of a schema. */
export interface SchemaChange<T> {
  /** The action, for the error message: `"migrate"`. */
  readonly action: string;
  /** Whether it may recreate tables, for which SQLite needs precautions; `false` by default. */
  readonly recreates?: boolean;
  /** Whether it runs outside a transaction; `false` by default. SQLite then has no lock for it. */
  readonly isOutsideTransaction?: boolean;
  /** Makes the change with the Kysely that it is given. */
  readonly run: (kysely: Kysely<AnyTables>) => Promise<T>;
}

/**
 * Changes a schema while no other instance does so: on PostgreSQL in a transaction, on MySQL on one
 * connection, on SQLite, if it may recreate tables, in a transaction, if the driver has them, and
 * with foreign keys off, which are checked at the end.
 *
 * @throws {TypeError} inside a transaction, which MySQL would commit
 * @throws {RangeError} if the pool is too small for a change of PostgreSQL outside a transaction
 * @throws {DbError} if the change cannot begin; `Database` if a reference is broken afterwards; and
 * whatever the function throws
 */
export async function changeSchema<T>(
  connection: DbConnection,
  { run, ...change }: SchemaChange<T>,
): Promise<T> {
  const { action } = change;
  if (connection.isInTransaction) throw new TypeError(`Cannot ${action}: a transaction is open`);
  if (change.isOutsideTransaction && isPostgres(connection) && connection.poolMax < 2) {
    throw new RangeError(
      `Cannot ${action}: outside a transaction it takes two connections, but poolMax is 1`,
    );
  }
  let hasBegun = false;
  const begin = (kysely: Kysely<AnyTables>) => {
    hasBegun = true;
    return run(kysely);
  };
  try {
    return await connection.unlimited(() => changeAlone(connection, { ...change, run: begin }));
  } catch (error) {
    throw hasBegun ? error : connection.failure(action, error);
  }
}

async function changeAlone<T>(
  connection: DbConnection,
  { action, recreates = false, isOutsideTransaction = false, run }: SchemaChange<T>,
): Promise<T> {
  const { kysely } = connection;
  if (isOutsideTransaction && isPostgres(connection)) {
    return await underSeparateLock(connection, { action, run });
  }
  switch (connection.grammar.brand) {
    case "PostgreSQL":
      return await underTransactionLock(() => run(kysely), { connection, action });
    case "MySQL":
      return await kysely.connection().execute((own) =>
        underNamedLock(() => run(own), { kysely: own, action })
      );
    case "SQLite": {
      if (!recreates || isOutsideTransaction) return await kysely.connection().execute(run);
      const checked = async () => {
        const result = await run(kysely);
        await checkForeignKeys(connection, action);
        return result;
      };
      return await withoutForeignKeys(() => runInTransaction(checked, connection), connection);
    }
  }
}

function isPostgres({ grammar }: DbConnection): boolean {
  return grammar.brand === "PostgreSQL";
}

/**
 * Runs a function on one connection while a transaction of another has the lock. That one is idle,
 * and read committed: it has no snapshot and no changes that `create index concurrently` would wait
 * for. The statement that keeps it alive takes no snapshot.
 */
async function underSeparateLock<T>(
  connection: DbConnection,
  { action, run }: SchemaChange<T>,
): Promise<T> {
  const { kysely } = connection;
  const held = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const keep = sql`set local idle_in_transaction_session_timeout = 0`;
  const hold = () => {
    held.resolve();
    return done.promise;
  };
  const holding = underTransactionLock(
    () => keepingAlive(hold, () => keep.execute(kysely)),
    { connection, action },
  );
  try {
    await Promise.race([held.promise, holding]);
    return await kysely.connection().execute(run);
  } finally {
    done.resolve();
    await holding.catch(() => {}); // the change is complete, or its own error is thrown
  }
}

/**
 * Most changes of a table require SQLite to recreate it. Foreign keys would then delete the rows
 * that refer to the old one; they are checked at the end. D1 keeps them on: there, `refuseCascades`
 * stops such scripts.
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
  throw new DbError("Database", `Cannot ${action}: rows of ${broken.table} refer to missing rows`);
}
