import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions, DbService, field, model, type Where } from "../../../src/db/mod.ts";
import {
  type Db,
  dbError,
  mistake,
  Sample,
  testDbOnEach,
  testOnEach,
  User,
} from "../support/database.ts";
import { openNoted } from "../support/noted.ts";
import { planOf } from "../support/plans.ts";

const ROWS = [
  { select: "a", integer: 1, text: "Ada", boolean: true, real: 0.5 },
  { select: "b", integer: 2, text: "ada%_*?[x]\\", boolean: false, real: -1 },
  { select: "c", integer: 3, text: "O'Hara; drop table users", boolean: true, real: 2 },
  {
    select: "d",
    integer: Number.MAX_SAFE_INTEGER,
    text: "日本語 😀 ädä",
    boolean: false,
    real: 1e300,
  },
  { select: "e", integer: null, text: null, boolean: null, real: null },
];

async function fillSamples(db: Db): Promise<void> {
  for (const data of ROWS) await db.sample.create({ data });
}

testDbOnEach("Where finds the rows that its SQL matches", async (db) => {
  await fillSamples(db);
  const table: readonly (readonly [Where<typeof Sample>, string])[] = [
    [{}, "abcde"],
    [{ integer: 1 }, "a"],
    [{ integer: null }, "e"],
    [{ boolean: false }, "bd"],
    [{ real: 2 }, "c"],
    [{ text: "Ada", integer: 1 }, "a"],
    [{ text: "Ada", integer: 2 }, ""],
    [{ text: "ADA" }, ""],
    [{ text: "' or '1'='1" }, ""],
    [{ text: "O'Hara; drop table users" }, "c"],
    [{ integer: { equals: 2 } }, "b"],
    [{ integer: { equals: null } }, "e"],
    [{ integer: { not: 2 } }, "acd"],
    [{ integer: { not: null } }, "abcd"],
    [{ integer: { isNull: true } }, "e"],
    [{ integer: { isNull: false } }, "abcd"],
    [{ integer: { in: [1, 3, 9] } }, "ac"],
    [{ integer: { in: [1, 2, 3, Number.MAX_SAFE_INTEGER, 5] } }, "abcd"],
    [{ integer: { in: [] } }, ""],
    [{ integer: { notIn: [1, 3] } }, "bd"],
    [{ integer: { notIn: [] } }, "abcde"],
    [{ boolean: { in: [true] } }, "ac"],
    [{ text: { notIn: ["Ada"] } }, "bcd"],
    [{ integer: { lt: 2 } }, "a"],
    [{ integer: { lte: 2 } }, "ab"],
    [{ integer: { gt: 2 } }, "cd"],
    [{ integer: { gte: 3, lt: 4 } }, "c"],
    [{ real: { gt: 0 } }, "acd"],
    [{ real: { lt: -0.5 } }, "b"],
    [{ text: { gte: "ada" } }, "bd"],
    [{ text: { contains: "da" } }, "ab"],
    [{ text: { contains: "DA" } }, ""],
    [{ text: { contains: "" } }, "abcd"],
    [{ text: { contains: "%" } }, "b"],
    [{ text: { contains: "_" } }, "b"],
    [{ text: { contains: "*" } }, "b"],
    [{ text: { contains: "?" } }, "b"],
    [{ text: { contains: "[x]" } }, "b"],
    [{ text: { contains: "]\\" } }, "b"],
    [{ text: { contains: "_%" } }, ""],
    [{ text: { contains: "[a-z]" } }, ""],
    [{ text: { contains: "'" } }, "c"],
    [{ text: { contains: "😀" } }, "d"],
    [{ text: { contains: "ÄD" } }, ""],
    [{ text: { startsWith: "Ada" } }, "a"],
    [{ text: { startsWith: "ada%" } }, "b"],
    [{ text: { startsWith: "da" } }, ""],
    [{ text: { startsWith: "日" } }, "d"],
    [{ text: { endsWith: "da" } }, "a"],
    [{ text: { endsWith: "\\" } }, "b"],
    [{ text: { endsWith: "users" } }, "c"],
    [{ text: { startsWith: "a", endsWith: "\\", contains: "*" } }, "b"],
    [{ AND: [] }, "abcde"],
    [{ AND: [{ integer: { gt: 1 } }, { boolean: true }] }, "c"],
    [{ OR: [] }, ""],
    [{ OR: [{ integer: 1 }, { integer: null }] }, "ae"],
    [{ OR: [{ integer: 1 }, {}] }, "abcde"],
    [{ OR: [{ integer: 1, text: "x" }, { integer: 2 }] }, "b"],
    [{ NOT: { integer: 1 } }, "bcd"],
    [{ NOT: { integer: { isNull: true } } }, "abcd"],
    [{ NOT: { integer: 1, text: "Ada" } }, "bcd"],
    [{ NOT: { OR: [{ integer: 1 }, { integer: 2 }] } }, "cd"],
    [{ NOT: { NOT: { integer: 1 } } }, "a"],
    [{ NOT: {} }, ""],
    [{ boolean: true, OR: [{ integer: 1 }, { integer: 2 }] }, "a"],
    [{ AND: [{ OR: [{ integer: 1 }, { integer: 3 }] }, { NOT: { real: 2 } }] }, "a"],
    [Sample.text.equals("Ada"), "a"],
    [{ AND: [Sample.boolean.equals(true), Sample.real.equals(2)] }, "c"],
  ];
  for (const [where, expected] of table) {
    const rows = await db.sample.findMany({ where, orderBy: { select: "asc" } });
    assert.equal(rows.map(({ select }) => select).join(""), expected, JSON.stringify(where));
    assert.equal(await db.sample.count({ where }), expected.length, JSON.stringify(where));
    assert.equal(await db.sample.exists({ where }), expected !== "", JSON.stringify(where));
  }
});

testDbOnEach("Where compares each kind by its value", async (db) => {
  const row = (select: string, n: number) => ({
    select,
    bigint: 9007199254740990n + BigInt(n),
    decimal: `${n - 2}.${9 - n}`,
    timestamp: new Date(1_700_000_000_000 + n),
    uuid: `a0eebc99-9c0b-4ef8-bb6d-${String(n).padStart(12, "0")}`,
    blob: new Uint8Array([n]),
    json: n === 1 ? null : { n },
  });
  await db.sample.createMany({ data: [row("a", 1), row("b", 2), row("c", 3), { select: "d" }] });
  const { bigint, decimal, timestamp, uuid, blob } = row("", 2);
  const table: readonly (readonly [Where<typeof Sample>, string])[] = [
    [{ bigint }, "b"],
    [{ bigint: { gt: bigint } }, "c"],
    [{ bigint: { in: [bigint, bigint + 1n] } }, "bc"],
    [{ bigint: { not: bigint } }, "ac"],
    [{ decimal }, "b"],
    [{ decimal: "00.700" }, "b"],
    [{ decimal: { lt: "0" } }, "a"],
    [{ decimal: { lte: "0.7" } }, "ab"],
    [{ decimal: { in: ["1.6", "-1.80"] } }, "ac"],
    [{ timestamp }, "b"],
    [{ timestamp: { gte: timestamp } }, "bc"],
    [{ timestamp: { in: [timestamp] } }, "b"],
    [{ uuid }, "b"],
    [{ uuid: uuid.toUpperCase() }, "b"],
    [{ uuid: { lt: uuid } }, "a"],
    [{ blob }, "b"],
    [{ blob: { notIn: [blob] } }, "ac"],
    [{ json: null }, "ad"],
    [{ json: { isNull: false } }, "bc"],
    [{ json: { not: null } }, "bc"],
  ];
  for (const [where, expected] of table) {
    const rows = await db.sample.findMany({ where, orderBy: { select: "asc" } });
    assert.equal(rows.map(({ select }) => select).join(""), expected);
  }
  for (const json of [{ equals: { n: 2 } }, { not: 1 }, { in: [1] }, [], "x"]) {
    await assert.rejects(db.sample.count({ where: { json: json as never } }), {
      name: "TypeError",
      message: "Cannot count order: json is compared with null only",
    });
  }
});

testDbOnEach("Where finds the rows of each list, whatever lists came before", async (db) => {
  await fillSamples(db);
  for (let length = 0; length <= 40; length++) {
    const values = Array.from({ length }, (_, index) => index + 2);
    const expected = values.filter((value) => value <= 3).length;
    assert.equal(await db.sample.count({ where: { integer: { in: values } } }), expected);
    assert.equal(
      await db.sample.count({ where: { integer: { notIn: values } } }),
      length === 0 ? 5 : 4 - expected,
    );
  }
  const many = Array.from({ length: 3000 }, (_, index) => index);
  assert.equal(await db.sample.count({ where: { integer: { in: many } } }), 3);
});

testDbOnEach("Where has at most 5000 conditions, wherever they are", async (db) => {
  const alternatives = (length: number) => Array.from({ length }, (_, id) => ({ id }));
  assert.equal(await db.user.count({ where: { OR: alternatives(5000) } }), 0);
  const pairs = (length: number) => alternatives(length).map(({ id }) => ({ id, name: "a" }));
  assert.equal(await db.user.count({ where: { OR: pairs(2500) } }), 0);
  const nested = { OR: [{ OR: alternatives(2500) }, { AND: alternatives(2501) }] };
  const ranges = alternatives(2501).map(({ id }) => ({ id: { gt: id, lt: id } }));
  const tooMany = [
    { AND: alternatives(5001) },
    { OR: alternatives(5001) },
    { OR: Array.from({ length: 5001 }, () => ({})) },
    { OR: pairs(2501) },
    { NOT: { OR: ranges } },
    nested,
  ];
  for (const where of tooMany) {
    await assert.rejects(async () => await db.user.count({ where }), {
      name: "TypeError",
      message: "Cannot count users: where has over 5000 conditions",
    });
  }
});

testDbOnEach("Where rejects unknown members, and names them", async (db) => {
  const injected = 'id" = 1 or "id';
  const table: readonly (readonly [unknown, string])[] = [
    [{ nope: 1 }, 'there is no column "nope"'],
    [{ [injected]: 1 }, `there is no column ${JSON.stringify(injected)}`],
    [{ Email: "a" }, 'there is no column "Email"'],
    [{ "users.email": "a" }, 'there is no column "users.email"'],
    [{ hasOwnProperty: 1 }, 'there is no column "hasOwnProperty"'],
    [JSON.parse('{"__proto__":{"email":"a"}}'), 'there is no column "__proto__"'],
    [{ OR: [{ nope: 1 }] }, 'there is no column "nope"'],
    [{ email: { like: "a" } }, 'email takes no "like" of string'],
    [{ email: { "= 1 or 1": "a" } }, 'email takes no "= 1 or 1" of string'],
    [{ email: { toString: "a" } }, 'email takes no "toString" of string'],
    [{ id: { contains: "1" } }, 'id takes no "contains" of string'],
    [{ active: { gt: true } }, 'active takes no "gt" of boolean'],
    [{ id: { in: 1 } }, 'id takes no "in" of number'],
    [{ id: { isNull: 1 } }, 'id takes no "isNull" of number'],
    [{ id: { in: [null] } }, "id takes a number, not null"],
    // deno-lint-ignore no-sparse-arrays
    [{ id: { in: [1, , 2] } }, "id takes a number, not undefined"],
    [{ id: { lt: null } }, "id takes a number, not null"],
    [{ id: "1 or 1=1" }, "id takes a number, not string"],
    [{ id: [1] }, "id takes a number, not object"],
    [{ email: new Date(0) }, "email takes a string, not object"],
    [{ id: undefined }, "where.id is undefined"],
    [{ id: { equals: undefined } }, "id.equals is undefined"],
    [{ id: {} }, "id has no operator"],
    [{ AND: undefined }, "where.AND is undefined"],
    [{ AND: [undefined] }, "where is undefined"],
    [undefined, "where is undefined"],
    [{ AND: { id: 1 } }, "AND is not a list"],
    [{ NOT: [{ id: 1 }] }, "where is not a plain object"],
    [{ NOT: { id: undefined } }, "where.id is undefined"],
    [null, "where is not a plain object"],
    ["id = 1", "where is not a plain object"],
    [[], "where is not a plain object"],
  ];
  for (const [where, reason] of table) {
    const options = { where: where as Where<typeof User> };
    const is = (verb: string) => mistake(`Cannot ${verb} users: ${reason}`);
    await assert.rejects(db.user.findMany(options), is("read"));
    await assert.rejects(db.user.count(options), is("count"));
    await assert.rejects(db.user.exists(options), is("look up"));
  }
});

testDbOnEach("UniqueWhere takes values of unique columns and nothing else", async (db) => {
  await db.user.create({ data: { tenant_id: "a", email: "a", name: "Ada" } });
  const table: readonly (readonly [unknown, string])[] = [
    [{}, "where names no unique column"],
    [undefined, "where is undefined"],
    [{ id: undefined }, "where.id is undefined"],
    [{ id: null }, "id takes a number, not null"],
    [{ id: { equals: undefined } }, "id takes a number, not undefined"],
    [{ id: { equals: null } }, "id takes a number, not null"],
    [{ id: { gt: 0 } }, "id takes a number, not object"],
    [{ id: { equals: 1, gt: 0 } }, "id takes a number, not object"],
    [{ email: { contains: "" } }, "email takes a string, not object"],
    [{ name: "Ada" }, "name is not unique"],
    [{ id: 1, name: "Ada" }, "name is not unique"],
    [{ OR: [{ id: 1 }] }, 'there is no column "OR"'],
    [{ nope: 1 }, 'there is no column "nope"'],
  ];
  for (const [where, reason] of table) {
    const options = { where: where as never };
    const is = (verb: string) => mistake(`Cannot ${verb} users: ${reason}`);
    await assert.rejects(db.user.findUnique(options), is("read"));
    await assert.rejects(db.user.update({ ...options, data: { name: "x" } }), is("update"));
    await assert.rejects(db.user.update({ ...options, data: {} }), is("update"));
    await assert.rejects(db.user.delete(options), is("delete"));
  }
  assert.equal((await db.user.findUnique({ where: User.email.equals("a") }))?.name, "Ada");
});

testOnEach("Repository reads no UUID that it would not find", async ({ brand, url }) => {
  class Items extends DbService.with({ item: model("items", { id: field.uuid().primaryKey() }) }) {}
  await using db = await Items.open(DbOptions.fromUrl(url));
  const id = "A0EEBC99-9C0B-4EF8-BB6D-00000000000A";
  await sql`create table items (id varchar(36) primary key)`.execute(db.kysely);
  await sql`insert into items values (${id})`.execute(db.kysely);
  const found = db.item.findMany();
  // As most of MySQL's collations, the one of the test's server ignores case.
  if (brand === "mysql") assert.deepEqual(await found, [{ id: id.toLowerCase() }]);
  else {
    const message = "Cannot read items.id: it is not in lower case";
    await assert.rejects(found, dbError("Database", message));
  }
});

testOnEach("Where finds parts of text in columns of an enum", async ({ brand, url }) => {
  const mood = field.text();
  const Day = model("days", { id: field.integer().primaryKey(), mood, note: mood.nullable() });
  await using db = await DbService.with({ day: Day }).open(DbOptions.fromUrl(url));
  const run = (statement: string) => sql.raw(statement).execute(db.kysely);
  const values = "('sad', 'so_so', 'Happy')";
  if (brand === "postgres") await run(`create type mood as enum ${values}`);
  const type = {
    postgres: "mood",
    mysql: `enum ${values} character set utf8mb4 collate utf8mb4_bin`,
    sqlite: "text",
  };
  await run(`create table days (id int primary key, mood ${type[brand]} not null, note text)`);
  await run("insert into days values (1, 'sad', null), (2, 'so_so', null), (3, 'Happy', null)");
  const table: readonly (readonly [Where<typeof Day>, readonly number[]])[] = [
    [{ mood: { contains: "a" } }, [1, 3]],
    [{ mood: { contains: "o_s" } }, [2]],
    [{ mood: { contains: "_" } }, [2]],
    [{ mood: { startsWith: "s" } }, [1, 2]],
    [{ mood: { startsWith: "h" } }, []],
    [{ mood: { endsWith: "y" } }, [3]],
    [{ NOT: { mood: { endsWith: "nowhere" } } }, [1, 2, 3]],
    [{ mood: { contains: "a", in: ["sad", "so_so"] } }, [1]],
  ];
  for (const [where, ids] of table) {
    const days = await db.day.findMany({ where, orderBy: { id: "asc" } });
    assert.deepEqual(days.map(({ id }) => id), ids, JSON.stringify(where));
  }
});

testOnEach("Where reports a collation that has no parts of text", async ({ url }) => {
  const Item = model("items", { id: field.integer().primaryKey(), name: field.text() });
  await using db = await DbService.with({ item: Item }).open(DbOptions.fromUrl(url));
  const run = (statement: string) => sql.raw(statement).execute(db.kysely);
  await run("create collation ci (provider = icu, locale = 'und', deterministic = false)");
  await run("create table items (id bigserial primary key, name text collate ci not null)");
  await run("insert into items (name) values ('a')");
  const message = "Cannot read items: a column with a nondeterministic collation has no " +
    "contains, startsWith and endsWith";
  const { rows: [server] } = await sql<{ version: number }>`
    select current_setting('server_version_num')::int as version`.execute(db.kysely);
  for (const match of ["contains", "startsWith", "endsWith"]) {
    const found = db.item.findMany({ where: { name: { [match]: "a" } } });
    if (server!.version >= 180_000) assert.equal((await found).length, 1);
    else await assert.rejects(found, dbError("Database", message));
  }
}, { brands: ["postgres"] });

testOnEach("startsWith finds text of PostgreSQL by an index", async (database) => {
  const Item = model("items", {
    id: field.integer().primaryKey(),
    name: field.text().unique(),
    label: field.text().unique(),
  });
  await using noted = await openNoted(DbService.with({ item: Item }), database);
  const { db, notes } = noted;
  await sql`create table items (id bigserial primary key,
    name text collate "C" not null unique, label varchar(50) collate "C" not null unique)`
    .execute(db.kysely);
  await sql`insert into items (name, label) select n::text, n::text from generate_series(1, 5000) n`
    .execute(db.kysely);
  await sql`analyze`.execute(db.kysely);
  for (const name of ["name", "label"]) {
    notes.take();
    assert.equal(await db.item.count({ where: { [name]: { startsWith: "499" } } }), 11);
    const [count] = notes.take();
    const plan = await planOf(db.kysely, "postgres", count!);
    assert.match(plan, new RegExp(`items_${name}_key[^]*Index Cond`));
  }
}, { brands: ["postgres"] });

testOnEach("startsWith finds by an index whatever characters follow", async (database) => {
  const Item = model("items", { id: field.integer().primaryKey(), name: field.text().unique() });
  await using noted = await openNoted(DbService.with({ item: Item }), database);
  const { db, notes } = noted;
  await db.createTables();
  const names = [
    "",
    "a",
    " ",
    "\u{1f600}",
    "\u{1f600}x",
    "\u{20000}",
    "\uffff",
    "\u{10fffd}\u{10fffd}",
  ]
    .map((end) => `Ann${end}`);
  const others = Array.from({ length: 500 }, (_, i) => `Bob ${i}`);
  await db.item.createMany({ data: [...names, "Anm", "Ano", ...others].map((name) => ({ name })) });
  if (database.brand === "mysql") await sql`analyze table items`.execute(db.kysely);
  notes.take();
  const found = await db.item.findMany({ where: { name: { startsWith: "Ann" } } });
  assert.deepEqual(found.map(({ name }) => name).sort(), names.sort());
  if (database.brand === "mysql") {
    assert.match(await planOf(db.kysely, "mysql", notes.take()[0]!), /range/);
  }
  const where = { name: { startsWith: "Ann\u{1f600}" } };
  assert.equal(await db.item.count({ where }), 2);
  assert.equal(await db.item.deleteMany({ where: { name: { startsWith: "Ann" } } }), names.length);
});
