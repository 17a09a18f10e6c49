/** Scripts that run in another session than the one that has the lock of the schema. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { MYSQL_KEY } from "../../../src/db/migrate/schema_lock.ts";
import { DbOptions } from "../../../src/db/mod.ts";
import { Subprocess } from "../../support/subprocess.ts";
import { type Brand, Db, testOnEach } from "../support/database.ts";
import { runningStatements } from "../support/sessions.ts";
import { statusOf, withMigrations } from "./three_migrations.ts";

const SCRIPT: Readonly<Record<Brand, string>> = {
  postgres: "-- no transaction\nupdate notes set bal = bal * 100",
  mysql: "update notes set bal = bal * 100",
  sqlite: "",
};

/** How long the session with the lock has been idle, and the other one has run its statement. */
const TIMES = {
  postgres: `select extract(epoch from clock_timestamp() - state_change) as seconds
    from pg_stat_activity where datname = current_database() and (wait_event_type = 'Lock'
      or pid in (select pid from pg_locks where locktype = 'advisory' and granted))
    order by wait_event_type = 'Lock'`,
  mysql: `select time as seconds from information_schema.processlist
    where db = database() and (info like 'update notes%'
      or id = is_used_lock(${MYSQL_KEY})) order by info is not null`,
};

/** A table whose row is locked until `release()`. */
async function lockedNotes(url: string) {
  // longer than the test may take
  const db = await Db.open(DbOptions.fromUrl(url).transactionTimeoutMs(600_000));
  await sql`create table notes (id int primary key, bal int not null)`.execute(db.kysely);
  await sql`insert into notes values (1, 1)`.execute(db.kysely);
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locking = db.transaction(async () => {
    await sql`select bal from notes for update`.execute(db.kysely);
    locked.resolve();
    await released.promise;
  });
  await Promise.race([locked.promise, locking]);
  const release = async () => {
    released.resolve();
    await locking;
  };
  return {
    release,
    async balance() {
      const { rows } = await sql<{ bal: unknown }>`select bal from notes`.execute(db.kysely);
      return rows[0]?.bal;
    },
    async seconds(query: string) {
      const { rows } = await sql<{ seconds: unknown }>`${sql.raw(query)}`.execute(db.kysely);
      return rows.map(({ seconds }) => Number(seconds));
    },
    async [Symbol.asyncDispose]() {
      await release();
      await db.close();
    },
  };
}

/** Returns how many sessions are updating the row. */
async function updating(brand: "postgres" | "mysql", url: string): Promise<number> {
  const running = await runningStatements(brand, url);
  return running.filter((statement) => /update notes/.test(statement)).length;
}

testOnEach("an instance waits for the script of one that was killed", async ({ brand, url }) => {
  assert.ok(brand !== "sqlite");
  await using notes = await lockedNotes(url);
  const script = SCRIPT[brand];
  await using instance = new Subprocess("tests/db/migrate/script_fixture.ts", {
    args: [url, script],
  });
  const ended = instance.ended.then(({ output }) => assert.fail(output));
  while (await updating(brand, url) < 1) await Promise.race([delay(20), ended]);
  ended.catch(() => {});
  instance.kill("SIGKILL");
  await instance.ended;
  await withMigrations(url, { "1_script": script }, async (them) => {
    const migrating = them.migrate();
    await Promise.race([delay(1000), migrating]);
    const count = await updating(brand, url);
    await notes.release();
    await migrating;
    assert.equal(count, 1);
    assert.deepEqual(await statusOf(them), ["1_script run"]);
  });
  // PostgreSQL has run it without a transaction, and so without its entry.
  if (brand === "mysql") assert.equal(await notes.balance(), 100);
}, { brands: ["postgres", "mysql"], slow: ["postgres"] });

testOnEach("the session that has the lock is not idle while another one runs a script", async (
  { brand, url },
) => {
  assert.ok(brand !== "sqlite");
  await using notes = await lockedNotes(url);
  await withMigrations(url, { "1_script": SCRIPT[brand] }, async (them) => {
    const migrating = them.migrate();
    let [idle, running] = [0, 0];
    while (idle + 1 >= running && running < 30) {
      [idle = 0, running = 0] = await notes.seconds(TIMES[brand]);
      await Promise.race([delay(100), migrating]);
    }
    await notes.release();
    assert.deepEqual(await migrating, ["1_script"]);
    assert.ok(idle + 1 < running, `idle for ${idle} s of ${running} s`);
  });
}, { brands: ["postgres", "mysql"], slow: ["postgres"] });
