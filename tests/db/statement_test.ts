import assert from "node:assert/strict";
import {
  DbConnection,
  DbOptions,
  DbService,
  type Dialect,
  field,
  model,
} from "../../src/db/mod.ts";
import { BoundedCache } from "../../src/db/bounded_cache.ts";
import { test } from "../test.ts";
import { Db } from "./database.ts";

/** Opens a database that notes what is compiled, and each statement with what it binds. */
async function openNoted() {
  const sqlite = await DbOptions.fromUrl("sqlite::memory:").open();
  const noted: (readonly [string, ...unknown[]])[] = [];
  let compiled = 0;
  const compiler = sqlite.kysely.createQueryCompiler();
  const dialect: Dialect = {
    kysely: {
      createAdapter: () => sqlite.kysely.createAdapter(),
      createDriver: () => sqlite.kysely.createDriver(),
      createIntrospector: (kysely) => sqlite.kysely.createIntrospector(kysely),
      createQueryCompiler: () => ({
        compileQuery(node, id) {
          compiled += 1;
          return compiler.compileQuery(node, id);
        },
      }),
    },
    codecs: sqlite.codecs,
    columnTypes: sqlite.columnTypes,
    tableOptions: sqlite.tableOptions,
    pattern: (match, text) => sqlite.pattern(match, text),
    matches: (column, pattern) => sqlite.matches(column, pattern),
    explain: (error) => sqlite.explain(error),
    runNow(sql, parameters) {
      noted.push([sql, ...parameters]);
      return sqlite.runNow?.(sql, parameters);
    },
    close: () => sqlite.close(),
  };
  const db = new Db(new DbConnection(dialect));
  await db.createTables();
  const take = () => noted.splice(0);
  return { db, take, compiled: () => compiled, [Symbol.asyncDispose]: () => db.close() };
}

test("each operation is one statement, with every value bound", async () => {
  await using noted = await openNoted();
  const { db, take } = noted;
  const row = 'select "id", "tenant_id", "email", "name", "active" from "users"';
  const returning = 'returning "id", "tenant_id", "email", "name", "active"';
  const ada = { tenant_id: "a", email: "e", name: "Ada" };
  const scoped = db.user.scoped({ tenant_id: "a" });
  assert.deepEqual(take().map(([sql]) => sql), [
    'create table if not exists "users" ("id" integer not null primary key autoincrement, ' +
    '"tenant_id" text not null, "email" text not null unique, "name" text not null, ' +
    '"active" integer default 1 not null) strict',
    'create table if not exists "order" ("select" text not null primary key, "integer" integer, ' +
    '"text" text, "boolean" integer, "real" real) strict',
  ]);

  const table: readonly (readonly [() => Promise<unknown>, string, ...unknown[]])[] = [
    [
      () => scoped.create({ data: { email: "e", name: "Ada" } }),
      `insert into "users" ("tenant_id", "email", "name", "active") values (?, ?, ?, ?) ${returning}`,
      "a",
      "e",
      "Ada",
      1,
    ],
    [() => db.user.findUnique({ where: { id: 1 } }), `${row} where "id" = ?`, 1],
    [
      () => scoped.findUnique({ where: { id: 1, email: { equals: "e" } } }),
      `${row} where ("tenant_id" = ? and ("id" = ? and "email" = ?))`,
      "a",
      1,
      "e",
    ],
    [() => db.user.findMany(), `${row} where 1 = 1`],
    [
      () => scoped.findMany({ where: { OR: [{ id: 1 }, { tenant_id: "b" }] }, skip: 1 }),
      `${row} where ("tenant_id" = ? and ("id" = ? or "tenant_id" = ?)) ` +
      'order by "id" asc limit ? offset ?',
      "a",
      1,
      "b",
      Number.MAX_SAFE_INTEGER,
      1,
    ],
    [
      () => db.user.findFirst({ where: { name: { startsWith: "*" } }, orderBy: { name: "desc" } }),
      `${row} where "name" glob ? order by "name" desc, "id" asc limit ? offset ?`,
      "[*]*",
      1,
      0,
    ],
    [
      () => db.user.findMany({ where: { NOT: { id: { in: [1, 2, 3] } } } }),
      `${row} where not ("id" in (?, ?, ?, ?))`,
      1,
      2,
      3,
      3,
    ],
    [
      () => scoped.update({ where: { id: 1 }, data: { name: "x", active: false } }),
      `update "users" set "name" = ?, "active" = ? where ("tenant_id" = ? and "id" = ?) ${returning}`,
      "x",
      0,
      "a",
      1,
    ],
    [() => db.user.update({ where: { id: 1 }, data: {} }), `${row} where "id" = ?`, 1],
    [
      () => scoped.count({ where: { active: true } }),
      'select count(*) as "count" from "users" where ("tenant_id" = ? and "active" = ?)',
      "a",
      1,
    ],
    [
      () => db.user.exists({ where: { name: { isNull: false } } }),
      'select 1 as "found" from "users" where "name" is not null limit ?',
      1,
    ],
    [
      () => db.user.delete({ where: { id: 1 } }),
      `delete from "users" where "id" = ? ${returning}`,
      1,
    ],
    [() => db.ping(), "select 1"],
  ];
  for (const [run, ...statement] of table) {
    await run();
    assert.deepEqual(take(), [statement]);
  }
  assert.deepEqual(await db.user.create({ data: ada }), { id: 2, ...ada, active: true });
});

test("operations of one shape share their SQL and never their values", async () => {
  await using noted = await openNoted();
  const { db, take } = noted;
  take();
  for (const [id, name] of [[1, "a"], [2, "b"]] as const) {
    await db.user.count({ where: { id, name: { not: name } } });
    await db.user.scoped({ tenant_id: name }).exists({ where: { name: { contains: name } } });
  }
  const [count, exists, sameCount, sameExists] = take();
  assert.equal(count?.[0], sameCount?.[0]);
  assert.equal(exists?.[0], sameExists?.[0]);
  assert.deepEqual([count, exists, sameCount, sameExists].map((it) => it?.slice(1)), [
    [1, "a"],
    ["a", "*a*", 1],
    [2, "b"],
    ["b", "*b*", 1],
  ]);
});

test("operations of different shapes never share their SQL, whatever the columns are called", async () => {
  const integer = field.integer();
  class Odd extends DbService.with({
    odd: model("odd", { id: integer.primaryKey(), ORid: integer, take: integer, asc: integer }),
  }) {}
  await using db = await Odd.open(DbOptions.fromUrl("sqlite::memory:"));
  await db.createTables();
  await db.odd.create({ data: { ORid: 1, take: 2, asc: 3 } });
  assert.equal(await db.odd.count({ where: { OR: [], id: 1 } }), 0);
  assert.equal(await db.odd.count({ where: { ORid: 1 } }), 1);
  assert.equal((await db.odd.findMany({ orderBy: { asc: "asc" } })).length, 1);
  assert.equal((await db.odd.findMany({ take: 0 })).length, 0);
});

test("a repository compiles a shape once, as long as it keeps it", async () => {
  await using noted = await openNoted();
  const { db, compiled } = noted;
  const before = compiled();
  for (let id = 0; id < 10; id++) await db.user.scoped({ name: `${id}` }).count({ where: { id } });
  assert.equal(compiled() - before, 1);

  const count = (size: number) =>
    db.user.count({ where: { OR: Array.from({ length: size }, (_, id) => ({ id })) } });
  for (let size = 1; size <= 300; size++) assert.equal(await count(size), 0);
  assert.equal(compiled() - before, 301);
  await count(300);
  assert.equal(compiled() - before, 301);
  await count(1);
  assert.equal(compiled() - before, 302);
});

test("BoundedCache makes a value once and forgets the oldest", () => {
  const made: string[] = [];
  const cache = new BoundedCache<string>(2);
  const get = (key: string) => cache.getOrMake(key, () => `${key}${made.push(key)}`);
  assert.deepEqual(["a", "b", "a", "c", "b", "a"].map(get), ["a1", "b2", "a1", "c3", "b2", "a4"]);
  assert.deepEqual(made, ["a", "b", "c", "a"]);
});
