/** Statements of SQL that begin or end a transaction, run by `db.kysely`. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions } from "../../../src/db/mod.ts";
import { Db, dbError, openDb, testDbOnEach, testOnEach } from "../support/database.ts";

const FAILURE = new Error("refused");
const REFUSED = {
  name: "TypeError",
  message: "Cannot run query: it would end its transaction, or begin another one",
};
const ENDED = dbError(
  "Database",
  "Cannot run query: it has committed or rolled back its transaction",
);
const LEFT_OPEN = dbError(
  "Database",
  "Cannot run query: it has left a transaction open, which is rolled back",
);

/** Statements that are recognized before they are sent. */
const CONTROL: readonly string[] = [
  "begin",
  " COMMIT",
  "rollback",
  "start transaction",
  "commit and chain",
  "/* now */ commit",
  "-- again\n/* and again */ begin",
];

/** Statements that end a transaction by what they do. */
const ENDING: Readonly<Record<"postgres" | "mysql", readonly string[]>> = {
  postgres: ["update users set name = 'z'; commit"],
  mysql: [
    "/*! commit */",
    "create table made (id int)",
    "create table users (id int)", // fails, after a commit
    "create unique index tenants on users (tenant_id(8))", // fails over the rows, after a commit
    "check table users",
    "set autocommit = 0, autocommit = 1",
  ],
};

function user(email: string) {
  return { tenant_id: "a", email, name: email };
}

function run({ kysely }: Db, text: string): Promise<unknown> {
  return sql.raw(text).execute(kysely);
}

async function emails(db: Db): Promise<readonly string[]> {
  return (await db.user.findMany({ orderBy: { email: "asc" } })).map(({ email }) => email);
}

testDbOnEach("DbService.transaction() refuses statements that begin or end one", async (db) => {
  for (const text of CONTROL) {
    const failing = db.transaction(async () => {
      await db.user.create({ data: user("a") });
      await assert.rejects(run(db, text), REFUSED, text);
      throw FAILURE;
    });
    await assert.rejects(failing, (error) => error === FAILURE);
    assert.deepEqual(await emails(db), [], text);
    const trx = db.kysely.transaction().execute(async (trx) => {
      await trx.insertInto("users").values(user("a")).execute();
      await sql.raw(text).execute(trx);
    });
    await assert.rejects(trx, REFUSED, text);
    assert.deepEqual(await emails(db), [], text);
  }
  await db.transaction(async () => {
    await db.user.create({ data: user("a") });
    await run(db, "savepoint mine");
    await db.user.create({ data: user("b") });
    await run(db, "rollback to savepoint mine");
  });
  assert.deepEqual(await emails(db), ["a"]);
});

testOnEach(
  "DbService.transaction() fails at the statement that ends it, and runs no later ones",
  async ({ url, brand }) => {
    await using db = await openDb(url);
    for (const text of ENDING[brand as "postgres" | "mysql"]) {
      await db.transaction(async () => {
        await db.user.createMany({ data: [user("a"), user("c")] });
        await assert.rejects(run(db, text), ENDED, text);
        await assert.rejects(db.user.create({ data: user("b") }), { code: "Database" }, text);
      }).then(
        () => assert.fail(text),
        dbError(
          "Database",
          "Cannot commit transaction: an earlier statement of its transaction failed",
        ),
      );
      assert.equal(await db.user.count({ where: { email: "b" } }), 0, text);
      const trx = db.kysely.transaction().execute((trx) => sql.raw(text).execute(trx));
      await assert.rejects(trx, ENDED, text);
      await db.user.deleteMany({ all: true });
      await run(db, "drop table if exists made");
    }
  },
  { brands: ["postgres", "mysql"] },
);

testOnEach("a failure that ends a transaction is that of its statement", async ({ url }) => {
  await using db = await openDb(url);
  await db.user.createMany({ data: [user("a"), user("b")] });
  const locked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const update = (email: string) =>
    run(db, `/* tag */ update users set name = 'z' where email = '${email}'`);
  const both = (own: 0 | 1, emails: readonly [string, string]) =>
    db.transaction(async () => {
      await update(emails[0]);
      locked[own].resolve();
      await locked[own ? 0 : 1].promise;
      await update(emails[1]);
    });
  const ends = await Promise.allSettled([both(0, ["a", "b"]), both(1, ["b", "a"])]);
  const codes = ends.flatMap((it) => it.status === "rejected" ? [it.reason.code] : []);
  assert.deepEqual(codes, ["SerializationFailure"]);
}, { brands: ["postgres", "mysql"] });

testOnEach("a transaction that did not begin is none", async ({ url }) => {
  await using db = await openDb(url);
  await db.kysely.connection().execute(async (own) => {
    const failing = own.transaction().setIsolationLevel("snapshot").execute(() =>
      Promise.resolve()
    );
    await assert.rejects(failing);
    await own.insertInto("users").values(user("a")).execute();
  });
  assert.deepEqual(await emails(db), ["a"]);
}, { brands: ["postgres", "mysql"] });

testOnEach("no connection returns to the pool with an open transaction", async ({ url, brand }) => {
  await using db = await Db.open(DbOptions.fromUrl(url).poolMax(1));
  await db.createTables();
  const failing = "insert into missing values (1)";
  await assert.rejects(run(db, "begin"), LEFT_OPEN);
  await db.user.create({ data: user("a") });
  await db.transaction(() => db.user.create({ data: user("b") }));
  const held = db.kysely.connection().execute(async (own) => {
    await sql`begin`.execute(own);
    await own.insertInto("users").values(user("lost")).execute();
  });
  await assert.rejects(held, LEFT_OPEN);
  const reading = db.kysely.connection().execute(async (own) => {
    await sql`begin`.execute(own);
    await own.insertInto("users").values(user("lost")).execute();
    await sql`select 1`.execute(own);
  });
  await assert.rejects(reading, LEFT_OPEN);
  const failed = db.kysely.connection().execute(async (own) => {
    await sql`begin`.execute(own);
    await own.insertInto("users").values(user("lost")).execute();
    await sql.raw(failing).execute(own);
  });
  await assert.rejects(failed, { code: "Database", message: /table is missing/ });
  await db.user.create({ data: user("c") });
  await db.kysely.connection().execute(async (own) => {
    await sql`begin`.execute(own);
    await own.insertInto("users").values(user("d")).execute();
    await sql`commit`.execute(own);
  });
  if (brand === "mysql") {
    await run(db, "set autocommit = 0");
    await db.user.create({ data: user("e") });
  }
  await using other = await Db.open(DbOptions.fromUrl(url));
  assert.deepEqual(await emails(other), ["a", "b", "c", "d", ...brand === "mysql" ? ["e"] : []]);
});
