import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DbMigrations, DbOptions } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { dbError, tableNames, temporaryFolder, testOnEach } from "../support/database.ts";
import { writeFiles } from "./write_files.ts";

const MODULE = "export const up = 'select 1', down = 'select 2'";
const NONE: Readonly<Record<string, string>> = {};

test("DbOptions.schemaPath() rejects an invalid set of migrations", async () => {
  await using folder = await temporaryFolder();
  const ok = "select 1";
  const table: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{ "users.sql": ok }, "users is not a number, or one and a name: 0001_name"],
    [{ "1-users.sql": ok }, "1-users is not a number, or one and a name: 0001_name"],
    [{ "1_a.test.ts": "" }, "1_a.test is not a number, or one and a name: 0001_name"],
    [{ "1_a.down.ts": "" }, "1_a.down is not a number, or one and a name: 0001_name"],
    [{ "1_a.sql": ok, "1_b.sql": ok }, "1_a and 1_b have one number"],
    [{ "1_a.sql": ok, "1_a.mjs": MODULE }, "1_a has its up in two files"],
    [{ "1_a.down.sql": ok, "1_a.mjs": MODULE }, "1_a has its down in two files"],
    [
      { "8_a.sql": ok, "9_b.sql": ok, "10_c.sql": ok },
      "the numbers of 10_c and 8_a are of different length",
    ],
    [
      { "001_a.sql": ok, "02_b.sql": ok },
      "the numbers of 001_a and 02_b are of different length",
    ],
    [{ "1_a.mjs": "export const down = 1" }, "1_a has no up"],
    [{ "1_a.mjs": "export const up = 1" }, "1_a has no up"],
    [{ "1_a.down.sql": ok }, "1_a has no up"],
    [
      { "1_a.mjs": "export const up = 'select 1', down = 1" },
      "the down of 1_a is neither a script nor a function",
    ],
    [{ "1_a.mjs": "export const up = '-- to be written'" }, "1_a is empty"],
    [{ "1_a.sql": "-- to be written", "1_a.down.sql": ok }, "1_a has no up"],
    [
      { "1_a.sql": ok, "2_b.sql": "-- to be written", "2_b.down.sql": "", "3_c.sql": ok },
      "2_b is empty, and 3_c is after it: write its statements, or remove it",
    ],
  ];
  for (const [index, [files, reason]] of table.entries()) {
    const path = folder.path(`${index}`);
    await writeFiles(path, files);
    await assert.rejects(DbOptions.fromUrl("sqlite::memory:").schemaPath(path).open(), {
      name: "TypeError",
      message: `Cannot migrate: ${reason}`,
    });
  }
});

testOnEach("DbOptions.schemaPath() takes the folder of the database", async ({ url, brand }) => {
  await using folder = await temporaryFolder();
  const path = folder.path("migrations");
  await writeFiles(path, {
    "postgres/0001_a.sql": "create table of_postgres (id int)",
    "mysql/0001_a.sql": "create table of_mysql (id int)",
    "sqlite/0001_a.sql": "create table of_sqlite (id int)",
    "migrations_test.ts": "",
  });
  const options = DbOptions.fromUrl(url).schemaPath(path);
  await (await options.open()).close();
  assert.ok((await tableNames(url)).includes(`of_${brand}`));
  await using migrations = await DbMigrations.open(options);
  assert.deepEqual((await migrations.status()).map(({ name }) => name), ["0001_a"]);
  const other = brand === "mysql" ? "sqlite" : "mysql";
  await writeFiles(path, { "0002_b.sql": "select 1" });
  await assert.rejects(migrations.status(), {
    name: "TypeError",
    message: `Cannot migrate: ${path} has 0002_b.sql beside the folder postgres`,
  });
  await rm(join(path, "0002_b.sql"));
  for (const name of ["postgres", "mysql", "sqlite"]) {
    if (name !== other) await rm(join(path, name), { recursive: true });
  }
  await assert.rejects(migrations.status(), {
    name: "TypeError",
    message: `Cannot migrate: ${path} has the folder ${other}, and none named ${brand}`,
  });
});

testOnEach("DbOptions.schemaPath() takes an empty folder", async ({ url }) => {
  await using folder = await temporaryFolder();
  const path = folder.path("migrations");
  const options = DbOptions.fromUrl(url).schemaPath(path);
  const others = { "README.md": "", "helper.ts": "throw new Error('never loaded')" };
  for (const files of [NONE, others]) {
    await writeFiles(path, files);
    await (await options.open()).close();
    assert.deepEqual(await tableNames(url), []);
  }
  await writeFiles(path, { "1_a.mjs": MODULE });
  await (await options.open()).close();
  await rm(join(path, "1_a.mjs"));
  await assert.rejects(
    options.open(),
    dbError(
      "Database",
      "Cannot migrate: corrupted migrations: previously executed migration 1_a is missing",
    ),
  );
});

testOnEach(
  "DbOptions.schemaPath() runs a script once it is written, and not before",
  async ({ url }) => {
    await using folder = await temporaryFolder();
    const path = folder.path("migrations");
    const options = DbOptions.fromUrl(url).schemaPath(path);
    const unwritten = "-- to be written;\n/* soon */ ;\n";
    await writeFiles(path, { "1_a.sql": unwritten, "1_a.down.sql": unwritten });
    await (await options.open()).close();
    assert.deepEqual(await tableNames(url), []);
    const { executedAt: _, ...status } = await firstStatus(
      options,
      () => writeFiles(path, { "1_a.sql": "create table notes (id integer)" }),
    );
    assert.deepEqual(status, {
      name: "1_a",
      canRollBack: false,
      isMissing: false,
      isEdited: false,
    });
    assert.ok((await tableNames(url)).includes("notes"));
  },
);

test("DbOptions.schemaPath() names files that cannot be read", async () => {
  await using folder = await temporaryFolder();
  await writeFiles(folder.path("broken"), { "1_a.mjs": "export nonsense" });
  await writeFiles(folder.path("throws"), { "1_a.mjs": "throw new Error('oops')" });
  await writeFiles(folder.path("nested"), { "1_a.sql/2_b.sql": "" });
  const open = (path: string) => DbOptions.fromUrl("sqlite::memory:").schemaPath(path).open();
  for (
    const name of ["missing", "missing.sql", "broken/1_a.mjs", "throws/1_a.mjs", "nested/1_a.sql"]
  ) {
    const path = folder.path(name);
    await assert.rejects(open(path.replace(/\/1_a.*/, "")), (error: Error) => {
      dbError("Database", `Cannot migrate: ${path} cannot be read`)(error);
      return error.cause instanceof Error;
    });
  }
  const path = folder.path("broken/1_a.mjs");
  await assert.rejects(open(path), {
    name: "TypeError",
    message: `Cannot migrate: ${path} is neither a folder nor a .sql file`,
  });
});

testOnEach("DbOptions.schemaPath() refuses a script that is not UTF-8", async ({ url }) => {
  await using folder = await temporaryFolder();
  await writeFiles(folder.path("migrations"), { "1_a.sql": "create table notes (id integer)" });
  const file = folder.path("migrations/2_b.sql");
  await writeFile(file, Uint8Array.from("select 'C\xf4te'", (char) => char.charCodeAt(0)));
  const options = DbOptions.fromUrl(url).schemaPath(folder.path("migrations"));
  await assert.rejects(options.open(), {
    name: "TypeError",
    message: `Cannot migrate: ${file} is not UTF-8`,
  });
  assert.deepEqual(await tableNames(url), []);
});

testOnEach(
  "a script with a NUL character, at which drivers end it, is refused",
  async ({ url }) => {
    const script = "create table notes (id integer); -- \0\ninsert into notes values (1)";
    const options = DbOptions.fromUrl(url).migrations({ "1_a": script });
    await assert.rejects(options.open(), dbError("Database", "Cannot migrate: 1_a failed"));
  },
);

test("DbOptions.migrations() checks a map at once, and copies it", async () => {
  const options = DbOptions.fromUrl("sqlite::memory:");
  assert.throws(() => options.migrations(NONE), {
    name: "TypeError",
    message: "Cannot migrate: the map is empty",
  });
  const alike = { "1_a": "select 1", "1_b": "select 1" };
  for (const map of [NONE, { users: "select 1" }, alike]) {
    assert.throws(() => options.migrations(map), TypeError);
  }
  const map = { "1": "select 1" };
  const taken = options.migrations(map);
  map["1"] = "nonsense";
  await (await taken.open()).close();
});

/** Writes a first migration, runs it, and checks its result. */
async function firstStatus(options: DbOptions, write: () => Promise<void>) {
  await using migrations = await DbMigrations.open(options);
  assert.deepEqual([await migrations.status(), await migrations.migrate()], [[], []]);
  await write();
  assert.deepEqual(await migrations.migrate(), ["1_a"]);
  const [status] = await migrations.status();
  return status ?? assert.fail();
}
