/** Scripts of MySQL that change only rows take effect as a whole, or not at all. */
import assert from "node:assert/strict";
import { MysqlDialect, sql } from "kysely";
import { createPool } from "mysql2";
import { DbMigrations, DbOptions, type Migrations } from "../../../src/db/mod.ts";
import { Db, testOnEach } from "../support/database.ts";
import { noteIds, statusOf } from "./three_migrations.ts";

const ACCOUNTS = `create table notes (id int primary key, bal int not null);
  insert into notes values (1, 100)`;

/** The drivers: that of the package, and one of the caller's, which runs one statement at a time. */
const DRIVERS: Readonly<Record<string, (url: string) => DbOptions>> = {
  "fromUrl()": (url) => DbOptions.fromUrl(url),
  "fromDialect()": (url) => DbOptions.fromDialect(new MysqlDialect({ pool: createPool(url) })),
};

async function balance(url: string): Promise<unknown> {
  await using db = await Db.open(DbOptions.fromUrl(url));
  const { rows } = await sql<{ bal: unknown }>`select bal from notes where id = 1`.execute(
    db.kysely,
  );
  return rows[0]?.bal;
}

for (const [driver, optionsOf] of Object.entries(DRIVERS)) {
  const run = async (
    url: string,
    migrations: Migrations,
    use: (them: DbMigrations) => Promise<void>,
  ) => {
    await using them = await DbMigrations.open(optionsOf(url).migrations(migrations));
    await use(them);
  };

  testOnEach(`a script of rows that fails changes nothing, by ${driver}`, async ({ url }) => {
    const failing = {
      "1_notes": ACCOUNTS,
      "2_rows": `update notes set bal = bal + 10; -- first; 'then
        insert into notes values (1, 5)`,
    };
    for (let attempt = 0; attempt < 2; attempt++) {
      await run(url, failing, async (them) => {
        await assert.rejects(them.migrate(), { message: "Cannot migrate: 2_rows failed" });
        assert.deepEqual(await statusOf(them), ["1_notes run", "2_rows"]);
      });
      assert.equal(await balance(url), 100);
    }
    const right = {
      "1_notes": ACCOUNTS,
      "2_rows": {
        up: "/* both */ update notes set bal = bal + 10;; insert into notes values (2, 5); -- end;",
        down: "update notes set bal = bal - 10; delete from notes where id = 2; select nowhere;",
      },
      "3_row": "insert into notes values (3, 0)",
      "4_row": { up: (kysely) => sql`insert into notes values (4, 0)`.execute(kysely).then() },
      "5_row": "insert into notes values (5, 0)",
    } satisfies Migrations;
    await run(url, right, async (them) => {
      const [, ...pending] = Object.keys(right);
      assert.deepEqual(await them.migrate(), pending);
      assert.deepEqual(await them.migrate(), []);
      const times = (await them.status()).map(({ executedAt }) => executedAt!.getTime());
      assert.deepEqual(times, [...new Set(times)].toSorted((a, b) => a - b));
    });
    assert.deepEqual(await noteIds(url), [1, 2, 3, 4, 5]);
    assert.equal(await balance(url), 110);
    const two = { "1_notes": ACCOUNTS, "2_rows": right["2_rows"] };
    await run(url, { ...two, ...undoable(right) }, async (them) => {
      await assert.rejects(them.rollBack({ steps: 4 }), {
        message: "Cannot roll back: 2_rows failed",
      });
    });
    assert.equal(await balance(url), 110);
    const { up, down } = right["2_rows"];
    const undone = { up, down: down.replace("select nowhere;", "") };
    await run(url, { "1_notes": ACCOUNTS, "2_rows": undone }, async (them) => {
      assert.deepEqual(await statusOf(them), ["1_notes run", "2_rows run down"]);
      assert.deepEqual(await them.rollBack(), ["2_rows"]);
      assert.deepEqual(await statusOf(them), ["1_notes run", "2_rows down"]);
      assert.deepEqual(await them.migrate(), ["2_rows"]);
    });
    assert.equal(await balance(url), 110);
  }, { brands: ["mysql"] });

  testOnEach(`rows after the last change of the schema are one transaction, by ${driver}`, async (
    { url },
  ) => {
    const change = `alter table notes add column note text;
      update notes set bal = bal + 10;
      insert into notes (id, bal) values (2, 0)`;
    const failing = { "1_notes": ACCOUNTS, "2_mixed": `${change}; insert into nowhere values (1)` };
    await run(url, failing, async (them) => {
      await assert.rejects(them.migrate(), { message: "Cannot migrate: 2_mixed failed" });
      assert.deepEqual(await statusOf(them), ["1_notes run", "2_mixed"]);
    });
    assert.deepEqual(await noteIds(url), [1]);
    assert.equal(await balance(url), 100);
    const right = {
      "1_notes": ACCOUNTS,
      "2_mixed": change.replace("add column", "modify column"),
      "3_row": "insert into notes (id, bal) values (3, 0)",
    };
    await run(url, right, async (them) => {
      assert.deepEqual(await them.migrate(), ["2_mixed", "3_row"]);
    });
    assert.deepEqual(await noteIds(url), [1, 2, 3]);
    assert.equal(await balance(url), 110);
  }, { brands: ["mysql"] });

  testOnEach(`rows are not kept without their entry, by ${driver}`, async ({ url }) => {
    const migrations = {
      "1_notes": ACCOUNTS,
      "2_refuse": `create trigger refuse before insert on kysely_migration for each row begin
          if new.name = '3_rows' then signal sqlstate '45000'; end if;
        end;
        create trigger remain before delete on kysely_migration for each row begin
          signal sqlstate '45000';
        end`,
      "3_rows": "update notes set bal = bal + 10",
    };
    await run(url, migrations, async (them) => {
      await assert.rejects(them.migrate(), { message: "Cannot migrate: 3_rows failed" });
      assert.deepEqual(await statusOf(them), ["1_notes run", "2_refuse run", "3_rows"]);
    });
    assert.equal(await balance(url), 100);
    const { "3_rows": _, ...two } = migrations;
    const down = { up: two["2_refuse"], down: "update notes set bal = 0" };
    await run(url, { ...two, "2_refuse": down }, async (them) => {
      await assert.rejects(them.rollBack(), { message: "Cannot roll back: 2_refuse failed" });
    });
    assert.equal(await balance(url), 100);
  }, { brands: ["mysql"] });
}

testOnEach("a script of MySQL may change its session, and end transactions", async ({ url }) => {
  const migrations = {
    "1_notes": ACCOUNTS,
    "2_dump":
      `/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='ANSI_QUOTES,NO_BACKSLASH_ESCAPES' */;
      lock tables notes write; insert into notes values (2, 0)`,
    "3_other": "use information_schema; set autocommit = 0",
    "4_ends": "start transaction; insert into notes values (4, 0); commit",
    "5_row": "insert into notes values (5, 0)",
  };
  await using them = await DbMigrations.open(DbOptions.fromUrl(url).migrations(migrations));
  assert.deepEqual(await them.migrate(), Object.keys(migrations));
  assert.deepEqual(await statusOf(them), Object.keys(migrations).map((name) => `${name} run`));
  assert.deepEqual(await noteIds(url), [1, 2, 4, 5]);
}, { brands: ["mysql"] });

testOnEach("a script of MySQL that sets how its backslashes are read is refused", async (
  { url },
) => {
  const table = String.raw`create table notes (id int primary key, note varchar(9) default '\\');
    -- without NO_BACKSLASH_ESCAPES`;
  const script = String.raw`set sql_mode = 'No_Backslash_Escapes';
    insert into notes values (1, 'C:\'); insert into notes values (2, 'x')`;
  const migrations = { "1_notes": table, "2_rows": script };
  await using them = await DbMigrations.open(DbOptions.fromUrl(url).migrations(migrations));
  await assert.rejects(them.migrate(), (error: Error) => {
    assert.equal(error.message, "Cannot migrate: 2_rows failed");
    const reason = "TypeError: Cannot run script: it sets NO_BACKSLASH_ESCAPES and has text with " +
      "a backslash; write two backslashes for each, without the mode";
    assert.equal(String(error.cause), reason);
    return true;
  });
  assert.deepEqual(await statusOf(them), ["1_notes run", "2_rows"]);
}, { brands: ["mysql"] });

/** The later migrations, of which each can be undone. */
function undoable(migrations: Migrations): Migrations {
  return Object.fromEntries(
    Object.entries(migrations).slice(2).map(([name, step]) => {
      const up = typeof step === "object" ? step.up : step;
      return [name, { up, down: `delete from notes where id = ${name[0]}` }];
    }),
  );
}
