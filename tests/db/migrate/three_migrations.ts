/** Migrations of the tests of `DbMigrations`, and helpers to inspect them. */
import { sql } from "kysely";
import { DbMigrations, DbOptions, type Migrations } from "../../../src/db/mod.ts";
import { Db } from "../support/database.ts";

const NOTES = "create table notes (id integer not null primary key)";

/** A folder of two scripts and a module; the last has no `down`. */
export const FILES = {
  "001_notes.sql": NOTES,
  "001_notes.down.sql": "drop table notes;",
  "002_module.mjs": `export async function up(kysely) {
    await kysely.insertInto("notes").values({ id: 2 }).execute();
  }
  export const down = "delete from notes where id = 2";`,
  "003_script.sql": "insert into notes values (3)",
};
/** The names of the migrations in the folder. */
export const FILE_NAMES = ["001_notes", "002_module", "003_script"];

/** A map of three that can be undone. */
export const THREE = {
  "1_notes": { up: NOTES, down: "drop table notes" },
  "2_row": { up: "insert into notes values (2)", down: "delete from notes where id = 2" },
  "3_row": { up: "insert into notes values (3)", down: "delete from notes where id = 3" },
} satisfies Migrations;

/** The names of migrations with their status: `1_notes run down`. */
export async function statusOf(migrations: DbMigrations): Promise<readonly string[]> {
  return (await migrations.status()).map(
    ({ name, executedAt, canRollBack, isMissing, isEdited }) =>
      [
        name,
        executedAt && "run",
        canRollBack && "down",
        isMissing && "missing",
        isEdited && "edited",
      ].filter(Boolean).join(" "),
  );
}

/** Opens a database's migrations, and returns the result of a function on them. */
export async function withMigrations<T>(
  url: string,
  map: Migrations,
  use: (migrations: DbMigrations) => Promise<T>,
): Promise<T> {
  await using migrations = await DbMigrations.open(DbOptions.fromUrl(url).migrations(map));
  return await use(migrations);
}

/** The rows that the migrations have written. */
export async function noteIds(url: string): Promise<readonly unknown[]> {
  await using db = await Db.open(DbOptions.fromUrl(url));
  const { rows } = await sql<{ id: number }>`select id from notes order by id`.execute(db.kysely);
  return rows.map(({ id }) => id);
}
