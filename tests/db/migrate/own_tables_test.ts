/** What migrations find of their own tables, in databases with odd other ones. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions, DbService } from "../../../src/db/mod.ts";
import { type Brand, testOnEach } from "../support/database.ts";
import { statusOf, withMigrations } from "./three_migrations.ts";

const BROKEN_VIEW = [
  "create table gone (id integer)",
  "create view broken as select * from gone",
  "drop table gone",
];
const OTHERS: Readonly<Record<Brand, readonly string[]>> = {
  sqlite: [...BROKEN_VIEW, "create table constructor (id integer)"],
  mysql: BROKEN_VIEW,
  postgres: [
    "create schema other",
    ...["kysely_migration", "kysely_migration_lock", "fw_migration_checksum"]
      .map((name) => `create table other.${name} (name text)`),
  ],
};

testOnEach("migrations run beside broken views, odd names and those of another schema", async (
  { url, brand },
) => {
  {
    await using db = await DbService.with({}).open(DbOptions.fromUrl(url));
    for (const statement of OTHERS[brand]) await sql.raw(statement).execute(db.kysely);
  }
  const migrations = { "1_notes": { up: "create table notes (id int)", down: "drop table notes" } };
  await withMigrations(url, migrations, async (them) => {
    assert.deepEqual(await statusOf(them), ["1_notes down"]);
    assert.deepEqual(await them.migrate(), ["1_notes"]);
    assert.deepEqual(await statusOf(them), ["1_notes run down"]);
    assert.deepEqual(await them.rollBack(), ["1_notes"]);
  });
});
