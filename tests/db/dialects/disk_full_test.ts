/** A database without space: a file of SQLite at its limit, and what servers say of theirs. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions } from "../../../src/db/mod.ts";
import { Db, dbError, testOnEach } from "../support/database.ts";

const ADA = { tenant_id: "a", email: "ada@example.org", name: "Ada" };
const REASON = "the database has no space left";

testOnEach("a write without space is DiskFull, and works when there is space again", async (
  { url },
) => {
  await using db = await openFull(url);
  const data = { ...ADA, name: "x".repeat(100_000) };
  const full = dbError("DiskFull", `Cannot create users: ${REASON}`);
  await assert.rejects(db.user.create({ data }), full);
  await assert.rejects(db.transaction(() => db.user.create({ data })), full);
  // an error that is caught does not make the transaction one that is half written
  const swallowed = db.transaction(async () => {
    await db.user.create({ data: ADA });
    await db.user.create({ data: { ...data, email: "eve" } }).catch(() => {});
  });
  await assert.rejects(
    swallowed,
    dbError(
      "DiskFull",
      "Cannot commit transaction: an earlier statement of its transaction failed",
    ),
  );
  assert.equal(await db.user.count(), 0);
  await sql`pragma max_page_count = 1000000`.execute(db.kysely);
  await db.transaction(() => db.user.create({ data }));
  assert.equal(await db.user.count(), 1);
}, { brands: ["sqlite"] });

testOnEach("the error of a server whose disk is full is DiskFull", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  // a device without space
  const copying = sql`copy (select 1) to '/dev/full'`.execute(db.kysely);
  await assert.rejects(copying, dbError("DiskFull", `Cannot run query: ${REASON}`));
}, { brands: ["postgres"] });

testOnEach("the error of a server whose table is full is DiskFull", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url).poolMax(1));
  await sql`set max_heap_table_size = 16384`.execute(db.kysely);
  await sql`create table small (text varchar(1000)) engine = memory`.execute(db.kysely);
  const filling = sql`insert into small
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 100)
    select repeat('x', 1000) from n join n as times`.execute(db.kysely);
  await assert.rejects(filling, dbError("DiskFull", `Cannot run query: ${REASON}`));
}, { brands: ["mysql"] });

async function openFull(url: string): Promise<Db> {
  const db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  await sql`pragma max_page_count = 1`.execute(db.kysely); // as many as there are
  return db;
}
