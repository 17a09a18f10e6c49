/**
 * Runs migrations and rolls them back.
 *
 * @module
 */
import {
  CompiledQuery,
  InsertQueryNode,
  type Kysely,
  type KyselyPlugin,
  OrActionNode,
  sql,
} from "kysely";
import {
  DEFAULT_MIGRATION_TABLE,
  type Migration,
  type MigrationResultSet,
  Migrator,
  NO_MIGRATIONS,
} from "kysely/migration";
import type { DbConnection } from "../connection/connection.ts";
import type { AnyTables } from "../connection/dialect.ts";
import { DbError, dbError } from "../errors.ts";
import { refuseCascades } from "./dropped_tables.ts";
import type { Migrations, MigrationSource, MigrationStep } from "./migrations.ts";
import {
  type MigrationStatus,
  migrationStatuses,
  type MysqlScript,
  scriptOf,
  storeChecksum,
  withEntry,
} from "./migration_status.ts";
import { migratorKysely } from "./own_tables.ts";
import { changeSchema } from "./schema_change.ts";
import { POSTGRES_SCRIPT_MARK } from "./schema_lock.ts";
import { keepingSettings } from "./session_settings.ts";
import { refuseSessionStatements } from "./session_statements.ts";
import { isOutsideTransaction, refuseTransactions, splitScript } from "./script.ts";
import { warn } from "./warning.ts";

type Verb = "migrate" | "roll back";

/** A script, or a function. */
type Action = string | ((kysely: Kysely<AnyTables>) => Promise<void>);

/**
 * Runs the pending migrations in their order, under a lock, and returns their names; if none is
 * pending, it does not wait for others that migrate. Logs a warning
 * for each executed one whose script was edited, or that a newer version has added.
 *
 * @throws {TypeError} if the migrations are invalid
 * @throws {DbError} if they cannot be read; `Database` if one fails: PostgreSQL and SQLite then
 * roll all of them back but those before one that runs outside a transaction, MySQL keeps
 * those before the failure, and of its script the statements up to the last that changes a schema
 */
export async function migrate(
  connection: DbConnection,
  source: MigrationSource,
): Promise<readonly string[]> {
  const { brand } = connection.grammar;
  const migrations = await source(brand);
  // Without the lock, an instance starts that has nothing to migrate while another one migrates.
  const found = await migrationStatuses(connection.kysely, { migrations, brand })
    .catch(() => undefined); // under the lock, it fails with a code
  if (found && isDone(found, migrations)) {
    found.forEach(warnOf);
    return [];
  }
  const ran: string[] = [];
  let isFirst = true;
  for (;;) {
    const { names, alone, statuses } = await changeSchema(connection, {
      action: "migrate",
      recreates: true,
      async run(kysely) {
        const statuses = await migrationStatuses(kysely, { migrations, brand });
        if (isDone(statuses, migrations)) return { names: [], alone: undefined, statuses };
        const alone = nextAlone(statuses, { connection, migrations });
        const steps = Object.entries(migrations).filter(([name]) => !alone || name < alone);
        const migrator = makeMigrator(connection, {
          kysely,
          migrations: Object.fromEntries(steps),
        });
        const names = namesOf(await migrator.migrateToLatest(), { action: "migrate", connection });
        return { names, alone, statuses };
      },
    });
    if (isFirst) statuses.forEach(warnOf);
    isFirst = false;
    ran.push(...names);
    if (alone === undefined) return ran;
    ran.push(...await runAlone(alone, { connection, migrations }));
  }
}

/** What to roll back. */
export interface RollBack {
  readonly source: MigrationSource;
  /** How many of the last migrations. */
  readonly steps: number;
  /** The names of the last ones, newest first, if the caller has chosen them before the lock. */
  readonly names?: readonly string[] | undefined;
}

/**
 * Rolls back the last `steps` executed migrations, newest first, under a lock, and
 * returns their names.
 *
 * @throws {TypeError} if the migrations are invalid, or one of those has no `down`
 * @throws {DbError} if they cannot be read; `Database` if their names are others, or one is missing
 * or fails: PostgreSQL and SQLite then roll back none of them, MySQL those before the failure, and
 * of its script the statements up to the last that changes a schema
 */
export async function rollBack(
  connection: DbConnection,
  { source, steps, names }: RollBack,
): Promise<readonly string[]> {
  const { brand } = connection.grammar;
  const migrations = await source(brand);
  const run = async (kysely: Kysely<AnyTables>) => {
    const statuses = await migrationStatuses(kysely, { migrations, brand });
    const executed = statuses.filter(({ executedAt }) => executedAt);
    const last = executed.slice(-steps).toReversed();
    if (names) checkNames(names, last);
    if (executed.length === 0) return [];
    last.forEach(checkDown);
    const target = executed.at(-steps - 1)?.name ?? NO_MIGRATIONS;
    const migrator = makeMigrator(connection, { kysely, migrations });
    return namesOf(await migrator.migrateTo(target), { action: "roll back", connection });
  };
  return await changeSchema(connection, { action: "roll back", recreates: true, run });
}

/** What the caller has chosen may have been rolled back meanwhile, while it waited for the lock. */
function checkNames(names: readonly string[], last: readonly MigrationStatus[]): void {
  const found = last.map(({ name }) => name);
  if (names.join() === found.join()) return;
  const now = found[0] === undefined ? "no migration has run" : `the last is ${found[0]} by now`;
  throw new DbError("Database", `Cannot roll back ${names.join(", ")}: ${now}`);
}

/** Kysely would skip it, and undo earlier ones. It refuses a missing one itself. */
function checkDown({ name, canRollBack, isMissing }: MigrationStatus): void {
  if (canRollBack || isMissing) return;
  throw new TypeError(`Cannot roll back: ${name} has no down`);
}

/**
 * Checks whether the database has run all of the migrations, and only later ones besides: those of
 * a newer version, beside which this one still runs, or again after it.
 */
function isDone(statuses: readonly MigrationStatus[], migrations: Migrations): boolean {
  const count = Object.keys(migrations).length;
  const isKnown = ({ isMissing, executedAt }: MigrationStatus) => !isMissing && executedAt;
  return statuses.slice(0, count).filter(isKnown).length === count &&
    (count > 0 || statuses.length === 0);
}

function warnOf({ name, isMissing, isEdited }: MigrationStatus): void {
  if (!isMissing && !isEdited) return;
  const how = isMissing
    ? "has run, and is that of a newer version, or its file is missing"
    : "was edited after it ran, which has no effect on this database";
  warn(`Migration {name} ${how}`, { name });
}

interface Source {
  readonly connection: DbConnection;
  readonly migrations: Migrations;
}

/**
 * Returns the first pending migration that runs outside a transaction, unless the migrator refuses
 * the order. MySQL runs all of them so.
 */
function nextAlone(
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
async function runAlone(
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

function makeMigrator(
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
function namesOf(
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
