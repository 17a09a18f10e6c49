/**
 * Databases of PostgreSQL that tests use one after another: to create one writes 300 files, which
 * takes longer than most tests.
 */
import process from "node:process";
import postgres from "postgres";
import { createDatabase } from "./servers.ts";

/** The variable that is set behind a pooler, which would use the sessions that are ended. */
export const POOLED = "TEST_POSTGRES_POOLED";

type Database = Awaited<ReturnType<typeof createDatabase>>;

/** Ends what tests left running, as that would hold locks; then drops all that they created. */
const EMPTY = `do $$
declare name text;
begin
  perform pg_terminate_backend(pid, 10000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid();
  for name in select nspname from pg_namespace where nspname !~ '^(pg_|information_schema$)' loop
    execute format('drop schema %I cascade', name);
  end loop;
  create schema public authorization pg_database_owner;
  grant usage on schema public to public;
  execute format('alter database %I reset all', current_database());
end $$`;

const emptied: Database[] = [];

/** An empty database, emptied at the end. Its file calls `dropDatabases` after its tests. */
export async function useDatabase(): Promise<Database> {
  const database = emptied.pop() ?? await createDatabase("postgres");
  if (process.env[POOLED]) return database;
  return {
    url: database.url,
    [Symbol.asyncDispose]: async () => {
      try {
        await empty(database.url);
      } catch (error) {
        await database[Symbol.asyncDispose]();
        throw error;
      }
      emptied.push(database);
    },
  };
}

/** Drops the databases that wait for a test. */
export async function dropDatabases(): Promise<void> {
  for (const database of emptied.splice(0)) await database[Symbol.asyncDispose]();
}

async function empty(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(EMPTY);
  } finally {
    await sql.end();
  }
}
