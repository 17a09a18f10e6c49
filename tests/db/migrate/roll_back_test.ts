import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { DbMigrations, DbOptions, type Migrations } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { Db, dbError, tableNames, temporaryFolder, testOnEach } from "../support/database.ts";
import { FILE_NAMES, FILES, noteIds, statusOf, THREE, withMigrations } from "./three_migrations.ts";
import { writeFiles } from "./write_files.ts";

const KYSELY_TABLES = ["fw_migration_checksum", "kysely_migration", "kysely_migration_lock"];

testOnEach("DbMigrations.rollBack() undoes the last, or several, newest first", async ({ url }) => {
  await using folder = await temporaryFolder();
  const path = folder.path("migrations");
  await writeFiles(path, { ...FILES, "003_script.down.sql": "delete from notes where id = 3" });
  const options = DbOptions.fromUrl(url).poolMax(1).schemaPath(path);
  await using migrations = await DbMigrations.open(options);
  assert.deepEqual(await migrations.rollBack({ steps: 2 }), []);
  assert.deepEqual(await tableNames(url), []);
  await migrations.migrate();
  assert.deepEqual(await migrations.rollBack(), ["003_script"]);
  assert.deepEqual(await noteIds(url), [2]);
  assert.deepEqual((await statusOf(migrations)).slice(1), [
    "002_module run down",
    "003_script down",
  ]);
  assert.deepEqual(await migrations.migrate(), ["003_script"]);
  assert.deepEqual(await migrations.rollBack({ steps: 2 }), ["003_script", "002_module"]);
  assert.deepEqual(await noteIds(url), []);
  assert.deepEqual(await migrations.rollBack({ steps: 9 }), ["001_notes"]);
  assert.deepEqual(await tableNames(url), KYSELY_TABLES);
  assert.deepEqual(await migrations.rollBack(), []);
  assert.deepEqual(await migrations.migrate(), FILE_NAMES);
});

testOnEach(
  "DbMigrations.rollBack() rolls nothing back if one of them has no down",
  async ({ url }) => {
    const { up } = THREE["2_row"];
    await withMigrations(url, { ...THREE, "2_row": up }, async (migrations) => {
      await migrations.migrate();
      for (const steps of [2, 3, 9]) {
        await assert.rejects(migrations.rollBack({ steps }), {
          name: "TypeError",
          message: "Cannot roll back: 2_row has no down",
        });
      }
      assert.deepEqual(await noteIds(url), [2, 3]);
      assert.deepEqual(await statusOf(migrations), [
        "1_notes run down",
        "2_row run",
        "3_row run down",
      ]);
      assert.deepEqual(await migrations.rollBack(), ["3_row"]);
    });
  },
);

testOnEach("DbMigrations.rollBack() names a down that fails", async ({ brand, url }) => {
  const fails = {
    ...THREE,
    "2_row": { up: THREE["2_row"].up, down: () => Promise.reject(new Error("oops")) },
  };
  await withMigrations(url, fails, async (migrations) => {
    await migrations.migrate();
    await assert.rejects(migrations.rollBack({ steps: 3 }), (error: Error) => {
      dbError("Database", "Cannot roll back: 2_row failed")(error);
      return error.cause instanceof Error && error.cause.message === "oops";
    });
    const last = brand === "mysql" ? "3_row down" : "3_row run down";
    assert.deepEqual(await statusOf(migrations), ["1_notes run down", "2_row run down", last]);
    assert.deepEqual(await noteIds(url), brand === "mysql" ? [2] : [2, 3]);
  });
  const undone = await withMigrations(url, THREE, (them) => them.rollBack({ steps: 3 }));
  assert.deepEqual(undone.slice(-2), ["2_row", "1_notes"]);
});

testOnEach("DbMigrations.rollBack() waits for one that migrates", async ({ url }) => {
  const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>();
  const slow: Migrations = {
    ...THREE,
    "3_row": {
      async up() {
        begin();
        await delay(200);
      },
      down: "select 1",
    },
  };
  const migrated = withMigrations(url, slow, (migrations) => migrations.migrate());
  await hasBegun;
  const undo = () => withMigrations(url, slow, (migrations) => migrations.rollBack());
  const undone = await Promise.all([undo(), undo()]);
  assert.deepEqual(await migrated, Object.keys(THREE));
  assert.deepEqual(undone.flat().toSorted(), ["2_row", "3_row"]);
  assert.deepEqual(await noteIds(url), []);
});

testOnEach(
  "DbMigrations.rollBack() may make a table anew that others refer to",
  async ({ url }) => {
    const tables = `create table p (id integer primary key, name text);
    create table c (id integer primary key, p_id integer references p (id) on delete cascade);
    insert into p values (1, 'a'); insert into c values (1, 1)`;
    const anew = (columns: string) =>
      `create table p2 (${columns}); insert into p2 select id, name from p;
     drop table p; alter table p2 rename to p`;
    const map = {
      "1": { up: tables, down: "delete from p" },
      "2": {
        up: anew("id integer primary key, name text not null"),
        down: anew("id integer primary key, name text"),
      },
    };
    await withMigrations(url, map, async (migrations) => {
      await migrations.migrate();
      assert.deepEqual(await migrations.rollBack(), ["2"]);
      await using db = await Db.open(DbOptions.fromUrl(url));
      const { rows } = await sql`select * from c`.execute(db.kysely);
      assert.deepEqual(rows, [{ id: 1, p_id: 1 }]);
      await assert.rejects(
        migrations.rollBack(),
        dbError("Database", "Cannot roll back: rows of c refer to missing rows"),
      );
      assert.deepEqual(await statusOf(migrations), ["1 run down", "2 down"]);
    });
  },
  { brands: ["sqlite"] },
);

testOnEach(
  "DbMigrations.rollBack() of names undoes nothing if others are the last under the lock",
  async ({ url }) => {
    const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>();
    const slow: Migrations = {
      ...THREE,
      "3_row": {
        up: THREE["3_row"].up,
        async down() {
          begin();
          await delay(200);
        },
      },
    };
    await withMigrations(url, slow, (migrations) => migrations.migrate());
    const undo = (names: readonly string[]) =>
      withMigrations(url, slow, (migrations) => migrations.rollBack({ names }));
    const undone = undo(["3_row"]);
    await hasBegun;
    await assert.rejects(
      undo(["3_row"]),
      dbError("Database", "Cannot roll back 3_row: the last is 2_row by now"),
    );
    assert.deepEqual(await undone, ["3_row"]);
    await assert.rejects(
      undo(["1_notes"]),
      dbError("Database", "Cannot roll back 1_notes: the last is 2_row by now"),
    );
    await assert.rejects(undo([]), RangeError);
    assert.deepEqual(await undo(["2_row", "1_notes"]), ["2_row", "1_notes"]);
    await assert.rejects(
      undo(["1_notes"]),
      dbError("Database", "Cannot roll back 1_notes: no migration has run"),
    );
  },
);

test("DbMigrations.rollBack() rejects steps other than a whole number of 1 or more", async () => {
  await withMigrations("sqlite::memory:", THREE, async (migrations) => {
    await migrations.migrate();
    for (const steps of [0, -1, 1.5, NaN, Infinity]) {
      await assert.rejects(migrations.rollBack({ steps }), {
        name: "RangeError",
        message: "Cannot roll back: steps is not a whole number of 1 or more",
      });
    }
    assert.deepEqual(await migrations.rollBack({ steps: undefined }), ["3_row"]);
    assert.deepEqual(await migrations.rollBack({ steps: Number.MAX_SAFE_INTEGER }), [
      "2_row",
      "1_notes",
    ]);
  });
});
