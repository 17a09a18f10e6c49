/** Streams of Kysely inside transactions. */
import assert from "node:assert/strict";
import { DbOptions } from "../../../src/db/mod.ts";
import { SERVERS } from "../dialects/fault.ts";
import { Db, testOnEach } from "../support/database.ts";
import { sleep } from "../support/sessions.ts";
import { tcpLine } from "../support/tcp_line.ts";

/** More than the drivers read ahead. */
const ROWS = 1500;
const OPEN = "a stream of its transaction is open";
const CLOSED = {
  name: "TypeError",
  message: "Cannot read stream: its transaction has ended, which did not await it",
};

function user(email: string) {
  return { tenant_id: "a", email, name: "n".repeat(2000) };
}

/** Opens a database with rows and a single connection, whose loss would be noticed. */
async function open(url: string): Promise<Db> {
  const db = await Db.open(
    DbOptions.fromUrl(url).poolMax(1).statementTimeoutMs(1000).acquireTimeoutMs(2000),
  );
  await db.createTables();
  for (let first = 0; first < ROWS; first += 500) {
    await db.user.createMany({
      data: Array.from({ length: 500 }, (_, index) => user(String(first + index))),
    });
  }
  return db;
}

function rowsOf(kysely: Db["kysely"]) {
  return kysely.selectFrom("users").selectAll().orderBy("id").stream(50)[Symbol.asyncIterator]();
}

/** Reads the first row of a stream, and leaves it open. */
async function firstOf(kysely: Db["kysely"]): Promise<AsyncIterator<unknown>> {
  const rows = rowsOf(kysely);
  assert.equal((await rows.next()).done, false);
  return rows;
}

/** Begins a stream in a transaction that then fails; returns the stream. */
async function openInFailure(db: Db): Promise<AsyncIterator<unknown> | undefined> {
  let rows: AsyncIterator<unknown> | undefined;
  const failure = new Error("no");
  await assert.rejects(
    db.transaction(async () => {
      await db.user.create({ data: user("b") });
      rows = await firstOf(db.kysely);
      throw failure;
    }),
    (error) => error === failure,
  );
  return rows;
}

/** Reads what a stream has left; the driver may have read some rows already. */
async function readOn(rows: AsyncIterator<unknown> | undefined): Promise<void> {
  while (!(await rows?.next())?.done);
}

testOnEach("while a stream of a transaction is open, its other statements are refused", async (
  { url },
) => {
  await using db = await open(url);
  let rows: AsyncIterator<unknown> | undefined;
  const refused = (action: string) => ({
    name: "TypeError",
    message: `Cannot ${action}: ${OPEN}`,
  });
  await db.transaction(async () => {
    rows = await firstOf(db.kysely);
    await assert.rejects(db.user.create({ data: user("x") }), refused("create users"));
    const insert = db.kysely.insertInto("users").values(user("x"));
    await assert.rejects(insert.execute(), refused("run query"));
    await assert.rejects(db.transaction(() => 1), refused("begin nested transaction"));
    await assert.rejects(rowsOf(db.kysely).next(), refused("run query"));
    await rows.return?.();
    await db.user.create({ data: user("y") });
    for await (const _ of db.kysely.selectFrom("users").select("id").stream(50)) break;
    await db.user.create({ data: user("z") });
  });
  assert.equal(await db.user.count(), ROWS + 2);
});

testOnEach("a stream that is left open is closed at the end of its transaction", async (
  { url },
) => {
  await using db = await open(url);
  let rows: AsyncIterator<unknown> | undefined;
  await db.transaction(async () => {
    await db.user.create({ data: user("a") });
    rows = await firstOf(db.kysely);
  });
  await assert.rejects(readOn(rows), CLOSED);
  await assert.rejects(readOn(await openInFailure(db)), CLOSED);
  assert.equal(await db.user.count(), ROWS + 1);
});

testOnEach("a stream that is left open is closed with its nested transaction", async ({ url }) => {
  await using db = await open(url);
  await db.transaction(async () => {
    let rows: AsyncIterator<unknown> | undefined;
    await db.transaction(async () => {
      await db.user.create({ data: user("a") });
      rows = await firstOf(db.kysely);
    });
    await assert.rejects(readOn(rows), CLOSED);
    await assert.rejects(readOn(await openInFailure(db)), CLOSED);
    await db.user.create({ data: user("c") });
  });
  assert.equal(await db.user.count(), ROWS + 2);
});

testOnEach("a stream that is left open is closed with the transaction of Kysely", async (
  { url },
) => {
  await using db = await open(url);
  let rows: AsyncIterator<unknown> | undefined;
  await db.kysely.transaction().execute(async (trx) => {
    await trx.insertInto("users").values(user("a")).execute();
    rows = await firstOf(trx);
  });
  await assert.rejects(readOn(rows), CLOSED);
  await db.kysely.connection().execute(async (kysely) => void (rows = await firstOf(kysely)));
  await assert.rejects(readOn(rows), CLOSED);
  assert.equal(await db.user.count(), ROWS + 1);
});

testOnEach("a connection is replaced whose server cancels a statement and then goes silent", async (
  { brand, url },
) => {
  await using line = await tcpLine(url);
  await using db = await open(line.url);
  const late = { code: "StatementTimeout" };
  await assert.rejects(
    db.transaction(async () => {
      await assert.rejects(sleep(brand, 60).execute(db.kysely), late);
      line.silence();
      throw new Error("no");
    }),
  );
  assert.equal(await db.user.count(), ROWS);
}, { brands: SERVERS, slow: true });
