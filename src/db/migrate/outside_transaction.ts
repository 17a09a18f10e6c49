/**
 * Runs scripts that must run outside a transaction.
 *
 * @module
 */
import { CompiledQuery, type Kysely, sql } from "kysely";
import { DEFAULT_MIGRATION_TABLE } from "kysely/migration";
import type { DbConnection } from "../connection/connection.ts";
import type { AnyTables } from "../connection/dialect.ts";
import { DbError } from "../errors.ts";
import {
  type MigrationStatus,
  migrationStatuses,
  scriptOf,
  storeChecksum,
} from "./migration_status.ts";
import type { Migrations } from "./migrations.ts";
import { changeSchema } from "./schema_change.ts";
import { POSTGRES_SCRIPT_MARK } from "./schema_lock.ts";
import { isOutsideTransaction, splitScript } from "./script.ts";
import { keepingSettings } from "./session_settings.ts";
import { refuseSessionStatements } from "./session_statements.ts";

interface Source {
  readonly connection: DbConnection;
  readonly migrations: Migrations;
}

/**
 * Returns the first pending migration that runs outside a transaction, unless the migrator refuses
 * the order. MySQL runs all of them so.
 */
export function nextAlone(
  statuses: readonly MigrationStatus[],
  { connection, migrations }: Source,
): string | undefined {
  if (connection.grammar.brand === "MySQL") return undefined;
  const next = statuses.findIndex(({ name, executedAt }) =>
    !executedAt && isOutsideTransaction(scriptOf(migrations[name]) ?? "")
  );
  const isInOrder = statuses.slice(next + 1).every(({ executedAt }) => !executedAt);
  return isInOrder ? statuses[next]?.name : undefined;
}

/** Runs the next migration outside a transaction, unless another instance has changed the next. */
export async function runAlone(
  name: string,
  { connection, migrations }: Source,
): Promise<readonly string[]> {
  const script = scriptOf(migrations[name]) ?? "";
  const { grammar } = connection;
  const { brand } = grammar;
  const run = async (kysely: Kysely<AnyTables>) => {
    const statuses = await migrationStatuses(kysely, { migrations, brand });
    if (statuses.find(({ executedAt }) => !executedAt)?.name !== name) return [];
    const mayLoseSession = brand === "PostgreSQL" && !connection.keepsSessions;
    if (mayLoseSession) refuseSessionStatements(name, script);
    try {
      const running = () => runOutside(script, { connection, kysely });
      await (mayLoseSession ? running() : keepingSettings(running, { kysely, grammar }));
      await storeChecksum(kysely, { name, script, brand });
      await markExecuted(kysely, { name, statuses });
      return [name];
    } catch (error) {
      const message = `Cannot migrate: ${name} failed outside a transaction; ` +
        "undo what it has done, such as an invalid index, before it runs again";
      throw new DbError("Database", message, { cause: (error as Error | null)?.cause ?? error });
    }
  };
  return await changeSchema(connection, { action: "migrate", isOutsideTransaction: true, run });
}

/**
 * Runs a script outside a transaction; rolls back one that it has begun and not ended.
 *
 * @throws {TypeError} if it leaves a transaction open
 */
async function runOutside(
  script: string,
  { connection, kysely }: { readonly connection: DbConnection; readonly kysely: Kysely<AnyTables> },
): Promise<void> {
  const isPostgres = connection.grammar.brand === "PostgreSQL";
  const rollback = () => sql`rollback`.execute(kysely).then(() => true, () => false);
  try {
    if (isPostgres) {
      // Several statements at once would be a transaction.
      for (const statement of splitScript(script, "PostgreSQL")) {
        await kysely.executeQuery(CompiledQuery.raw(`${POSTGRES_SCRIPT_MARK} ${statement}`));
      }
    } else await connection.runScript(script, kysely);
    // SQLite refuses a rollback outside of a transaction.
    if (isPostgres ? await isInTransaction(kysely) : await rollback()) {
      throw new TypeError("Cannot run script: it leaves a transaction open, which was rolled back");
    }
  } catch (error) {
    await rollback();
    throw error;
  }
}

/** Outside of a transaction of PostgreSQL, each statement has one of its own. */
async function isInTransaction(kysely: Kysely<AnyTables>): Promise<boolean> {
  const current = sql<{ id: string }>`select txid_current()::text as id`;
  const { rows: [first] } = await current.execute(kysely);
  const { rows: [second] } = await current.execute(kysely);
  return first?.id === second?.id;
}

/** Adds the row that Kysely's migrator would, whose order is that of the times. */
async function markExecuted(
  kysely: Kysely<AnyTables>,
  { name, statuses }: { readonly name: string; readonly statuses: readonly MigrationStatus[] },
): Promise<void> {
  const times = statuses.map(({ executedAt }) => (executedAt?.getTime() ?? 0) + 1);
  const timestamp = new Date(Math.max(Date.now(), ...times)).toISOString();
  await kysely.insertInto(DEFAULT_MIGRATION_TABLE).values({ name, timestamp }).execute();
}
