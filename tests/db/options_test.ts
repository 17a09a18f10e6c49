import assert from "node:assert/strict";
import { inspect } from "node:util";
import { DbOptions } from "../../src/db/mod.ts";
import { test } from "../support/test.ts";
import { withEnv } from "../support/with_env.ts";
import { Db, temporaryFolder } from "./support/database.ts";

test("DbOptions.fromUrl() rejects an invalid URL without repeating a part of it", () => {
  const MALFORMED =
    "it is malformed; in a password, percent-encode everything but letters and digits";
  const NO_SCHEME = "it does not begin with sqlite:, postgresql:, postgres:, mysql: or mariadb:";
  const table: readonly (readonly [string, string])[] = [
    ["", NO_SCHEME],
    ["hunter2", NO_SCHEME],
    ["ada:hunter2@localhost/db", NO_SCHEME],
    ["hunter2://ada@localhost/db", NO_SCHEME],
    [" sqlite:hunter2", NO_SCHEME],
    ["sqlite:", "it names no SQLite file"],
    ["sqlite://", "it names no SQLite file"],
    ["postgres://ada:hunter2@[/db", MALFORMED],
    ["postgres://ada:p@ss/hunter2@localhost/db", MALFORMED],
    ["mysql://ada:hunter2@localhost/db#x", MALFORMED],
    ["mysql:ada:hunter2", "it names no host"],
    ["mysql:///hunter2", "it names no host"],
    ["postgresql://ada:hunter2@localhost", "it names no database"],
    ["mariadb://ada:hunter2@localhost/", "it names no database"],
    ["postgres://ada:hunter2@localhost/db?prepare=maybe", "prepare is neither true nor false"],
  ];
  for (const [url, reason] of table) {
    const message = `Cannot read database URL: ${reason}`;
    assert.throws(() => DbOptions.fromUrl(url), { name: "TypeError", message });
  }
});

test("DbOptions.fromUrl() reads the forms of a SQLite URL", async () => {
  await using folder = await temporaryFolder();
  for (const [form, name] of [["sqlite:", "a"], ["sqlite://", "b"]] as const) {
    const path = folder.path(`${name} é?%20.sqlite`);
    await using db = await Db.open(DbOptions.fromUrl(form + path));
    await db.createTables();
    await using again = await Db.open(DbOptions.fromUrl(`sqlite:${path}`));
    assert.equal(await again.user.count(), 0);
  }
});

test("DbOptions.fromEnv() reads DATABASE_URL", async () => {
  await withEnv("DATABASE_URL", "sqlite::memory:", async () => {
    await using db = await Db.open(DbOptions.fromEnv());
    await db.ping();
  });
  for (const url of [undefined, ""]) {
    await withEnv("DATABASE_URL", url, () =>
      assert.throws(() => DbOptions.fromEnv(), {
        name: "TypeError",
        message: "Cannot read DATABASE_URL: it is not set",
      }));
  }
});

test("DbOptions is immutable and checks the limits of its pool", async () => {
  const options = DbOptions.fromUrl("sqlite::memory:");
  assert.notEqual(options.poolMin(20), options);
  await assert.rejects(options.poolMin(20).open(), {
    name: "RangeError",
    message: "Cannot open database: poolMin 20 is over poolMax 10",
  });
  for (const opened of [options, options.poolMin(20).poolMax(30), options.poolMax(1)]) {
    await (await opened.open()).close();
  }
  for (const count of [-1, 1.5, NaN, Infinity]) {
    assert.throws(() => options.poolMin(count), {
      name: "RangeError",
      message: `Cannot limit pool: ${count} is not a whole number of 0 or more`,
    });
    assert.throws(() => options.poolMax(count), RangeError);
  }
  assert.throws(() => options.poolMax(0), RangeError);
});

test("DbOptions never shows its URL", () => {
  const options = DbOptions.fromUrl("sqlite:/hunter2/data.sqlite");
  for (const text of [inspect(options), JSON.stringify(options), String(options)]) {
    assert.ok(!text.includes("hunter2"), text);
  }
});
