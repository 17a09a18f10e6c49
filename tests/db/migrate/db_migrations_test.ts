import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DbError, DbMigrations, DbOptions } from "../../../src/db/mod.ts";
import { Subprocess } from "../../support/subprocess.ts";
import { test } from "../../support/test.ts";
import { dbError, tableNames, temporaryFolder, testOnEach } from "../support/database.ts";
import { FILE_NAMES, FILES, noteIds, statusOf, THREE, withMigrations } from "./three_migrations.ts";
import { writeFiles } from "./write_files.ts";

testOnEach(
  "DbMigrations.open() and status() run nothing and make no table; migrate() runs all",
  async ({ url }) => {
    await using folder = await temporaryFolder();
    const path = folder.path("migrations");
    await writeFiles(path, FILES);
    const options = DbOptions.fromUrl(url).poolMax(1).schemaPath(path);
    await using migrations = await DbMigrations.open(options);
    assert.deepEqual(await migrations.status(), [
      { name: "001_notes", canRollBack: true, isMissing: false, isEdited: false },
      { name: "002_module", canRollBack: true, isMissing: false, isEdited: false },
      { name: "003_script", canRollBack: false, isMissing: false, isEdited: false },
    ]);
    assert.deepEqual(await tableNames(url), []);

    const startedAt = Date.now();
    assert.deepEqual(await migrations.migrate(), FILE_NAMES);
    assert.deepEqual(await migrations.migrate(), []);
    const status = await migrations.status();
    const times = status.map(({ executedAt }) => executedAt?.getTime() ?? 0);
    assert.ok(times.every((time) => time >= startedAt && time <= Date.now() + times.length));
    assert.deepEqual(status, [
      {
        name: "001_notes",
        executedAt: new Date(times[0]!),
        canRollBack: true,
        isMissing: false,
        isEdited: false,
      },
      {
        name: "002_module",
        executedAt: new Date(times[1]!),
        canRollBack: true,
        isMissing: false,
        isEdited: false,
      },
      {
        name: "003_script",
        executedAt: new Date(times[2]!),
        canRollBack: false,
        isMissing: false,
        isEdited: false,
      },
    ]);
    assert.deepEqual(await noteIds(url), [2, 3]);

    await writeFiles(path, { "004_late.sql": "insert into notes values (4)" });
    assert.deepEqual((await statusOf(migrations)).slice(2), ["003_script run", "004_late"]);
    assert.deepEqual(await migrations.migrate(), ["004_late"]);
    // Opening the database finds nothing to do.
    await (await options.open()).close();
    assert.deepEqual(await noteIds(url), [2, 3, 4]);
  },
);

test("DbMigrations looks after a database in memory", async () => {
  await withMigrations("sqlite::memory:", THREE, async (migrations) => {
    const due = ["1_notes down", "2_row down", "3_row down"];
    assert.deepEqual(await statusOf(migrations), due);
    assert.deepEqual(await migrations.migrate(), Object.keys(THREE));
    const run = ["1_notes run down", "2_row run down", "3_row run down"];
    assert.deepEqual(await statusOf(migrations), run);
    assert.deepEqual(await migrations.rollBack({ steps: 3 }), ["3_row", "2_row", "1_notes"]);
    assert.deepEqual(await statusOf(migrations), due);
    assert.deepEqual(await migrations.migrate(), Object.keys(THREE));
  });
});

testOnEach("DbMigrations takes a folder that holds no migration yet", async ({ url }) => {
  await using folder = await temporaryFolder();
  await writeFiles(folder.path("none"), { "README.md": "" });
  const options = DbOptions.fromUrl(url).schemaPath(folder.path("none"));
  await using migrations = await DbMigrations.open(options);
  assert.deepEqual(await migrations.status(), []);
  assert.deepEqual(await migrations.migrate(), []);
  assert.deepEqual(await migrations.rollBack(), []);
  assert.deepEqual(await tableNames(url), []);
});

testOnEach(
  "DbMigrations.status() tells what was run and is gone, which the others refuse",
  async ({ url }) => {
    await using folder = await temporaryFolder();
    const path = folder.path("migrations");
    await writeFiles(path, FILES);
    await using migrations = await DbMigrations.open(DbOptions.fromUrl(url).schemaPath(path));
    await migrations.migrate();
    for (const file of ["002_module.mjs", "003_script.sql"]) await rm(join(path, file));
    await writeFiles(path, { "004_late.sql": "insert into notes values (4)" });
    assert.deepEqual(await statusOf(migrations), [
      "001_notes run down",
      "002_module run missing",
      "003_script run missing",
      "004_late",
    ]);
    const refused = (action: string) => (error: unknown) => {
      assert.ok(error instanceof DbError && error.code === "Database", String(error));
      const reason = "corrupted migrations: previously executed migration 00[23]_\\w+ is missing$";
      assert.match(error.message, new RegExp(`^Cannot ${action}: ${reason}`));
      return true;
    };
    await assert.rejects(migrations.migrate(), refused("migrate"));
    for (const steps of [1, 3]) {
      await assert.rejects(migrations.rollBack({ steps }), refused("roll back"));
    }
    assert.deepEqual(await noteIds(url), [2, 3]);
  },
);

testOnEach("an instance without pending migrations does not wait for one that migrates", async (
  { url },
) => {
  await withMigrations(url, THREE, (them) => them.migrate());
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const up = () => {
    begun.resolve();
    return released.promise;
  };
  const running = withMigrations(url, { ...THREE, "4_long": { up } }, (them) => them.migrate());
  await Promise.race([begun.promise, running]);
  const timer = new AbortController();
  try {
    const late = delay(30_000, ["too late"], { signal: timer.signal });
    late.catch(() => {});
    const starting = withMigrations(url, THREE, (them) => them.migrate());
    assert.deepEqual(await Promise.race([starting, late]), []);
  } finally {
    timer.abort();
    released.resolve();
  }
  assert.deepEqual(await running, ["4_long"]);
});

testOnEach("DbMigrations.migrate() at once runs in one of several instances", async ({ url }) => {
  const ran = await Promise.all(
    [1, 2].map(() =>
      withMigrations(url, THREE, (them) => Promise.all([them.migrate(), them.migrate()]))
    ),
  );
  assert.deepEqual(ran.flat().filter((names) => names.length > 0), [Object.keys(THREE)]);
});

testOnEach("DbMigrations.migrate() at once runs in one of several processes", async ({ url }) => {
  const run = async () => {
    await using instance = new Subprocess("tests/db/migrate/migrate_fixture.ts", { args: [url] });
    return await instance.ended;
  };
  const ended = await Promise.all([run(), run(), run()]);
  const none = { code: 0, output: "none\n" };
  assert.deepEqual(ended.toSorted((a, b) => a.output < b.output ? -1 : 1), [
    { code: 0, output: "1_notes 2_row\n" },
    none,
    none,
  ]);
}, { slow: true });

testOnEach(
  "DbMigrations.migrate() names the migration that fails, as opening does",
  async ({ brand, url }) => {
    const failing = { ...THREE, "3_row": "insert into notes values (3); insert into nowhere" };
    await withMigrations(url, failing, async (migrations) => {
      for (const attempt of ["first", "second"]) {
        await assert.rejects(migrations.migrate(), (error: Error) => {
          dbError("Database", "Cannot migrate: 3_row failed")(error);
          return error.cause instanceof Error && !(error.cause instanceof DbError);
        });
        const before = brand === "mysql" ? " run" : "";
        const status = [`1_notes${before} down`, `2_row${before} down`, "3_row"];
        assert.deepEqual(await statusOf(migrations), status, attempt);
        if (brand === "mysql") assert.deepEqual(await noteIds(url), [2]);
      }
    });
    await withMigrations(url, THREE, (migrations) => migrations.migrate());
    assert.deepEqual(await noteIds(url), [2, 3]);
  },
);

test("DbMigrations.open() rejects options without migrations, and wrong limits", async () => {
  const options = DbOptions.fromUrl("sqlite:/nowhere/data.sqlite");
  await assert.rejects(DbMigrations.open(options), {
    name: "TypeError",
    message: "Cannot open migrations: the options name none",
  });
  await assert.rejects(DbMigrations.open(options.migrations(THREE).poolMin(11)), RangeError);
  await assert.rejects(DbMigrations.open(options.migrations(THREE)), DbError);
});

test("DbMigrations reports unreadable migrations when they are needed", async () => {
  await using folder = await temporaryFolder();
  const path = folder.path("migrations");
  const options = DbOptions.fromUrl("sqlite::memory:").schemaPath(path);
  await using migrations = await DbMigrations.open(options);
  const missing = dbError("Database", `Cannot migrate: ${path} cannot be read`);
  await assert.rejects(migrations.status(), missing);
  await assert.rejects(migrations.migrate(), missing);
  await assert.rejects(migrations.rollBack(), missing);
  await writeFiles(path, { "1_a.mjs": "" });
  await assert.rejects(migrations.status(), { name: "TypeError" });
});

testOnEach(
  "DbMigrations.close() waits for running calls, and rejects later ones",
  async ({ url }) => {
    const slow = { ...THREE, "3_row": { up: () => delay(100) } };
    const migrations = await DbMigrations.open(DbOptions.fromUrl(url).migrations(slow));
    const migrated = migrations.migrate();
    await migrations.close();
    assert.deepEqual(await migrated, Object.keys(THREE));
    await migrations.close();
    const isClosed = (error: unknown) => error instanceof DbError && error.code === "PoolClosed";
    await assert.rejects(migrations.status(), isClosed);
    await assert.rejects(migrations.migrate(), isClosed);
    await assert.rejects(migrations.rollBack(), isClosed);
    assert.deepEqual(await noteIds(url), [2]);
  },
);
