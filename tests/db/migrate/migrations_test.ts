import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import {
  DbError,
  DbOptions,
  DbService,
  field,
  type Migrations,
  model,
} from "../../../src/db/mod.ts";
import { Subprocess } from "../../support/subprocess.ts";
import { test } from "../../support/test.ts";
import { type Brand, dbError, temporaryFolder, testOnEach } from "../support/database.ts";
import { writeFiles } from "./write_files.ts";

const Note = model("notes", { id: field.integer().primaryKey(), text: field.text() });
class Db extends DbService.with({ note: Note }) {}

const TABLE = "create table notes (id integer not null primary key, text varchar(99) not null);";
const TEXT = `'it''s; -- "x" /* y'`;
/** A script whose semicolons are not all at the end of statements. */
const SCRIPTS: Readonly<Record<Brand, string>> = {
  sqlite: `-- Notes; and what they say
    ${TABLE}
    create trigger twice after insert on notes when new.id < 100 begin
      insert into notes values (new.id + 100, new.text); select 1;
    end; /* ; */
    insert into notes values (1, ${TEXT});`,
  postgres: `-- Notes; and what they say
    ${TABLE}
    create function twice() returns trigger language plpgsql as $$ begin
      if new.id < 100 then insert into notes values (new.id + 100, new.text); end if; return new;
    end; $$;
    create trigger twice after insert on notes for each row execute function twice(); /* ; */
    insert into notes values (1, ${TEXT});`,
  mysql: `-- Notes; and what they say
    ${TABLE}
    create procedure twice(in note text) begin
      insert into notes values (1, note); insert into notes values (101, note);
    end; /* ; */
    call twice(${TEXT});`,
};
const MODULE = `export async function up(kysely) {
  await kysely.insertInto("notes").values({ id: 2, text: "module" }).execute();
}
export async function down(kysely) {
  await kysely.deleteFrom("notes").where("id", "=", 2).execute();
}`;

/** Opens the database with migrations, and returns the notes in it afterwards. */
async function notesAfter(options: DbOptions): Promise<readonly string[]> {
  await using db = await Db.open(options);
  const notes = await db.note.findMany({ orderBy: { id: "asc" } });
  return notes.map(({ id, text }) => `${id} ${text}`);
}

testOnEach("DbOptions.schemaPath() applies a script of any statements once", async (database) => {
  await using folder = await temporaryFolder();
  const file = folder.path("schema.sql");
  await writeFile(file, SCRIPTS[database.brand]);
  const options = DbOptions.fromUrl(database.url).schemaPath(file);
  const notes = [`1 it's; -- "x" /* y`, `101 it's; -- "x" /* y`];
  assert.deepEqual(await notesAfter(options), notes);
  assert.deepEqual(await notesAfter(options.poolMax(1)), notes);
});

testOnEach(
  "DbOptions.schemaPath() runs a folder in its order, and what comes later",
  async (database) => {
    await using folder = await temporaryFolder();
    const path = folder.path("migrations");
    const options = DbOptions.fromUrl(database.url).poolMax(1).schemaPath(path);
    const insert = (id: number, text: string) => `insert into notes values (${id}, '${text}')`;
    await writeFiles(path, {
      "003_text.sql": insert(3, "text"),
      "002_module.mjs": MODULE,
      "001_notes.sql": TABLE,
      "001_notes.down.sql": "drop table notes",
      "004.ts": MODULE.replace("(kysely)", "(kysely: any): Promise<void>").replace(
        "2, text",
        "4, text",
      ),
      "README.md": "Migrations",
      "helper.ts": "throw new Error('never loaded')",
      "004.d.ts": "nonsense",
      "004.js.map": "nonsense",
      ".002_hidden.sql": "nonsense",
    });
    assert.deepEqual(await notesAfter(options), ["2 module", "3 text", "4 module"]);
    await writeFiles(path, { "005_late.js": MODULE.replace("2, text", "5, text") });
    const all = ["2 module", "3 text", "4 module", "5 module"];
    assert.deepEqual(await notesAfter(options), all);
    assert.deepEqual(await notesAfter(options), all);
  },
);

testOnEach("a script may begin with a byte order mark", async ({ url }) => {
  const script = `\ufeff${TABLE} insert into notes values (1, 'marked');`;
  const options = DbOptions.fromUrl(url).migrations({ "0001_marked": script });
  assert.deepEqual(await notesAfter(options), ["1 marked"]);
});

testOnEach("a failed migration is named, rolled back, and can be corrected", async (database) => {
  const options = DbOptions.fromUrl(database.url).poolMax(1);
  const insert = "insert into notes values (2, 'half')";
  const table: readonly (readonly [step: Migrations[string], halfOnMysql: number])[] = [
    [`${insert}; insert into nowhere values (1);`, 0],
    [{
      up: async (kysely) => {
        await sql.raw(insert).execute(kysely);
        throw new Error("oops");
      },
    }, 1],
    [{ up: () => Promise.reject(new Error("oops")) }, 0],
  ];
  await notesAfter(options.migrations({ "1_notes": TABLE }));
  for (const [step, halfOnMysql] of table) {
    const migrations = { "1_notes": TABLE, "2_fails": step, "3_never": insert };
    await assert.rejects(notesAfter(options.migrations(migrations)), (error: Error) => {
      dbError("Database", "Cannot migrate: 2_fails failed")(error);
      return error.cause instanceof Error && !(error.cause instanceof DbError);
    });
    await using db = await Db.open(options);
    assert.equal(await db.note.count(), database.brand === "mysql" ? halfOnMysql : 0);
    await db.note.deleteMany({ where: { id: 2 } });
    await assertAlone(db, database.brand);
  }
  const mended = { "1_notes": TABLE, "2_fails": "insert into notes values (2, 'mended')" };
  assert.deepEqual(await notesAfter(options.migrations(mended)), ["2 mended"]);
});

/** Checks that no other connection to the database is left. */
async function assertAlone(db: Db, brand: Brand): Promise<void> {
  if (brand === "sqlite") {
    return await db.kysely.connection().execute(async (own) => {
      await sql`begin exclusive`.execute(own);
      await sql`rollback`.execute(own);
    });
  }
  const others = brand === "postgres"
    ? sql`select 1 from pg_stat_activity where datname = current_database()
        and pid <> pg_backend_pid()`
    : sql`select 1 from information_schema.processlist where db = database()
        and id <> connection_id()`;
  // A server takes a moment to notice that a connection was closed.
  for (let attempt = 0; (await others.execute(db.kysely)).rows.length > 0; attempt++) {
    assert.ok(attempt < 100, "a connection is left");
    await delay(20);
  }
}

testOnEach(
  "a migration that was run cannot be gone, nor be preceded by another",
  async ({ url }) => {
    const options = DbOptions.fromUrl(url);
    await notesAfter(options.migrations({ "1_notes": TABLE, "3_more": "select 1" }));
    const table: readonly (readonly [Migrations, RegExp])[] = [
      [{ "1_notes": TABLE, "4_x": "select 1" }, /^Cannot migrate: .* 3_more is missing$/],
      [{ "3_more": "select 1" }, /^Cannot migrate: .* 1_notes is missing$/],
      [
        { "1_notes": TABLE, "2_x": "select 1", "3_more": "select 1" },
        /^Cannot migrate: .* 2_x was/,
      ],
    ];
    for (const [migrations, message] of table) {
      await assert.rejects(notesAfter(options.migrations(migrations)), (error: DbError) => {
        assert.match(error.message, message);
        return error instanceof DbError && error.code === "Database";
      });
    }
  },
);

testOnEach("instances that open at once migrate once, in one process", async ({ url }) => {
  const options = DbOptions.fromUrl(url).migrations({
    "1_notes": TABLE,
    "2_one": "insert into notes values (1, 'one')",
  });
  const opened = await Promise.all([notesAfter(options), notesAfter(options)]);
  assert.deepEqual(opened, [["1 one"], ["1 one"]]);
});

testOnEach(
  "instances that open at once migrate once, in processes of their own",
  async ({ url }) => {
    const run = async () => {
      await using instance = new Subprocess("tests/db/migrate/open_fixture.ts", { args: [url] });
      return await instance.ended;
    };
    const ended = { code: 0, output: "notes 1\n" };
    assert.deepEqual(await Promise.all([run(), run(), run()]), [ended, ended, ended]);
  },
  { slow: ["sqlite", "mysql"] },
);

test("DbOptions.migrations() needs no file access", async () => {
  await using instance = new Subprocess("tests/db/migrate/open_fixture.ts", { permissions: [] });
  assert.deepEqual(await instance.ended, { code: 0, output: "notes 1\n" });
});

testOnEach("DbOptions.migrations() may recreate a table that others refer to", async ({ url }) => {
  const FIRST = `create table p (id integer primary key, name text);
    create table c (id integer primary key, p_id integer references p (id) on delete cascade);
    insert into p values (1, 'a'); insert into c values (1, 1)`;
  const options = DbOptions.fromUrl(url).migrations({
    "1": FIRST,
    "2": `create table p2 (id integer primary key, name text not null);
      insert into p2 select id, name from p; drop table p; alter table p2 rename to p`,
  });
  await using db = await Db.open(options);
  const { rows } = await sql`select * from c`.execute(db.kysely);
  assert.deepEqual(rows, [{ id: 1, p_id: 1 }]);
  await assert.rejects(sql`insert into c values (2, 7)`.execute(db.kysely));

  const broken = DbOptions.fromUrl("sqlite::memory:").migrations({
    "1": FIRST,
    "2": "delete from p",
  });
  await assert.rejects(
    Db.open(broken),
    dbError("Database", "Cannot migrate: rows of c refer to missing rows"),
  );
}, { brands: ["sqlite"] });
