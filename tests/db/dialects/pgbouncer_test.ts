/** PostgreSQL by way of a real PgBouncer. */
import assert from "node:assert/strict";
import process from "node:process";
import postgres from "postgres";
import { run } from "../../../src/cli/system/programs.ts";
import { DbOptions } from "../../../src/db/mod.ts";
import { ROOT } from "../../support/project.ts";
import { test, testOn } from "../../support/test.ts";
import { Db, dbError } from "../support/database.ts";
import { POOLED } from "../support/emptied_databases.ts";
import { type PoolMode, SKIP_PGBOUNCER, startPgBouncer } from "../support/pgbouncer.ts";
import { administer, createDatabase, SERVERS } from "../support/servers.ts";

const MODES: readonly PoolMode[] = ["session", "transaction"];
const denoTest = testOn(["deno"], "it starts the tests that others run directly");

/**
 * What does not depend on the words, process ids and connections of the server itself; for
 * sessions, which are those of the server, only what uses their state.
 */
const SUITES: Readonly<Record<PoolMode, readonly string[]>> = {
  session: ["transaction", "migrate"],
  transaction: ["write", "transaction", "repository_test.ts"],
};

/** More suites of a pooler that is in use by transactions. */
const MORE_SUITES = ["query", "migrate", "model", "property"];

/** Settings with which it closes no connection because the machine is busy. */
const PATIENT = `max_client_conn = 1000
query_wait_timeout = 0
client_login_timeout = 0
server_connect_timeout = 120
server_login_retry = 1`;

/** Runs a query on a connection of its own, which no pooler has. */
async function ask(url: string, query: string): Promise<readonly unknown[][]> {
  const sql = postgres(url, { max: 1 });
  try {
    return [...await sql.unsafe(query).values()];
  } finally {
    await sql.end();
  }
}

/** Runs suites, and reports whether PgBouncer has crashed. */
async function runSuites(mode: PoolMode, names: readonly string[]) {
  await using bouncer = await startPgBouncer(mode, PATIENT);
  const suites = names.map((name) => `tests/db/${name}`);
  const args = ["test", "-A", "--no-check", "--parallel", "--filter=(postgres)", ...suites];
  const url = bouncer.url(SERVERS.postgres.url);
  const env = { TEST_POSTGRES_URL: url, [POOLED]: "true", NO_COLOR: "1" };
  const ending = await run([process.execPath, ...args], { cwd: ROOT, env });
  return { ...ending, crash: bouncer.crash() };
}

for (const mode of MODES) {
  test(`two instances boot at once and work through PgBouncer in ${mode} mode`, async () => {
    await using database = await createDatabase("postgres");
    await using bouncer = await startPgBouncer(mode);
    const migrations = { "001_marks": "create table marks (id int primary key)" };
    const options = DbOptions.fromUrl(bouncer.url(database.url)).migrations(migrations);
    const instances = await Promise.all([Db.open(options), Db.open(options)]);
    await Promise.all(instances.map((db) => db.createTables()));
    const person = { tenant_id: "t", name: "Ada" };
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        instances[i % 2]!.transaction(async () => {
          const { id } = await instances[i % 2]!.user.create({
            data: { ...person, email: `${i}` },
          });
          await instances[i % 2]!.user.update({ where: { id }, data: { name: `${i}` } });
        })),
    );
    const names = await instances[0]!.user.findMany({ select: { name: true, email: true } });
    assert.equal(names.filter(({ name, email }) => name === email).length, 40);
    assert.deepEqual(await ask(database.url, "select name from kysely_migration"), [["001_marks"]]);
    const locks = `select pid from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`;
    assert.deepEqual(await ask(database.url, locks), []);
    await Promise.all(instances.map((db) => db.close()));
  }, { skip: SKIP_PGBOUNCER });

  denoTest(`the tests of the data layer pass through PgBouncer in ${mode} mode`, async () => {
    await checkSuites(mode, SUITES[mode]);
  }, { skip: SKIP_PGBOUNCER, slow: true });
}

denoTest("more tests of the data layer pass through PgBouncer in transaction mode", async () => {
  await checkSuites("transaction", MORE_SUITES);
}, { skip: SKIP_PGBOUNCER, slow: "long" });

async function checkSuites(mode: PoolMode, names: readonly string[]): Promise<void> {
  let ending = await runSuites(mode, names);
  if (ending.crash !== undefined) { // which is no failure of the suites
    console.log(`The suites run once more. ${ending.crash}`);
    ending = await runSuites(mode, names);
  }
  const { code, stdout, stderr, crash = "" } = ending;
  const [, passed] = /\| (\d+) passed \| 0 failed/.exec(stdout) ?? [];
  assert.ok(code === 0 && Number(passed) > 50, stdout + stderr + crash);
}

test(
  "PostgreSQL prepares statements, unless a pooler is in between or prepare(false) is called",
  async () => {
    await using database = await createDatabase("postgres");
    await using bouncer = await startPgBouncer("session");
    const direct = DbOptions.fromUrl(database.url);
    const pooled = DbOptions.fromUrl(bouncer.url(database.url));
    const cases = [
      [direct, 1],
      [direct.prepare(false), 0],
      [DbOptions.fromUrl(`${database.url}?prepare=false`), 0],
      [DbOptions.fromUrl(`${database.url}?prepare=false`).prepare(true), 1],
      [pooled, 0],
      [pooled.prepare(true), 1],
      [DbOptions.fromUrl(`${bouncer.url(database.url)}?prepare=true`), 1],
      [DbOptions.fromUrl(`${bouncer.url(database.url)}?schema=public&application_name=shop`), 0],
      [DbOptions.fromUrl(`${database.url}?pgbouncer=true`), 0],
      [DbOptions.fromUrl(`${database.url}?statement_cache_size=0`), 0],
    ] as const;
    for (const [options, expected] of cases) {
      await using db = await Db.open(options.poolMax(1));
      await db.createTables();
      await db.user.findUnique({ where: { email: "ada@example.org" } });
      const prepared = await db.kysely.selectFrom("pg_prepared_statements" as "users")
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .where("statement" as "email", "like", '%from "users"%').execute();
      assert.deepEqual(prepared.map(({ count }) => Number(count)), [expected]);
    }
  },
  { skip: SKIP_PGBOUNCER },
);

test("PostgreSQL refuses a pooler that drops the settings of exact values", async () => {
  await using database = await createDatabase("postgres");
  const name = new URL(database.url).pathname.slice(1);
  await administer("postgres", `alter database ${name} set bytea_output = 'escape'`);
  const dropped = "ignore_startup_parameters = extra_float_digits, bytea_output";
  await using bouncer = await startPgBouncer("transaction", dropped);
  const { host } = new URL(bouncer.url(database.url));
  await assert.rejects(
    Db.open(DbOptions.fromUrl(bouncer.url(database.url))),
    dbError(
      "Database",
      `Cannot open PostgreSQL database ${host}/${name}: a pooler drops extra_float_digits or ` +
        "bytea_output, so set them for the role",
    ),
  );
}, { skip: SKIP_PGBOUNCER });
