/**
 * The settings and temporary tables of a session, which migrations can change.
 *
 * @module
 */
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { AnyTables } from "../connection/dialect.ts";
import type { Grammar } from "../connection/grammar.ts";

/** Whose settings are kept. */
export interface SessionOptions {
  /** The Kysely of the session. */
  readonly kysely: Kysely<AnyTables>;
  /** The database. */
  readonly grammar: Pick<Grammar, "brand">;
}

interface Setting {
  readonly name: string;
  readonly value: string | number;
}

/** Who a session of PostgreSQL acts for, which `reset all` leaves as it is. */
const IDENTITY: readonly string[] = ["session_authorization", "role"];

/** The settings of a session of PostgreSQL, as of a pooler, and its identity. */
const POSTGRES_SETTINGS: RawBuilder<Setting> = sql`
  select name, setting as value from pg_settings where source = 'session'
    and name not in ('transaction_isolation', 'transaction_read_only', 'transaction_deferrable')
  union all select name, current_setting(name)
    from unnest(array[${sql.join(IDENTITY.map((name) => sql.lit(name)))}]) as name`;

/** Those of MySQL that scripts set, such as those of dumps. */
const MYSQL_VARIABLES = [
  "autocommit",
  "character_set_client",
  "character_set_results",
  "collation_connection",
  "foreign_key_checks",
  "innodb_lock_wait_timeout",
  "lock_wait_timeout",
  "sql_mode",
  "sql_safe_updates",
  "time_zone",
  "unique_checks",
];

const PRAGMAS = [
  "foreign_keys",
  "ignore_check_constraints",
  "journal_mode",
  "legacy_alter_table",
  "locking_mode",
  "query_only",
  "recursive_triggers",
  "reverse_unordered_selects",
  "synchronous",
  "writable_schema",
].map((name) =>
  sql`select ${sql.lit(name)} as name, ${sql.ref(name)} as value
  from ${sql.table(`pragma_${name}`)}`
);
const SQLITE_SETTINGS: RawBuilder<Setting> = sql.join(PRAGMAS, sql` union all `) as RawBuilder<
  Setting
>;

/** What SQLite keeps in its session: virtual tables, whose parts go with them, before others. */
const SQLITE_TEMPORARY = sql<Temporary>`select type, name from sqlite_temp_master
  where type in ('view', 'trigger', 'table') and substr(name, 1, 7) <> 'sqlite_'
  order by type desc, sql like 'create virtual%' desc`;

interface Temporary {
  readonly type: string;
  readonly name: string;
}

/**
 * Runs a function, and then restores the settings of the session, and drops its temporary tables:
 * its connection is one of the application's, whose writes would check no foreign keys after
 * `set session_replication_role = replica`, and go to a temporary table of the same name. On MySQL,
 * those of the package have another one.
 */
export async function keepingSettings<T>(
  run: () => Promise<T>,
  { kysely, grammar: { brand } }: SessionOptions,
): Promise<T> {
  const restore = await RESTORERS[brand](kysely);
  let result: T;
  try {
    result = await run();
  } catch (error) {
    await restore().catch(() => {}); // a failed transaction restores them itself
    throw error;
  }
  await restore();
  return result;
}

type Restorer = (kysely: Kysely<AnyTables>) => Promise<() => Promise<void>>;

const RESTORERS: Readonly<Record<Grammar["brand"], Restorer>> = {
  PostgreSQL: postgresRestorer,
  SQLite: sqliteRestorer,
  MySQL: mysqlRestorer,
};

/** Its statements are a part of the transaction, whose connection a pooler may give to others. */
async function postgresRestorer(kysely: Kysely<AnyTables>): Promise<() => Promise<void>> {
  const { rows } = await POSTGRES_SETTINGS.execute(kysely);
  const set = ({ name, value }: Setting) =>
    sql`set_config(${sql.lit(name)}, ${sql.lit(value)}, false)`;
  const identity = rows.filter(({ name }) => IDENTITY.includes(name)).map((setting) =>
    sql`case when current_setting(${sql.lit(setting.name)}) <> ${sql.lit(setting.value)}
      then ${set(setting)} end`
  );
  const others = rows.filter(({ name }) => !IDENTITY.includes(name)).map(set);
  return async () => {
    await sql`select ${sql.join(identity)}`.execute(kysely);
    await sql`reset all`.execute(kysely);
    if (others.length > 0) await sql`select ${sql.join(others)}`.execute(kysely);
    await sql`discard temp`.execute(kysely);
  };
}

async function mysqlRestorer(kysely: Kysely<AnyTables>): Promise<() => Promise<void>> {
  const assigned = (assign: (name: string) => string) =>
    sql.raw(`set ${MYSQL_VARIABLES.map(assign).join(", ")}`);
  const current = async () =>
    (await sql<{ name: string }>`select database() as name`.execute(kysely)).rows[0]?.name ?? "";
  const database = await current();
  const saving = assigned((name) => `@fw_${name} = @@session.${name}`).execute(kysely);
  // Servers that resemble MySQL may not have them.
  if (!await saving.then(() => true, () => false)) return () => Promise.resolve();
  return async () => {
    await assigned((name) => `session ${name} = @fw_${name}`).execute(kysely);
    // Some drivers prepare each statement, which servers refuse for this one.
    if (await current() !== database) await sql`use ${sql.id(database)}`.execute(kysely);
  };
}

async function sqliteRestorer(kysely: Kysely<AnyTables>): Promise<() => Promise<void>> {
  // Drivers over the network may not have them.
  const read = () => SQLITE_SETTINGS.execute(kysely).then(({ rows }) => rows, () => []);
  const before = await read();
  const temporary = () => SQLITE_TEMPORARY.execute(kysely).then(({ rows }) => rows, () => []);
  const kept = new Set((await temporary()).map(({ name }) => name));
  return async () => {
    const now = new Map((await read()).map(({ name, value }) => [name, value]));
    for (const { name, value } of before) {
      if (now.get(name) === value) continue;
      await sql`pragma ${sql.raw(name)} = ${sql.lit(value)}`.execute(kysely);
    }
    for (const { type, name } of await temporary()) {
      if (kept.has(name)) continue;
      await sql`drop ${sql.raw(type)} if exists temp.${sql.id(name)}`.execute(kysely);
    }
  };
}
