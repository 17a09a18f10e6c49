import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import postgres from "postgres";
import { underNamedLock } from "../../../src/db/migrate/schema_lock.ts";
import { type AnyTables, DbOptions } from "../../../src/db/mod.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { Db, testOnEach } from "../support/database.ts";
import { administer, createDatabase, SERVERS } from "../support/servers.ts";
import { withMigrations } from "./three_migrations.ts";

/** The lock that Kysely's migrator takes, as another tool would. */
const LOCK = "select pg_advisory_lock(3853314791062309107), pg_backend_pid() as pid";

test(
  "an instance that waits to change the schema reports for whom, every 10 s",
  () =>
    captureLogs(["fw"], async (records) => {
      await using database = await createDatabase("postgres");
      const other = postgres(database.url, { max: 1 });
      const [holder] = await other.unsafe(LOCK);
      const db = await Db.open(DbOptions.fromUrl(database.url));
      let isDone = false;
      const creating = db.createTables().then(() => isDone = true);
      const warnings = () => records.filter(({ level }) => level === "warning");
      while (warnings().length < 1) await delay(100);
      assert.equal(isDone, false);
      await other.end(); // and with it the lock
      await creating;
      assert.equal(await db.user.count(), 0);
      await db.close();
      const [warning, ...others] = warnings();
      assert.deepEqual([warning?.category, others], [["fw", "db"], []]);
      const session = `session ${holder?.["pid"]} of \\S+ at \\S+`;
      assert.match(
        warning?.message.join("") ?? "",
        new RegExp(`^Waiting to create tables: ${session} is changing the schema$`),
      );
    }),
  { skip: SERVERS.postgres.skip, slow: true },
);

test("a migration has the lock_timeout of its role", async () => {
  await using database = await createDatabase("postgres");
  const name = new URL(database.url).pathname.slice(1);
  await administer("postgres", `alter database ${name} set lock_timeout = '4s'`);
  const options = DbOptions.fromUrl(database.url).migrations({
    "001_limit": "create table seen as select current_setting('lock_timeout') as given",
  });
  await using db = await Db.open(options);
  const { rows } = await sql`select given from seen`.execute(db.kysely);
  assert.deepEqual(rows, [{ given: "4s" }]);
}, { skip: SERVERS.postgres.skip });

testOnEach(
  "databases of a server do not wait for each other's migrations",
  async ({ url, brand }) => {
    assert.ok(brand !== "sqlite");
    await using other = await createDatabase(brand);
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const up = () => {
      begun.resolve();
      return released.promise;
    };
    const running = withMigrations(url, { "1_long": { up } }, (them) => them.migrate());
    await Promise.race([begun.promise, running]);
    const timer = new AbortController();
    try {
      const migrating = withMigrations(
        other.url,
        { "1_row": "select 1" },
        (them) => them.migrate(),
      );
      const late = delay(30_000, ["too late"], { signal: timer.signal });
      late.catch(() => {});
      assert.deepEqual(await Promise.race([migrating, late]), ["1_row"]);
    } finally {
      timer.abort();
      released.resolve();
    }
    assert.deepEqual(await running, ["1_long"]);
  },
  { brands: ["postgres", "mysql"] },
);

testOnEach("underNamedLock() returns the result of a function that loses its session", async (
  { url },
) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  const result = await db.kysely.connection().execute((own) => {
    const kysely = own.withTables<AnyTables>();
    return underNamedLock(async () => {
      await sql`kill connection_id()`.execute(kysely).catch(() => {});
      return "done";
    }, { kysely, action: "migrate" });
  });
  assert.equal(result, "done");
}, { brands: ["mysql"] });
