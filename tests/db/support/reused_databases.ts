/** Databases of PostgreSQL that the tests of a file share: creating one takes longer than most tests. */
import { afterFile } from "../../support/test.ts";
import { createDatabase, runOnPostgres } from "./servers.ts";

type Database = Awaited<ReturnType<typeof createDatabase>>;

/** Ends what still uses a database, and leaves it as `create database` does. */
const EMPTY = `
do $$
declare it record;
begin
  loop
    perform pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid();
    exit when not found;
    perform pg_sleep(0.005);
    perform pg_stat_clear_snapshot();
  end loop;
  execute format('alter database %I reset all', current_database());
  for it in select nspname as name from pg_namespace
    where nspname !~ '^pg_' and nspname <> 'information_schema'
  loop
    execute format('drop schema %I cascade', it.name);
  end loop;
  create schema public;
  grant usage on schema public to public;
end $$`;

const idle: Database[] = [];

/** Returns an empty database; of PostgreSQL, one that a test before has used, if there is one. */
export async function emptyDatabase(brand: "postgres" | "mysql"): Promise<Database> {
  if (brand === "mysql") return await createDatabase(brand);
  const database = idle.pop() ?? await createDatabase(brand);
  return {
    url: database.url,
    async [Symbol.asyncDispose]() {
      // in the test that has used it: what it left to end in the background ends
      await runOnPostgres(database.url, EMPTY);
      idle.push(database);
    },
  };
}

/** Drops the databases after the last test of the file. */
export function dropReusedDatabases(): void {
  afterFile(async () => {
    for (const database of idle.splice(0)) await database[Symbol.asyncDispose]();
  });
}
