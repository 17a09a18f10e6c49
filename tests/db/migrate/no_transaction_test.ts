/** Migrations that run outside a transaction. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import postgres from "postgres";
import { DbError, DbOptions, type Migrations } from "../../../src/db/mod.ts";
import { DbConnection } from "../../../src/db/connection/connection.ts";
import { migrate } from "../../../src/db/migrate/migrate.ts";
import { test } from "../../support/test.ts";
import { type Brand, Db, dbError, testOnEach } from "../support/database.ts";
import { SKIP_PGBOUNCER, startPgBouncer } from "../support/pgbouncer.ts";
import { createDatabase } from "../support/servers.ts";
import { noteIds, statusOf, withMigrations } from "./three_migrations.ts";

const NOTES = "create table notes (id integer not null primary key)";
/** What fails in a transaction, or before others are committed. */
const ALONE: Readonly<Record<Brand, string>> = {
  postgres: `-- no transaction
    drop index concurrently if exists ids; -- of the attempt before; it may be invalid
    create index concurrently ids on notes (id);
    do $$ begin raise notice 'a; b'; end $$`,
  mysql: "-- No Transaction\r\ncreate index ids on notes (id)",
  sqlite: "-- no transaction\nvacuum; create index ids on notes (id)",
};

function migrationsOf(brand: Brand): Migrations {
  return {
    "1_notes": NOTES,
    "2_row": "insert into notes values (2)",
    "3_index": ALONE[brand],
    "4_row": "insert into notes values (4)",
    "5_index": ALONE[brand].replaceAll("ids", "more"),
  };
}

testOnEach("a migration may run outside a transaction", async ({ brand, url }) => {
  const migrations = migrationsOf(brand);
  await withMigrations(url, migrations, async (them) => {
    assert.deepEqual(await them.migrate(), Object.keys(migrations));
    assert.deepEqual(await them.migrate(), []);
    const run = Object.keys(migrations).map((name) => `${name} run`);
    assert.deepEqual(await statusOf(them), run);
  });
  assert.deepEqual(await noteIds(url), [2, 4]);
  const edited = { ...migrations, "3_index": `${ALONE[brand]}; select 1` };
  await withMigrations(
    url,
    { ...edited, "6_row": "insert into notes values (6)" },
    async (them) => {
      assert.equal((await statusOf(them))[2], "3_index run edited");
      assert.deepEqual(await them.migrate(), ["6_row"]);
    },
  );
});

testOnEach("a migration outside a transaction may be the first", async ({ brand, url }) => {
  const script = `-- no transaction\n${NOTES}`;
  await withMigrations(url, { "1_notes": script }, async (them) => {
    assert.deepEqual(await them.migrate(), ["1_notes"]);
    assert.deepEqual(await statusOf(them), ["1_notes run"]);
  });
  assert.deepEqual(await noteIds(url), [], brand);
});

testOnEach("instances run a migration outside a transaction once", async ({ brand, url }) => {
  const migrations = migrationsOf(brand);
  const ran = await Promise.all(
    [1, 2, 3].map(() => withMigrations(url, migrations, (them) => them.migrate())),
  );
  assert.deepEqual(ran.flat().toSorted(), Object.keys(migrations));
  assert.deepEqual(await noteIds(url), [2, 4]);
}, { brands: ["postgres", "mysql"] });

testOnEach(
  "a migration outside a transaction runs after one that was rolled back meanwhile",
  async (
    { brand, url },
  ) => {
    const migrations = {
      "1_notes": NOTES,
      "2_row": { up: "insert into notes values (2)", down: "delete from notes" },
      "3_index": ALONE[brand],
    };
    const { database, source } = await DbOptions.fromUrl(url).migrations(migrations)
      .openUnmigrated();
    assert.ok(database instanceof DbConnection && source);
    const { unlimited } = database;
    let calls = 0;
    database.unlimited = async (work) => {
      // the scripts before it are committed, and nobody has the lock
      if (++calls === 2) await withMigrations(url, migrations, (them) => them.rollBack());
      return await unlimited.call(database, work) as Awaited<ReturnType<typeof work>>;
    };
    try {
      assert.deepEqual(await migrate(database, source), ["1_notes", "2_row", "2_row", "3_index"]);
    } finally {
      await database.close();
    }
    await withMigrations(url, migrations, async (them) => {
      assert.deepEqual(await statusOf(them), ["1_notes run", "2_row run down", "3_index run"]);
      assert.deepEqual(await them.migrate(), []);
    });
  },
  { brands: ["postgres", "sqlite"] },
);

testOnEach("a migration that fails outside a transaction is named, with its remedy", async (
  { brand, url },
) => {
  const migrations = {
    "1_notes": NOTES,
    "2_rows": "insert into notes values (2)",
    "3_index": `${ALONE[brand]}; insert into nowhere values (1)`,
    "4_never": "insert into notes values (4)",
  };
  await withMigrations(url, migrations, async (them) => {
    await assert.rejects(them.migrate(), (error: Error) => {
      const message = "Cannot migrate: 3_index failed outside a transaction; undo what it has " +
        "done, such as an invalid index, before it runs again";
      dbError("Database", message)(error);
      return error.cause instanceof Error && !(error.cause instanceof DbError);
    });
    assert.deepEqual(await statusOf(them), ["1_notes run", "2_rows run", "3_index", "4_never"]);
  });
  assert.deepEqual(await noteIds(url), [2]);
}, { brands: ["postgres", "sqlite"] });

testOnEach("columns named as parts of routines join no statements", async ({ url }) => {
  const script = `-- no transaction
    create table meetings (event text, begin timestamptz, function text);
    create index concurrently meetings_event_idx on meetings (event);
    create rule twice as on insert to meetings do also (select 1; select 2)`;
  await withMigrations(url, { "1_meetings": script }, async (them) => {
    assert.deepEqual(await them.migrate(), ["1_meetings"]);
  });
}, { brands: ["postgres"] });

testOnEach("a migration outside a transaction may not leave one open", async ({ brand, url }) => {
  const rows = "begin; insert into notes values (2)";
  const migrations = { "1_notes": NOTES, "2_open": `-- no transaction\n${rows}` };
  await withMigrations(url, migrations, async (them) => {
    await assert.rejects(them.migrate(), (error: Error) => {
      const message = "Cannot migrate: 2_open failed outside a transaction; undo what it has " +
        "done, such as an invalid index, before it runs again";
      dbError("Database", message)(error);
      const reason = "TypeError: Cannot run script: it leaves a transaction open, " +
        "which was rolled back";
      assert.equal(String(error.cause), reason, brand);
      return true;
    });
    assert.deepEqual(await statusOf(them), ["1_notes run", "2_open"]);
  });
  assert.deepEqual(await noteIds(url), []);
  const ended = { ...migrations, "2_open": `-- no transaction\n${rows}; commit` };
  await withMigrations(url, ended, async (them) => {
    assert.deepEqual(await them.migrate(), ["2_open"]);
  });
  assert.deepEqual(await noteIds(url), [2]);
}, { brands: ["postgres", "sqlite"] });

testOnEach("no other instance changes the schema while PostgreSQL builds an index", async (
  { url },
) => {
  const migrations = {
    "1_notes": NOTES,
    "2_slow": `-- no transaction
      select pg_sleep(2);
      create index concurrently ids on notes (id)`,
  };
  let isMigrated = false;
  const migrating = withMigrations(url, migrations, (them) => them.migrate())
    .finally(() => isMigrated = true);
  const other = postgres(url, { max: 1, prepare: false });
  const isTaken = async () => {
    const [row] = await other`select count(*)::int as count from pg_locks join pg_database d
      on d.oid = database where locktype = 'advisory' and granted and datname = current_database()`;
    return Number(row?.["count"]) > 0;
  };
  const isSleeping = async () => {
    const [row] = await other`select count(*)::int as count from pg_stat_activity
      where datname = current_database() and query like '%pg_sleep%' and pid <> pg_backend_pid()`;
    return Number(row?.["count"]) > 0;
  };
  while (!(await isSleeping() && await isTaken())) {
    assert.equal(isMigrated, false, "the schema is locked meanwhile");
    await delay(10);
  }
  let isDone = false;
  const db = await Db.open(DbOptions.fromUrl(url));
  const creating = db.createTables().then(() => isDone = true);
  await delay(100);
  assert.ok(!isDone || isMigrated);
  assert.deepEqual(await migrating, Object.keys(migrations));
  await creating;
  const { rows } = await sql`select indisvalid as valid from pg_index
    where indexrelid = 'ids'::regclass`.execute(db.kysely);
  assert.deepEqual(rows.map((row) => ({ ...row as object })), [{ valid: true }]);
  await db.close();
  await other.end();
}, { brands: ["postgres"] });

testOnEach("PostgreSQL needs two connections outside a transaction", async ({ url }) => {
  const options = DbOptions.fromUrl(url).poolMax(1).migrations(migrationsOf("postgres"));
  await assert.rejects(options.open(), {
    name: "RangeError",
    message: "Cannot migrate: outside a transaction it takes two connections, but poolMax is 1",
  });
}, { brands: ["postgres"] });

test("waiting instances leave the connections of PgBouncer to the one that migrates", async () => {
  await using database = await createDatabase("postgres");
  await using bouncer = await startPgBouncer("transaction", "max_db_connections = 2");
  const url = bouncer.url(database.url);
  const migrations = migrationsOf("postgres");
  const ran = await Promise.all(
    [1, 2, 3, 4].map(() => withMigrations(url, migrations, (them) => them.migrate())),
  );
  assert.deepEqual(ran.flat().toSorted(), Object.keys(migrations));
}, { skip: SKIP_PGBOUNCER });

test("DbOptions.migrations() rejects a down outside a transaction", () => {
  const migrations = { "1": { up: NOTES, down: "-- no transaction\ndrop table notes" } };
  assert.throws(() => DbOptions.fromUrl("sqlite::memory:").migrations(migrations), {
    name: "TypeError",
    message: "Cannot migrate: the down of 1 cannot run outside a transaction",
  });
});

testOnEach("a script that begins or ends a transaction is refused, with a remedy", async (
  { brand, url },
) => {
  const ended = [
    "begin; insert into notes values (2); commit",
    "insert into notes values (2);\n-- done\nCOMMIT",
    "insert into notes values (2); /* undo */ rollback",
    "insert into notes values (2); end",
    "insert into notes values (2); /*! a */ commit",
    ...brand === "postgres"
      ? [
        "start  transaction; insert into notes values (2)",
        "start/**/transaction; insert into notes values (2)",
        "abort",
        "/* /* */ commit; */ commit",
        "select 1 as €$$; commit; select 2 as €$$",
        "create function f() returns int begin atomic select 1; end; end; select 1",
        "create function f(begin text) returns int return 1; create table atomic (); end",
        "select $a$ $A$ $a$; commit; select $a$ $a$",
        String.raw`select e'a''\''; commit; select ' '`,
        "select e'a'\n'\\''; commit; select ' '",
      ]
      : [
        "select 1 -- \r; \u2028\n; commit",
        "/* /* */ commit; -- */",
        "create trigger t after insert on notes begin select 1; end; end; select 1",
      ],
  ];
  for (const script of ended) {
    await withMigrations(url, { "1_notes": NOTES, "2_row": script }, async (them) => {
      await assert.rejects(them.migrate(), (error: Error) => {
        dbError("Database", "Cannot migrate: 2_row failed")(error);
        assert.match(
          String(error.cause),
          /^TypeError: Cannot run script: it runs in a transaction/,
        );
        return true;
      }, script);
      assert.deepEqual(await statusOf(them), ["1_notes", "2_row"], script);
    });
  }
  await withMigrations(url, { "1_notes": NOTES }, (them) => them.migrate());
  const down = { "1_notes": NOTES, "2_row": { up: "select 1", down: "commit" } };
  await withMigrations(url, down, async (them) => {
    assert.deepEqual(await them.migrate(), ["2_row"]);
    await assert.rejects(them.rollBack(), /2_row failed/);
  });
}, { brands: ["postgres", "sqlite"] });

testOnEach("words of transactions in other places of a script are not refused", async (
  { brand, url },
) => {
  const trigger = brand === "sqlite"
    ? `create table spans (id integer primary key, begin int, "end" int, "commit" int);
      create trigger t after insert on notes begin
        insert into spans (begin, end) values (1, 2);
        update spans set end = case when end > 1 then 3 else 4 end;
      end;
      select 'commit;' as "end; commit"; -- commit; \r commit; \u2028 commit;`
    : `create table spans (id int, "begin" int, "commit" int);
      create function f() returns int language sql begin atomic; select 1; end;
      create function g() returns int begin atomic
        insert into spans (begin) values (1); select case when true then 1 end end; end;
      create rule r as on insert to notes do also (select 1; select 2);
      do $$ begin perform 1; end $$;
      savepoint a; rollback to a; rollback/**/to savepoint a; release a;
      select $a$ $A$; commit; $a$, e'\\'; commit;'; -- \u2028 commit;
      select 'commit;' as "end; commit" /* /* ; commit */ ; commit; */;`;
  const migrations = {
    "1_notes": NOTES,
    "2_words": trigger,
    "3_row": "insert into notes values (3)",
  };
  await withMigrations(url, migrations, async (them) => {
    assert.deepEqual(await them.migrate(), Object.keys(migrations));
  });
  assert.deepEqual(await noteIds(url), [3]);
}, { brands: ["postgres", "sqlite"] });
