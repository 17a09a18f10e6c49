import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { writeFile } from "node:fs/promises";
import { sql } from "kysely";
import { type DbErrorCode, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { Db, dbError, openDb, temporaryFolder } from "../support/database.ts";

const ADA = { tenant_id: "a", email: "ada@example.org", name: "Ada" };

test("SQLite enforces foreign keys, never blocks the process, and writes files ahead", async () => {
  await using folder = await temporaryFolder();
  const pragmas = async (url: string) => {
    await using db = await openDb(url);
    const names = ["foreign_keys", "busy_timeout", "journal_mode"];
    return await Promise.all(names.map(async (name) => {
      const { rows } = await sql`pragma ${sql.raw(name)}`.execute(db.kysely);
      return Object.values(rows[0] as object)[0];
    }));
  };
  assert.deepEqual(await pragmas(`sqlite:${folder.path("a.sqlite")}`), [1, 0, "wal"]);
  assert.deepEqual(await pragmas("sqlite::memory:"), [1, 0, "memory"]);
});

test("SQLite keeps a file, and connections to it see each other's rows", async () => {
  await using folder = await temporaryFolder();
  const url = `sqlite:${folder.path("data.sqlite")}`;
  {
    await using one = await openDb(url);
    await using two = await openDb(url);
    await one.user.create({ data: ADA });
    assert.equal(await two.user.count(), 1);
  }
  await using three = await openDb(url);
  assert.deepEqual(await three.user.findMany(), [{ id: 1, ...ADA, active: true }]);
});

test("SQLite reports why a file cannot be opened", async () => {
  await using folder = await temporaryFolder();
  const text = folder.path("text");
  await writeFile(text, "this is no database\n".repeat(1000));
  const unreachable = "it cannot be read and written, or its directory is missing: " +
    "unable to open database file";
  const table: readonly (readonly [string, DbErrorCode, string])[] = [
    [folder.path("no/such/folder"), "ConnectionLost", unreachable],
    [folder.path("."), "ConnectionLost", unreachable],
    [text, "Database", "it is not a database: file is not a database"],
  ];
  for (const [path, code, reason] of table) {
    await assert.rejects(
      Db.open(DbOptions.fromUrl(`sqlite:${path}`)),
      dbError(code, `Cannot open SQLite database ${path}: ${reason}`),
    );
  }
});

const Child = model("children", {
  id: field.integer().primaryKey(),
  parent: field.integer().nullable(),
  first: field.text().nullable(),
  last: field.text().nullable(),
});
class Family extends DbService.with({ child: Child }) {}

/** Opens a database whose table has constraints of every kind. */
async function openFamily(): Promise<Family> {
  const db = await Family.open(DbOptions.fromUrl("sqlite::memory:"));
  await sql`create table children (
    id integer primary key,
    parent integer references children (id),
    first text not null check (first <> 'Nobody'),
    last text,
    unique (first, last)
  ) strict`.execute(db.kysely);
  await sql`create unique index nickname on children (lower(first)) where last is null`
    .execute(db.kysely);
  return db;
}

test("SQLite's constraints become DbErrors", async () => {
  await using db = await openFamily();
  await db.child.create({ data: { first: "Ada", last: "Byron" } });
  await db.child.create({ data: { parent: 1, first: "Bea" } });
  const child = "Cannot create children:";
  const table = [
    [
      { id: 1, first: "Cid" },
      dbError("UniqueViolation", `${child} the value of id is already taken`, ["id"]),
    ],
    [
      { first: "Ada", last: "Byron" },
      dbError("UniqueViolation", `${child} the value of first, last is already taken`, [
        "first",
        "last",
      ]),
    ],
    [{ first: "BEA" }, dbError("UniqueViolation", `${child} a value is already taken`)],
    [{}, dbError("NotNullViolation", `${child} the value of first is missing`, ["first"])],
    [{ first: "Nobody" }, dbError("CheckViolation", `${child} a value is not allowed`)],
    [
      { first: "Cid", parent: 9 },
      dbError(
        "ForeignKeyViolation",
        `${child} it refers to a row that does not exist, or is still referred to`,
      ),
    ],
  ] as const;
  for (const [data, error] of table) await assert.rejects(db.child.create({ data }), error);
  await assert.rejects(
    db.child.delete({ where: { id: 1 } }),
    dbError(
      "ForeignKeyViolation",
      "Cannot delete children: it refers to a row that does not exist, or is still referred to",
    ),
  );
  assert.equal(await db.child.count(), 2);
});

test("SQLite's locks become PoolTimeout, and an outdated snapshot SerializationFailure", async () => {
  await using folder = await temporaryFolder();
  const url = `sqlite:${folder.path("data.sqlite")}`;
  await using one = await openDb(url);
  await using two = await Db.open(DbOptions.fromUrl(url).acquireTimeoutMs(20));
  await one.kysely.transaction().execute(async (trx) => {
    await trx.insertInto("users").values(ADA).execute();
    await assert.rejects(
      two.user.create({ data: ADA }),
      dbError("PoolTimeout", "Cannot create users: the database was busy for too long"),
    );
  });
  const outdated = await two.kysely.connection().execute(async (kysely) => {
    await sql`begin deferred`.execute(kysely);
    await kysely.selectFrom("users").selectAll().execute();
    await one.user.create({ data: { ...ADA, email: "b" } });
    return await kysely.deleteFrom("users").execute().catch((error: unknown) => error)
      .finally(() => sql`rollback`.execute(kysely));
  });
  dbError("SerializationFailure", "Cannot run query: a concurrent change came first")(outdated);
});

test("a repository never joins a transaction of another caller", async () => {
  await using db = await openDb();
  let created: Promise<unknown> | undefined;
  const rolledBack = db.kysely.transaction().execute(async (trx) => {
    await trx.insertInto("users").values(ADA).execute();
    created = db.user.create({ data: { ...ADA, email: "mine" } });
    await new Promise((resolve) => setTimeout(resolve, 10));
    throw new Error("roll back");
  });
  await assert.rejects(rolledBack, { message: "roll back" });
  assert.deepEqual(await created, { id: 1, ...ADA, email: "mine", active: true });
  assert.deepEqual(await db.user.findMany(), [await created]);
});

test("DbService.kysely takes booleans, and rejects values that SQLite cannot store", async () => {
  await using db = await openDb();
  await db.kysely.insertInto("users").values({ ...ADA, active: false }).execute();
  const query = db.kysely.selectFrom("users").select(["id", "active"]).where("active", "=", false);
  assert.deepEqual(await query.execute(), [{ id: 1, active: 0 }]);
  for (const value of [new Date(0), { a: 1 }, undefined, Symbol("x")]) {
    await assert.rejects(sql`select ${sql.val(value)} as v`.execute(db.kysely), {
      name: "TypeError",
      message: `Cannot bind ${typeof value}: SQLite stores null, numbers, text and bytes`,
    });
  }
  const { rows } = await sql`select ${1n} as a, ${null} as b, ${new Uint8Array([1])} as c`
    .execute(db.kysely);
  assert.deepEqual(rows, [{ a: 1, b: null, c: new Uint8Array([1]) }]);
});

test("DbService.kysely keeps empty bytes, whatever memory is behind them", async () => {
  await using db = await openDb();
  for (const bytes of [new Uint8Array(), new Uint8Array(new ArrayBuffer(0)), Buffer.alloc(0)]) {
    const { rows } = await sql`select ${bytes} as empty`.execute(db.kysely);
    assert.deepEqual(rows, [{ empty: new Uint8Array() }]);
  }
});

test("DbService.kysely rejects text in the column of a number", async () => {
  await using db = await openDb();
  const values = { ...ADA, active: "yes" as unknown as boolean };
  await assert.rejects(db.kysely.insertInto("users").values(values).execute());
});

test("DbService.kysely notices new columns", async () => {
  await using db = await openDb();
  await db.user.create({ data: ADA });
  const all = () => db.kysely.selectFrom("users").selectAll().executeTakeFirstOrThrow();
  assert.equal(Object.keys(await all()).length, 5);
  await db.kysely.schema.alterTable("users").addColumn("extra", "text").execute();
  assert.equal(Object.keys(await all()).length, 6);
  assert.deepEqual(await db.user.findMany(), [{ id: 1, ...ADA, active: true }]);
});

test("DbService.kysely streams rows, left early or not, beside a repository", async () => {
  await using db = await openDb();
  for (const email of ["a", "b", "c"]) await db.user.create({ data: { ...ADA, email } });
  const seen: unknown[] = [];
  const stream = () => db.kysely.selectFrom("users").select("id").orderBy("id").stream();
  for await (const row of stream()) {
    seen.push(row, (await db.user.findUnique({ where: { id: 3 } }))?.email);
  }
  assert.deepEqual(seen, [{ id: 1 }, "c", { id: 2 }, "c", { id: 3 }, "c"]);
  for await (const row of stream()) {
    assert.deepEqual(row, { id: 1 });
    break;
  }
  await db.kysely.schema.dropTable("users").execute();
});

test("SQLite returns integers beyond 2^53 as bigints, and no repository returns a wrong number", async () => {
  await using db = await openDb();
  const { rows } = await sql`select 9007199254740993 as big, 9007199254740991 as safe, 0.5 as real`
    .execute(db.kysely);
  assert.deepEqual(rows, [{ big: 9007199254740993n, safe: 9007199254740991, real: 0.5 }]);
  await sql`insert into "order" ("select", "integer") values ('a', 9007199254740993)`
    .execute(db.kysely);
  await assert.rejects(
    db.sample.findMany(),
    dbError("Database", "Cannot read order.integer: it is not within ±(2^53 - 1)"),
  );
  assert.deepEqual(await db.sample.findMany({ select: { select: true } }), [{ select: "a" }]);
});

test("a transaction that SQLite itself has rolled back is not gone on with", async () => {
  await using db = await openDb();
  await sql`create trigger no before insert on users when new.email = 'bad' begin
    select raise(rollback, 'no'); end`.execute(db.kysely);
  await assert.rejects(
    db.transaction(async () => {
      await db.user.create({ data: ADA });
      await db.user.create({ data: { ...ADA, email: "bad" } }).catch(() => {});
      await db.user.create({ data: { ...ADA, email: "b" } });
    }),
    dbError("Database", "Cannot create users: an earlier statement of its transaction failed"),
  );
  assert.equal(await db.user.count(), 0);
});

test("createTables() of SQLite passes beside a writer, and by an old row that refers to none", async () => {
  await using folder = await temporaryFolder();
  const url = `sqlite:${folder.path("data.sqlite")}`;
  await using db = await openDb(url);
  await sql`pragma foreign_keys = off`.execute(db.kysely);
  await sql`create table orphans (id integer references users (id))`.execute(db.kysely);
  await sql`insert into orphans values (1)`.execute(db.kysely);
  await using other = await Db.open(DbOptions.fromUrl(url));
  await db.transaction(async () => {
    await db.user.create({ data: ADA });
    await other.createTables();
  });
  assert.equal(await other.user.count(), 1);
});

test("SQLite reads JSON as it was written, from a column of the type JSON too", async () => {
  class Notes extends DbService.with({
    note: model("notes", { id: field.integer().primaryKey(), data: field.json().nullable() }),
  }) {}
  const values = [1, -7, 1.5, 1e21, 2 ** 53, "5", "1.5", "", true, null, { a: [1, "1"] }];
  for (const type of ["json", "text"]) {
    await using db = await Notes.open(DbOptions.fromUrl("sqlite::memory:"));
    await sql`create table notes (id integer primary key, data ${sql.raw(type)})`
      .execute(db.kysely);
    for (const data of values) {
      const { id } = await db.note.create({ data: { data } });
      assert.deepEqual(await db.note.findUnique({ where: { id } }), { id, data }, type);
    }
  }
});
