/** Callbacks that run after a transaction has committed. */
import assert from "node:assert/strict";
import { DbError, DbOptions } from "../../../src/db/mod.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { Db, testDbOnEach, testOnEach } from "../support/database.ts";

const FAILURE = new Error("failed");

function user(email: string) {
  return { tenant_id: "a", email, name: email };
}

testOnEach(
  "DbService.afterCommit() runs callbacks in order, after the commit",
  async ({ url }) => {
    await using db = await Db.open(DbOptions.fromUrl(url).poolMax(1));
    await db.createTables();
    const done: string[] = [];
    const result = await db.transaction(async () => {
      await db.afterCommit(async () => {
        await db.user.create({ data: user("b") }); // the connection is free
        done.push(`${await db.user.count()} users`);
      });
      await db.user.create({ data: user("a") });
      await db.transaction(() => db.afterCommit(() => void done.push("nested")));
      await db.afterCommit(() => db.afterCommit(() => void done.push("at once")));
      assert.deepEqual(done, []);
      return 7;
    });
    assert.deepEqual([result, done], [7, ["2 users", "nested", "at once"]]);
  },
);

testDbOnEach("DbService.afterCommit() forgets the callbacks of what is rolled back", async (db) => {
  const done: string[] = [];
  const keep = (what: string) => db.afterCommit(() => void done.push(what));
  await assert.rejects(
    db.transaction(async () => {
      await keep("outer");
      await db.transaction(() => keep("inner"));
      throw FAILURE;
    }),
    FAILURE,
  );
  await db.transaction(async () => {
    await keep("first");
    const nested = db.transaction(async () => {
      await keep("undone");
      await db.transaction(() => keep("undone with it"));
      throw FAILURE;
    });
    await assert.rejects(nested, FAILURE);
    await keep("last");
  });
  assert.deepEqual(done, ["first", "last"]);
});

testDbOnEach(
  "DbService.afterCommit() runs the callbacks of the attempt that succeeds",
  async (db) => {
    const done: number[] = [];
    let attempts = 0;
    await db.transaction(async () => {
      const attempt = ++attempts;
      await db.afterCommit(() => void done.push(attempt));
      if (attempt < 3) throw new DbError("SerializationFailure", "Cannot continue: try again");
    }, { retries: 3 });
    assert.deepEqual(done, [3]);
  },
);

testDbOnEach(
  "DbService.afterCommit() logs a callback that fails, and runs the others",
  async (db) => {
    await captureLogs(["fw", "db"], async (records) => {
      const done: string[] = [];
      await db.transaction(async () => {
        await db.user.create({ data: user("a") });
        await db.afterCommit(() => Promise.reject(FAILURE));
        await db.afterCommit(() => {
          throw FAILURE;
        });
        await db.afterCommit(() => void done.push("last"));
      });
      const failures = records.filter(({ level }) => level === "error");
      assert.deepEqual(failures.map(({ properties }) => properties.error), [FAILURE, FAILURE]);
      assert.deepEqual([done, await db.user.count()], [["last"], 1]);
    });
  },
);

testDbOnEach("DbService.afterCommit() runs the callback at once outside a transaction", async (
  db,
) => {
  const done: string[] = [];
  await db.afterCommit(() => void done.push("now"));
  assert.deepEqual(done, ["now"]);
  await assert.rejects(db.afterCommit(() => Promise.reject(FAILURE)), FAILURE);
});

testDbOnEach("DbService.afterCommit() throws after the transaction has ended", async (db) => {
  const late = Promise.withResolvers<void>();
  let stray: Promise<unknown> | undefined;
  await db.transaction(() => {
    stray = late.promise.then(() => db.afterCommit(() => assert.fail("it runs")));
    stray.catch(() => {});
  });
  late.resolve();
  await assert.rejects(stray!, {
    name: "TypeError",
    message: "Cannot wait for the commit: its transaction has ended, which did not await it",
  });
});
