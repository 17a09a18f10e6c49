import assert from "node:assert/strict";
import { getConfig, resetSync } from "@logtape/logtape";
import { sql } from "kysely";
import { DbOptions, type Migrations } from "../../../src/db/mod.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { withEnv } from "../../support/with_env.ts";
import { Db, temporaryFolder, testOnEach } from "../support/database.ts";
import { noteIds, statusOf, withMigrations } from "./three_migrations.ts";

const NOTES = "create table notes (\n  id integer not null primary key\n)";
const FIRST: Migrations = {
  "1_notes": { up: NOTES, down: "drop table notes" },
  "2_row": "insert into notes values (2)",
  "3_function": { up: () => Promise.resolve() },
};
const EDITED: Migrations = {
  "1_notes": { up: NOTES.replaceAll("\n", "\r\n"), down: "drop table notes -- edited" },
  "2_row": "insert into notes values (22)",
  "3_function": { up: () => Promise.reject(new Error("edited")) },
};

/** Opens a database, and returns the warnings that it logs. */
async function warningsOf(url: string, migrations: Migrations): Promise<readonly string[]> {
  const warnings: string[] = [];
  await captureLogs(["fw"], async (records) => {
    await using _db = await Db.open(DbOptions.fromUrl(url).migrations(migrations));
    const found = records.filter(({ level }) => level === "warning");
    warnings.push(...found.map(({ message }) => message.join("")));
  });
  return warnings;
}

testOnEach("a script that was edited after it ran is reported, and not run", async ({ url }) => {
  assert.deepEqual(await warningsOf(url, FIRST), []);
  assert.deepEqual(await warningsOf(url, FIRST), []);
  assert.deepEqual(await warningsOf(url, EDITED), [
    "Migration 2_row was edited after it ran, which has no effect on this database",
  ]);
  assert.deepEqual(await noteIds(url), [2]);
  await withMigrations(url, EDITED, async (migrations) => {
    const status = ["1_notes run down", "2_row run edited", "3_function run"];
    assert.deepEqual(await statusOf(migrations), status);
    assert.deepEqual(await migrations.migrate(), []);
  });
});

test("a warning of a migration is printed if no log is configured, as before an application serves", async () => {
  await using folder = await temporaryFolder();
  const url = `sqlite:${folder.path("data.sqlite")}`;
  await withMigrations(url, FIRST, (migrations) => migrations.migrate());
  resetSync(); // another file of the process may have opened the log
  const printed = async () => {
    const lines: string[] = [];
    const { warn } = console;
    console.warn = (line: string) => void lines.push(line);
    try {
      await (await Db.open(DbOptions.fromUrl(url).migrations(EDITED))).close();
    } finally {
      console.warn = warn;
    }
    assert.equal(getConfig(), null); // so that the application can still configure it
    return lines;
  };
  const text = await printed();
  const message = 'Migration "2_row" was edited after it ran, which has no effect on this database';
  assert.deepEqual(text.map((line) => line.replace(/^\d.+ \[WRN\] /, "")), [`fw·db: ${message}`]);
  await withEnv("FW_ENV", "production", async () => {
    const [{ "@timestamp": time, ...record }, ...others] = (await printed()).map((line) =>
      JSON.parse(line)
    );
    assert.deepEqual([Math.abs(Date.parse(time) - Date.now()) < 60_000, others], [true, []]);
    assert.deepEqual(record, {
      level: "WARN",
      message: message.replace('"2_row"', "{name}"),
      logger: "fw.db",
      properties: { name: "2_row" },
    });
  });
});

testOnEach("a version opens a database that a newer one has migrated", async ({ url }) => {
  const newer: Migrations = {
    ...FIRST,
    "4_row": "insert into notes values (4)",
    "5_none": "-- \nselect 1",
  };
  assert.deepEqual(await warningsOf(url, newer), []);
  assert.deepEqual(await warningsOf(url, FIRST), [
    "Migration 4_row has run, and is that of a newer version, or its file is missing",
    "Migration 5_none has run, and is that of a newer version, or its file is missing",
  ]);
  await withMigrations(url, FIRST, async (migrations) => {
    assert.deepEqual(await migrations.migrate(), []);
    assert.deepEqual((await statusOf(migrations)).slice(3), [
      "4_row run missing",
      "5_none run missing",
    ]);
    await assert.rejects(migrations.rollBack(), /4_row is missing$/);
  });
  assert.deepEqual(await noteIds(url), [2, 4]);
  assert.deepEqual(await warningsOf(url, newer), []);
});

testOnEach("a migration that runs again after a rollback is not edited", async ({ url }) => {
  const later: Migrations = { "1_notes": { up: `${NOTES} -- edited`, down: "drop table notes" } };
  await withMigrations(url, { "1_notes": FIRST["1_notes"]! }, (it) => it.migrate());
  await withMigrations(url, later, async (migrations) => {
    assert.deepEqual(await statusOf(migrations), ["1_notes run down edited"]);
    await migrations.rollBack();
    assert.deepEqual(await statusOf(migrations), ["1_notes down"]);
    await migrations.migrate();
    assert.deepEqual(await statusOf(migrations), ["1_notes run down"]);
  });
});

testOnEach("a database that has no checksums is migrated further", async ({ url }) => {
  await withMigrations(url, { "1_notes": FIRST["1_notes"]! }, (it) => it.migrate());
  await using db = await Db.open(DbOptions.fromUrl(url));
  await sql`drop table fw_migration_checksum`.execute(db.kysely);
  const edited = { "1_notes": "create table other (id integer)" };
  await withMigrations(url, edited, async (them) => {
    assert.deepEqual(await statusOf(them), ["1_notes run"]);
    assert.deepEqual(await them.migrate(), []);
  });
  const more = { ...edited, "2_row": FIRST["2_row"]! };
  await withMigrations(url, more, (them) => them.migrate());
  await withMigrations(url, { ...more, "2_row": "select 1" }, async (them) => {
    assert.deepEqual(await statusOf(them), ["1_notes run", "2_row run edited"]);
  });
});
