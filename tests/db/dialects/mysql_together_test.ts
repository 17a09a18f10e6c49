/** Statements that MySQL is sent at once. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { sql } from "kysely";
import { DbOptions } from "../../../src/db/mod.ts";
import { Db, dbError, openDb, testOnEach } from "../support/database.ts";
import { tcpLine } from "../support/tcp_line.ts";

const ADA = { tenant_id: "a", email: "ada", name: "Ada" };
const EVE = { tenant_id: "a", email: "eve", name: "Eve" };
const MYSQL = { brands: ["mysql"] } as const;
/** The number of `gbk_chinese_ci`. */
const GBK = 28;
/** Where a client's first packet has the number of its collation. */
const COLLATION_AT = 12;

testOnEach("a write whose statements are sent at once is undone as a whole", async ({ url }) => {
  await using others = await openDb(url);
  await using db = await Db.open(DbOptions.fromUrl(url).poolMax(1));
  const { id } = await db.user.create({ data: ADA });
  await db.user.create({ data: EVE });
  const fails = { code: "UniqueViolation", fields: ["email"] };
  await assert.rejects(db.user.create({ data: EVE }), fails);
  await assert.rejects(db.user.update({ where: { id }, data: { email: "eve" } }), fails);
  await assert.rejects(
    db.user.upsert({ where: { id }, create: ADA, update: { email: "eve" } }),
    fails,
  );
  // no lock is left, and no transaction is open on the only connection
  const limited = { timeoutMs: 5000 };
  await others.user.update({ where: { id }, data: { name: "B" }, ...limited });
  await db.user.update({ where: { id }, data: { active: false } });
  assert.deepEqual(await others.user.findUnique({ where: { id } }), {
    id,
    ...ADA,
    name: "B",
    active: false,
  });
}, MYSQL);

testOnEach("values are written into statements that are sent at once", async ({ url }) => {
  await using db = await openDb(url);
  const data = {
    integer: Number.MIN_SAFE_INTEGER,
    bigint: -(2n ** 63n),
    text: "'\\\"?;\n\u001a\u{1F600} -- /*",
    boolean: false,
    real: -1.5e-300,
    decimal: "-12345678901234.5678",
    json: { "'": ["\\", "?", null, true, 1e21] },
    timestamp: new Date("2001-02-03T04:05:06.789Z"),
    uuid: "6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b",
    blob: new Uint8Array([0, 39, 92, 255]),
  };
  for (const size of [0, 100_000]) { // the longer row is not sent at once
    const row = { ...data, text: data.text + "x".repeat(size) };
    const select = `'\\"?; ${size}`;
    assert.deepEqual(await db.sample.create({ data: { select, ...row } }), { select, ...row });
    assert.deepEqual(
      await db.sample.update({ where: { select }, data: { text: null, json: null } }),
      {
        select,
        ...row,
        text: null,
        json: null,
      },
    );
    assert.deepEqual(await db.sample.update({ where: { select }, data: row }), { select, ...row });
    assert.deepEqual(await db.sample.delete({ where: { select } }), { select, ...row });
  }
  const rows = Array.from({ length: 300 }, (_, n) => ({
    ...data,
    select: `${n}`,
    text: `${n}`.repeat(n * 40),
  }));
  await db.sample.createMany({ data: rows });
  const found = await db.sample.findMany({});
  assert.deepEqual(found.toSorted((a, b) => Number(a.select) - Number(b.select)), rows);
}, MYSQL);

testOnEach(
  "values stay values if the server replaces the encoding of a client",
  async ({ url }) => {
    // as `init_connect` or `skip_character_set_client_handshake` do
    await using line = await tcpLine(url, { alter: (data) => void (data[COLLATION_AT] = GBK) });
    await using db = await openDb(line.url);
    // In GBK, the last byte of the first character and the backslash that escapes are a character.
    const data = { ...ADA, name: "\u7e17', 1); delete from users; #" };
    const { id } = await db.user.create({ data });
    assert.equal(await db.user.createMany({ data: [{ ...data, email: "1" }, EVE] }), 2);
    await using direct = await Db.open(DbOptions.fromUrl(url));
    assert.deepEqual(await direct.user.findUnique({ where: { id } }), {
      id,
      ...data,
      active: true,
    });
  },
  MYSQL,
);

testOnEach("create returns the row that it created, whoever sets its key", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url).poolMax(1));
  await db.createTables();
  await db.user.create({ data: ADA });
  await sql`create table audits (id bigint auto_increment primary key, email longtext)`
    .execute(db.kysely);
  await sql`create trigger audit after insert on users for each row
    insert into audits (email) values (new.email), (new.email)`.execute(db.kysely);
  const eve = { id: 2, ...EVE, active: true };
  assert.deepEqual(await db.user.create({ data: EVE }), eve);
  await sql`create trigger numbers before insert on users for each row set new.id = 1000`
    .execute(db.kysely);
  const other = { tenant_id: "b", email: "bob", name: "Bob" };
  assert.deepEqual(await db.user.create({ data: other }), { id: 1000, ...other, active: true });
  assert.deepEqual(await db.user.delete({ where: { id: 1000 } }), {
    id: 1000,
    ...other,
    active: true,
  });
  await db.transaction(async () => {
    assert.equal((await db.user.create({ data: other })).id, 1000);
  });
  // The key of this table is not generated at all.
  await sql`alter table users drop primary key, modify id bigint default 2000`.execute(db.kysely);
  await sql`drop trigger numbers`.execute(db.kysely);
  await assert.rejects(
    db.user.create({ data: { ...other, email: "eva" } }),
    dbError("Database", "Cannot create users: the key was not generated"),
  );
}, MYSQL);

testOnEach("errors of statements that were not prepared have no values", async ({ url }) => {
  await using db = await openDb(url);
  const data = { ...ADA, name: "a secret" };
  await db.user.create({ data });
  const secret = { email: { in: Array<string>(5000).fill("a secret") } };
  const nowhere = db.kysely.selectFrom(sql<{ a: string }>`nowhere`.as("t")).selectAll();
  const failing: readonly (() => Promise<unknown>)[] = [
    () => db.user.create({ data }),
    () => db.user.createMany({ data: [data, data] }),
    () => db.transaction(() => db.user.create({ data })),
    () => sql`drop table users`.execute(db.kysely).then(() => db.user.create({ data })),
    () => db.user.count({ where: secret }),
    () => Array.fromAsync(nowhere.where("t.a", "=", "a secret").stream()),
  ];
  for (const run of failing) {
    await assert.rejects(run(), (error) => {
      assert.ok(!inspect(error, { depth: 10 }).includes("a secret"), inspect(error));
      assert.match(inspect(error), /sql: "?'?`?(?:start|insert|select)/);
      return true;
    });
  }
}, MYSQL);

testOnEach("nothing else is several statements", async ({ url }) => {
  await using db = await openDb(url);
  await db.user.create({ data: ADA });
  const injected = "1 = 1; delete from users";
  const attempts = [
    sql`select 1 where ${sql.raw(injected)}`,
    sql`select ${1} where ${sql.raw(injected)}`,
    sql`select 1 where 1 in (${Array.from({ length: 5000 }, () => 1)}) and ${sql.raw(injected)}`,
  ];
  for (const attempt of attempts) {
    await assert.rejects(attempt.execute(db.kysely), { code: "Database" });
  }
  const stream = db.kysely.selectFrom("users").selectAll().where(sql<boolean>`${sql.raw(injected)}`)
    .stream();
  await assert.rejects(Array.fromAsync(stream), { code: "Database" });
  await assert.rejects(
    sql`create table programs (event int); ${sql.raw("delete from users")}`.execute(db.kysely),
    { code: "Database" },
  );
  assert.equal(await db.user.count(), 1);
  await sql`create definer = current_user() trigger keeps before delete on users for each row
    begin set @a = 1; signal sqlstate '45000'; end`.execute(db.kysely);
  await assert.rejects(db.user.deleteMany({ all: true }), { code: "Database" });
}, MYSQL);
