/** A database that has become read-only, such as the former primary after a failover. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions } from "../../../src/db/mod.ts";
import { type Brand, Db, dbError, testOnEach } from "../support/database.ts";
import { type ServerBrand, sessionOf } from "../support/sessions.ts";

const ADA = { tenant_id: "a", email: "ada@example.org", name: "Ada" };
const readOnly = (action: string) =>
  dbError("ReadOnly", `Cannot ${action}: the database is read-only`);

/** MariaDB's own states are those of a whole server; a statement makes it send their errors. */
const failWith = (errno: number, message: string) =>
  sql`signal sqlstate 'HY000' set mysql_errno = ${sql.lit(errno)}, message_text = ${
    sql.lit(message)
  }`;

/** Runs a statement that fails as a write does when its session is read-only. */
const WRITES: Readonly<Record<ServerBrand, (db: Db) => Promise<unknown>>> = {
  postgres: (db) =>
    sql`do $$ begin set transaction read only; delete from users; end $$`.execute(db.kysely),
  mysql: (db) => failWith(1836, "Running in read-only mode").execute(db.kysely),
};

testOnEach("a write to a read-only database is ReadOnly, and reads go on", async ({ url }) => {
  await using db = await open(url);
  await sql`pragma query_only = on`.execute(db.kysely);
  await assert.rejects(db.user.create({ data: ADA }), readOnly("create users"));
  await assert.rejects(
    db.transaction(() => db.user.create({ data: ADA })),
    readOnly("begin transaction"),
  );
  await assert.rejects(
    db.kysely.insertInto("users").values(ADA).execute(),
    readOnly("run query"),
  );
  assert.equal(await db.user.count(), 0);
  await sql`pragma query_only = off`.execute(db.kysely);
  await db.user.create({ data: ADA });
}, { brands: ["sqlite"] });

testOnEach("a write to a read-only server is ReadOnly, and its connection is closed", async (
  { url },
) => {
  await using db = await open(url);
  const makeReadOnly = () => sql`set default_transaction_read_only = on`.execute(db.kysely);
  await makeReadOnly();
  assert.equal(await db.user.count(), 0);
  await assert.rejects(db.user.create({ data: ADA }), readOnly("create users"));
  await db.user.create({ data: ADA });
  await makeReadOnly();
  const doubled = db.transaction(async () => {
    await db.user.count();
    await db.user.update({ where: { email: ADA.email }, data: { name: "Eve" } });
  });
  await assert.rejects(doubled, readOnly("update users"));
  await db.user.update({ where: { email: ADA.email }, data: { name: "Tom" } });
  assert.equal((await db.user.findFirst())?.name, "Tom");
}, { brands: ["postgres"] });

testOnEach("each error of a read-only server is ReadOnly", async ({ url }) => {
  await using db = await open(url);
  const server = "The MariaDB server is running with the --";
  for (
    const [errno, message] of [
      [1290, `${server}read-only option so it cannot execute this statement`],
      [1290, `${server}super-read-only option so it cannot execute this statement`],
      [1836, "Running in read-only mode"],
      [1036, "Table 'users' is read only"],
    ] as const
  ) {
    await assert.rejects(failWith(errno, message).execute(db.kysely), readOnly("run query"));
  }
  const inTransaction = db.kysely.transaction().setAccessMode("read only").execute((transaction) =>
    transaction.insertInto("users").values(ADA).execute()
  );
  await assert.rejects(inTransaction, readOnly("run query"));
  const other = failWith(1290, `${server}secure-file-priv option so it cannot`).execute(db.kysely);
  await assert.rejects(other, dbError("Database", "Cannot run query: the database failed"));
}, { brands: ["mysql"] });

testOnEach("a connection to a read-only server is closed after its use, on any path", async (
  { brand, url },
) => {
  await using db = await open(url);
  const session = () => sessionOf(brand, db.kysely);
  const write = () => WRITES[serverOf(brand)](db);
  const first = await session();
  assert.equal(await session(), first);
  await assert.rejects(write(), readOnly("run query"));
  const second = await session();
  assert.notEqual(second, first);
  // it stays for the rest of its transaction
  await db.transaction(async () => {
    const before = await session();
    await assert.rejects(db.transaction(write), readOnly("run query"));
    assert.equal(await session(), before);
  });
  assert.notEqual(await session(), second);
}, { brands: ["postgres", "mysql"] });

async function open(url: string): Promise<Db> {
  const db = await Db.open(DbOptions.fromUrl(url).poolMax(1));
  await db.createTables();
  return db;
}

function serverOf(brand: Brand): ServerBrand {
  assert.ok(brand !== "sqlite");
  return brand;
}
