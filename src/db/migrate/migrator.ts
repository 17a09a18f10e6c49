/**
 * Kysely's migrator for the migrations of a service.
 *
 * @module
 */
import { InsertQueryNode, type Kysely, type KyselyPlugin, OrActionNode, sql } from "kysely";
import {
  DEFAULT_MIGRATION_TABLE,
  type Migration,
  type MigrationResultSet,
  Migrator,
} from "kysely/migration";
import type { DbConnection } from "../connection/connection.ts";
import type { AnyTables } from "../connection/dialect.ts";
import { DbError, dbError } from "../errors.ts";
import { refuseCascades } from "./dropped_tables.ts";
import { type MysqlScript, scriptOf, storeChecksum, withEntry } from "./migration_status.ts";
import type { Migrations, MigrationStep } from "./migrations.ts";
import { migratorKysely } from "./own_tables.ts";
import { refuseTransactions } from "./script.ts";
import { keepingSettings } from "./session_settings.ts";

type Verb = "migrate" | "roll back";

/** A script, or a function. */
type Action = string | ((kysely: Kysely<AnyTables>) => Promise<void>);

/** Creates the migrator of migrations, on the session that changes the schema. */
export function makeMigrator(
  connection: DbConnection,
  { kysely, migrations }: { kysely: Kysely<AnyTables>; migrations: Migrations },
): Migrator {
  const { brand } = connection.grammar;
  const steps = Object.entries(migrations).map(([name, step]) =>
    [name, kyselyMigration({ name, step }, connection)] as const
  );
  return new Migrator({
    db: migratorKysely(brand === "MySQL" ? kysely.withPlugin(ENTRY_ONCE) : kysely, brand),
    provider: { getMigrations: () => Promise.resolve(Object.fromEntries(steps)) },
  });
}

/** Lets Kysely's migrator add an entry again that the transaction of a script has added. */
const ENTRY_ONCE: KyselyPlugin = {
  transformQuery({ node }) {
    if (!InsertQueryNode.is(node)) return node;
    const isEntry = node.into?.table.identifier.name === DEFAULT_MIGRATION_TABLE;
    return isEntry ? { ...node, orAction: OrActionNode.create("ignore") } : node;
  },
  transformResult: ({ result }) => Promise.resolve(result),
};

/** Converts a migration for Kysely, which then stores and removes its checksum too. */
function kyselyMigration(
  { name, step }: { readonly name: string; readonly step: MigrationStep },
  connection: DbConnection,
): Migration {
  const { grammar, grammar: { brand } } = connection;
  const { up, down } = typeof step === "string" ? { up: step, down: undefined } : step;
  const runner = (action: Action, { isDown }: { readonly isDown: boolean }) => {
    return async (kysely: Kysely<AnyTables>) => {
      const session = { connection, kysely };
      if (typeof action !== "string") {
        const run = async (own: Kysely<AnyTables>) => {
          await action(own);
          // A transaction that it has begun would be rolled back when its session ends.
          if (brand === "MySQL") await sql`commit`.execute(own);
        };
        await connection.runApart(
          (own) => keepingSettings(() => run(own), { kysely: own, grammar }),
          kysely,
        );
      } else if (brand === "MySQL") {
        const script = { name, script: action, isDown };
        return await keepingSettings(() => runWhole(script, session), { kysely, grammar });
      } else {
        await keepingSettings(() => runInside(action, session), { kysely, grammar });
      }
      const script = isDown ? undefined : scriptOf(step);
      await storeChecksum(kysely, { name, script, brand });
    };
  };
  const run = { up: runner(up, { isDown: false }) };
  return down === undefined ? run : { ...run, down: runner(down, { isDown: true }) };
}

/** Where a script runs. */
interface Session {
  readonly connection: DbConnection;
  readonly kysely: Kysely<AnyTables>;
}

/** Runs a script inside the transaction of a session. */
async function runInside(script: string, { connection, kysely }: Session): Promise<void> {
  const { brand } = connection.grammar;
  refuseTransactions(script, brand);
  if (brand === "SQLite") await refuseCascades(script, kysely);
  await connection.runScript(script, kysely);
}

/** Runs a script of MySQL with its entry. */
async function runWhole(script: MysqlScript, { connection, kysely }: Session): Promise<void> {
  const text = await withEntry(script, kysely);
  try {
    await connection.runScript(text, kysely);
  } finally {
    // Some drivers run the script in this session; if it is lost, its next statement fails.
    await sql`rollback`.execute(kysely).catch(() => {});
    await sql`set autocommit = 1`.execute(kysely).catch(() => {});
  }
}

/** Returns the names of the migrations in a result, or throws its error. */
export function namesOf(
  { error, results = [] }: MigrationResultSet,
  { action, connection }: { readonly action: Verb; readonly connection: DbConnection },
): readonly string[] {
  if (error === undefined) return results.map(({ migrationName }) => migrationName);
  const failed = results.find(({ status }) => status === "Error");
  if (failed) {
    const message = `Cannot ${action}: ${failed.migrationName} failed`;
    throw new DbError("Database", message, { cause: (error as Error | null)?.cause ?? error });
  }
  // The start of the migrator's own messages, such as that an executed migration is missing.
  if (error instanceof Error && error.message.startsWith("corrupted migrations")) {
    throw new DbError("Database", `Cannot ${action}: ${error.message}`, { cause: error });
  }
  throw error instanceof DbError
    ? error
    : dbError(action, connection.grammar.explain(error), error);
}
