import { sql } from "kysely";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { DbOptions, DbService, field, model } from "../../src/db/mod.ts";
import {
  type Brand,
  Db,
  dbError,
  mistake,
  testDbOnEach,
  testOnEach,
  User,
} from "./support/database.ts";

const MINE = { id: 1, tenant_id: "mine", email: "me@example.org", name: "Me", active: true };
const OTHER = { id: 2, tenant_id: "other", email: "you@example.org", name: "You", active: true };

async function fillTenants(db: Db): Promise<void> {
  await db.user.create({ data: MINE });
  await db.user.create({ data: OTHER });
}

testDbOnEach("Repository.scoped() reads the rows of its scope, whatever is asked", async (db) => {
  await fillTenants(db);
  const users = db.user.scoped({ tenant_id: "mine" });
  const other = { tenant_id: "other" };
  for (
    const where of [
      {},
      { id: { gt: 0 } },
      { OR: [{ id: 1 }, { id: 2 }, other] },
      { OR: [other, {}] },
      { NOT: { tenant_id: "nobody" } },
      { NOT: { OR: [] } },
      { AND: [{ OR: [{}, other] }] },
      { tenant_id: { in: ["mine", "other"] } },
      { tenant_id: { not: "nobody" } },
    ]
  ) {
    assert.deepEqual(await users.findMany({ where }), [MINE], JSON.stringify(where));
    assert.equal(await users.count({ where }), 1);
  }
  for (const where of [other, { id: 2 }, { OR: [other, { id: 2 }] }, { NOT: { id: 1 } }]) {
    assert.deepEqual(await users.findMany({ where }), [], JSON.stringify(where));
    assert.equal(await users.findFirst({ where }), null);
    assert.equal(await users.count({ where }), 0);
    assert.equal(await users.exists({ where }), false);
  }
  assert.equal(await users.findUnique({ where: { id: 2 } }), null);
  assert.equal(await users.findUnique({ where: { email: OTHER.email } }), null);
  assert.equal(await users.findUnique({ where: User.email.equals(OTHER.email) }), null);
  assert.deepEqual(await users.findUnique({ where: { id: 1 } }), MINE);
});

testDbOnEach("Repository.scoped() writes the rows of its scope only", async (db) => {
  await fillTenants(db);
  const users = db.user.scoped({ tenant_id: "mine" });
  const missing = (verb: string) =>
    dbError("RowNotFound", `Cannot ${verb} users: there is no such row`);
  for (const where of [{ id: 2 }, { email: OTHER.email }, { id: 2, email: OTHER.email }]) {
    await assert.rejects(users.update({ where, data: { name: "taken" } }), missing("update"));
    await assert.rejects(users.update({ where, data: {} }), missing("update"));
    await assert.rejects(users.delete({ where }), missing("delete"));
  }
  const set = { name: "TypeError", message: "Cannot update users: the scope sets tenant_id" };
  for (const tenant_id of ["other", "mine", undefined, null]) {
    const data = { name: "x", tenant_id } as { name: string };
    await assert.rejects(users.update({ where: { id: 1 }, data }), set);
  }
  await assert.rejects(
    users.update({ where: { id: 1, tenant_id: "other" } as { id: number }, data: {} }),
    { name: "TypeError", message: "Cannot update users: tenant_id is not unique" },
  );
  assert.deepEqual(await db.user.findMany(), [MINE, OTHER]);
  const renamed = { ...MINE, name: "Still me" };
  assert.deepEqual(await users.update({ where: { id: 1 }, data: { name: "Still me" } }), renamed);
  assert.deepEqual(await users.delete({ where: { id: 1 } }), renamed);
  assert.deepEqual(await db.user.findMany(), [OTHER]);
});

testDbOnEach("Repository.scoped() creates rows in its scope only", async (db) => {
  await fillTenants(db);
  const users = db.user.scoped({ tenant_id: "mine" });
  const data = { email: "new@example.org", name: "New" };
  assert.deepEqual(await users.create({ data }), {
    id: 3,
    tenant_id: "mine",
    ...data,
    active: true,
  });
  for (const tenant_id of ["other", "mine", undefined, null]) {
    await assert.rejects(users.create({ data: { ...data, tenant_id } as typeof data }), {
      name: "TypeError",
      message: "Cannot create users: the scope sets tenant_id",
    });
  }
  assert.equal(await db.user.count(), 3);
});

testDbOnEach("Repository.scoped() narrows a scope and never replaces it", async (db) => {
  await fillTenants(db);
  const mine = db.user.scoped({ tenant_id: "mine" });
  assert.deepEqual(await mine.scoped({ active: true }).findMany(), [MINE]);
  assert.deepEqual(await mine.scoped({ active: false }).findMany(), []);
  assert.deepEqual(await mine.findMany(), [MINE]);
  const scoped = mine.scoped.bind(mine) as (values: unknown) => unknown;
  const table: readonly (readonly [unknown, string])[] = [
    [{ tenant_id: "other" }, "tenant_id is scoped already"],
    [{}, "no column is given"],
    [undefined, "no column is given"],
    [null, "no column is given"],
    [{ name: undefined }, "name takes a string, not undefined"],
    [{ name: null }, "name takes a string, not null"],
    [{ name: { not: "" } }, "name takes a string, not object"],
    [{ nope: 1 }, 'there is no column "nope"'],
  ];
  for (const [values, reason] of table) {
    assert.throws(() => scoped(values), mistake(`Cannot scope users: ${reason}`));
  }
});

testDbOnEach("Repository.scoped() keeps to its scope when its values change later", async (db) => {
  await fillTenants(db);
  const values = { tenant_id: "mine" };
  const users = db.user.scoped(values);
  values.tenant_id = "other";
  assert.deepEqual(await users.findMany(), [MINE]);
});

/** Columns of text whose collation or type ignores case, by which the database compares it. */
const LOOSE: Readonly<Record<Brand, readonly string[]>> = {
  sqlite: ["text collate nocase"],
  postgres: ["citext", "mood", 'text collate "loose"'],
  mysql: [
    "varchar(50) character set utf8mb4 collate utf8mb4_general_ci",
    "varchar(50) character set latin1",
    "enum('ada', 'ADA ') character set utf8mb4 collate utf8mb4_bin",
  ],
};

testOnEach(
  "Repository.scoped() compares text exactly, whatever its column ignores; a condition does not",
  async ({ brand, url }) => {
    for (const type of LOOSE[brand]) {
      await using db = await Db.open(DbOptions.fromUrl(url));
      if (brand === "postgres") {
        await sql`create extension if not exists citext`.execute(db.kysely);
        await sql`do $$ begin create type mood as enum ('ada', 'ADA', 'ada '); exception
        when duplicate_object then null; end $$`.execute(db.kysely);
        await sql`create collation if not exists loose
          (provider = icu, locale = 'und-u-ka-shifted-ks-level1', deterministic = false)`
          .execute(db.kysely);
      }
      await sql`drop table if exists users`.execute(db.kysely);
      const key = { sqlite: "integer primary key", mysql: "int primary key auto_increment" };
      await sql`create table users (id ${
        sql.raw(
          brand === "postgres" ? "int generated by default as identity primary key" : key[brand],
        )
      }, tenant_id ${sql.raw(type)} not null, email varchar(50) not null unique,
      name varchar(50) not null, active ${sql.raw(brand === "postgres" ? "bool" : "int")} not null)`
        .execute(db.kysely);
      await db.user.create({ data: { ...MINE, tenant_id: "ada" } });
      const isEnum = type === "mood" || type.startsWith("enum");
      const equated = await db.user.count({ where: { tenant_id: "ADA" } });
      assert.equal(equated, isEnum ? 0 : 1, type);
      const blanks = type.startsWith("enum") ? "ADA " : "ada ";
      const others = isEnum ? [blanks] : ["ADA", "Ada", blanks];
      for (const tenant_id of others) {
        const users = db.user.scoped({ tenant_id });
        const where = { id: MINE.id };
        const what = `${type}: ${tenant_id}`;
        assert.deepEqual(await users.findMany(), [], what);
        assert.equal(await users.count(), 0, what);
        assert.equal(await users.findUnique({ where }), null, what);
        assert.equal(await users.findFirst({ where }), null, what);
        assert.equal(await users.updateMany({ all: true, data: { name: "x" } }), 0, what);
        assert.equal(await users.deleteMany({ where }), 0, what);
        const missing = { code: "RowNotFound" };
        await assert.rejects(users.update({ where, data: { name: "x" } }), missing, what);
        await assert.rejects(users.delete({ where }), missing, what);
        const create = { email: MINE.email, name: "x" };
        await assert.rejects(
          users.upsert({ where: { email: MINE.email }, create, update: { name: "x" } }),
          { code: "UniqueViolation" },
          what,
        );
        const together = await Promise.all(
          [1, 1, 2].map((id) => users.findUnique({ where: { id } })),
        );
        assert.deepEqual(together, [null, null, null], what);
      }
      const own = db.user.scoped({ tenant_id: "ada" });
      assert.deepEqual(await own.findMany(), [{ ...MINE, tenant_id: "ada" }], type);
      assert.equal((await own.findUnique({ where: { email: MINE.email } }))?.id, 1, type);
      const create = { email: MINE.email, name: "x" };
      const upserted = await own.upsert({ where: { id: 1 }, create, update: { name: "y" } });
      assert.deepEqual([upserted.id, upserted.name], [1, "y"], type);
    }
  },
);

testOnEach("scoped() keeps the values that it was given, whatever becomes of them", async (
  { url },
) => {
  const Moment = model("moments", {
    id: field.integer().primaryKey(),
    at: field.timestamp(),
    hash: field.blob(),
  });
  await using db = await DbService.with({ moment: Moment }).open(DbOptions.fromUrl(url));
  await db.createTables();
  const at = new Date("2026-01-01T00:00:00.000Z");
  const hash = Buffer.from([1, 2, 3]);
  const scoped = db.moment.scoped({ at, hash });
  const { id } = await scoped.create({ data: {} });
  at.setUTCDate(2);
  hash[0] = 9;
  const row = { id, at: new Date("2026-01-01T00:00:00.000Z"), hash: Uint8Array.of(1, 2, 3) };
  assert.deepEqual(await scoped.findUnique({ where: { id } }), row);
  assert.deepEqual(await scoped.findMany(), [row]);
  assert.deepEqual(await scoped.create({ data: {} }), { ...row, id: id + 1 });
  assert.equal(await scoped.count(), 2);
});
