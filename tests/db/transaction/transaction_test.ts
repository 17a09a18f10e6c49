import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbError, type IsolationLevel } from "../../../src/db/mod.ts";
import { type Db, dbError, testDbOnEach } from "../support/database.ts";

function user(email: string) {
  return { tenant_id: "a", email, name: email };
}

async function emails(db: Db): Promise<readonly string[]> {
  return (await db.user.findMany({ orderBy: { email: "asc" } })).map(({ email }) => email);
}

testDbOnEach(
  "DbService.transaction() commits what its function does, and gives its result",
  async (db) => {
    const created = await db.transaction(async () => {
      await db.user.create({ data: user("a") });
      await db.user.createMany({ data: [user("b"), user("c")] });
      await db.user.update({ where: { email: "b" }, data: { name: "B" } });
      await db.user.delete({ where: { email: "c" } });
      return await db.user.upsert({ where: { email: "d" }, create: user("d"), update: {} });
    });
    assert.equal(created.email, "d");
    assert.deepEqual(await emails(db), ["a", "b", "d"]);
    assert.equal(await db.transaction(() => 7), 7);
  },
);

testDbOnEach("DbService.transaction() undoes everything when its function fails", async (db) => {
  await db.user.create({ data: user("a") });
  const failure = new Error("no");
  const seen: unknown[] = [];
  await assert.rejects(
    db.transaction(async () => {
      await db.user.create({ data: user("b") });
      await db.user.updateMany({ all: true, data: { name: "x" } });
      await db.kysely.insertInto("users").values(user("c")).execute();
      seen.push(await emails(db), await db.user.count({ where: { name: "x" } }));
      throw failure;
    }),
    (error) => error === failure,
  );
  assert.deepEqual(seen, [["a", "b", "c"], 2]);
  assert.deepEqual((await db.user.findMany()).map(({ name }) => name), ["a"]);
});

testDbOnEach(
  "DbService.kysely is part of the transaction, and its own transactions are savepoints",
  async (db) => {
    await db.transaction(async () => {
      await db.user.create({ data: user("a") });
      await db.kysely.transaction().execute((trx) =>
        trx.insertInto("users").values(user("b")).execute()
      );
      await assert.rejects(
        db.kysely.transaction().execute(async (trx) => {
          await trx.insertInto("users").values(user("c")).execute();
          throw new Error("no");
        }),
      );
      assert.deepEqual(await emails(db), ["a", "b"]);
      const streamed: unknown[] = [];
      for await (const row of db.kysely.selectFrom("users").select("email").stream(1)) {
        streamed.push(row);
      }
      assert.equal(streamed.length, 2);
    });
    assert.deepEqual(await emails(db), ["a", "b"]);
  },
);

testDbOnEach("DbService.transaction() inside another is undone alone", async (db) => {
  await db.transaction(async () => {
    await db.user.create({ data: user("a") });
    await assert.rejects(
      db.transaction(async () => {
        await db.user.create({ data: user("b") });
        await db.transaction(() => db.user.create({ data: user("c") }));
        // Dooms the inner one only, on PostgreSQL too.
        await db.user.create({ data: user("a") });
      }),
      DbError,
    );
    await db.transaction(async () => {
      await db.user.create({ data: user("d") });
      await assert.rejects(db.transaction(() => db.user.create({ data: user("a") })), DbError);
    });
    assert.deepEqual(await emails(db), ["a", "d"]);
  });
  assert.deepEqual(await emails(db), ["a", "d"]);
});

testDbOnEach(
  "DbService.transaction() inside another asks for no more isolation",
  async (db, brand) => {
    const nested = (outer: IsolationLevel | undefined, isolation: IsolationLevel) =>
      db.transaction(() => db.transaction(() => 1, { isolation }), { isolation: outer });
    assert.equal(await nested("serializable", "serializable"), 1);
    assert.equal(await nested("repeatable read", "read committed"), 1);
    assert.equal(await nested(undefined, "read committed"), 1);
    await assert.rejects(nested("read committed", "serializable"), {
      name: "TypeError",
      message: "Cannot begin nested transaction: the outer one is read committed, not serializable",
    });
    if (brand !== "sqlite") await assert.rejects(nested(undefined, "serializable"), TypeError);
  },
);

testDbOnEach("DbService.transaction() fails if operations are pending at its end", async (db) => {
  const unawaited: Promise<unknown>[] = [];
  async function two(): Promise<void> {
    await db.user.create({ data: user("a") });
    await db.user.create({ data: user("b") });
  }
  const begun = [
    () => db.user.create({ data: user("a") }),
    two,
    () => db.transaction(two),
  ];
  for (const begin of begun) {
    await assert.rejects(db.transaction(() => void unawaited.push(begin().catch(() => {}))), {
      name: "TypeError",
      message: "Cannot commit transaction: its function did not await what it began",
    });
  }
  await Promise.all(unawaited);
  assert.equal(await db.user.count(), 0);
});

testDbOnEach("DbService.transaction() takes every isolation level", async (db, brand) => {
  const levels = ["read uncommitted", "read committed", "repeatable read", "serializable"] as const;
  const level = {
    sqlite: undefined,
    postgres: sql<{ level: string }>`select current_setting('transaction_isolation') as level`,
    mysql: undefined,
  }[brand];
  for (const isolation of levels) {
    await db.transaction(async () => {
      await db.user.create({ data: user(isolation) });
      if (level) assert.deepEqual((await level.execute(db.kysely)).rows, [{ level: isolation }]);
    }, { isolation });
  }
  assert.equal(await db.user.count(), 4);
});

testDbOnEach(
  "DbService.transaction() begins anew after a serialization failure, as often as told",
  async (db) => {
    const failure = new DbError(
      "SerializationFailure",
      "Cannot update: a concurrent change came first",
    );
    const attempts = async (retries: number | undefined, failures: number, wrap = false) => {
      let attempt = 0;
      const run = () => {
        if (attempt++ < failures) throw wrap ? new Error("wrapped", { cause: failure }) : failure;
      };
      const result = await db.transaction(run, { retries }).then(() => "done", () => "failed");
      return [result, attempt];
    };
    assert.deepEqual(await attempts(undefined, 1), ["failed", 1]);
    assert.deepEqual(await attempts(0, 1), ["failed", 1]);
    assert.deepEqual(await attempts(2, 2), ["done", 3]);
    assert.deepEqual(await attempts(2, 3), ["failed", 3]);
    assert.deepEqual(await attempts(1, 1, true), ["done", 2]);
    let other = 0;
    await assert.rejects(db.transaction(() => {
      other += 1;
      throw new DbError("UniqueViolation", "taken");
    }, { retries: 5 }));
    assert.equal(other, 1);
  },
);

testDbOnEach("DbService.transaction() rejects invalid numbers of retries", async (db) => {
  for (const retries of [-1, 1.5, NaN, Infinity]) {
    await assert.rejects(db.transaction(() => 1, { retries }), {
      name: "RangeError",
      message: `Cannot begin transaction: retries is not a whole number of 0 or more`,
    });
  }
});

testDbOnEach("DbService.transaction() reports that the database is closed", async (db) => {
  await db.close();
  await assert.rejects(
    db.transaction(() => 1),
    dbError("PoolClosed", "Cannot begin transaction: the database is closed"),
  );
});

testDbOnEach("DbService.transaction() rejects an unknown level", async (db) => {
  const isolation = "serializable; create table pwned (a int); --" as "serializable";
  await assert.rejects(db.transaction(() => 1, { isolation }), {
    name: "TypeError",
    message: "Cannot begin transaction: there is no such isolation level",
  });
});

testDbOnEach("DbService.close() is refused inside a transaction", async (db) => {
  await assert.rejects(db.transaction(() => db.close()), {
    name: "TypeError",
    message: "Cannot close database: a transaction is open",
  });
  await db.ping();
});

testDbOnEach(
  "DbService.transaction() is over for a transaction of Kysely's that comes too late",
  async (db) => {
    const { promise: late, resolve: end } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    let stray: Promise<unknown> | undefined;
    await assert.rejects(
      db.transaction(async () => {
        stray = db.kysely.transaction().execute(async () => {
          begin();
          await late;
          throw new Error("late");
        }).catch((error: unknown) => error);
        await begun;
      }),
      { message: "Cannot commit transaction: its function did not await what it began" },
    );
    await db.transaction(() =>
      db.transaction(async () => {
        await db.user.create({ data: user("a") });
        end();
        await stray;
      })
    );
    assert.deepEqual(await emails(db), ["a"]);
  },
);

testDbOnEach(
  "a transaction of Kysely's that is nested is not less isolated than it asks",
  async (db) => {
    await db.transaction(async () => {
      const begin = () => db.kysely.transaction();
      const none = () => Promise.resolve();
      await assert.rejects(begin().setAccessMode("read only").execute(none), {
        name: "TypeError",
        message: "Cannot begin nested transaction: the outer one is not read-only",
      });
      await assert.rejects(begin().setIsolationLevel("serializable").execute(none), {
        name: "TypeError",
        message:
          "Cannot begin nested transaction: the outer one is read committed, not serializable",
      });
      await assert.rejects(begin().setIsolationLevel("snapshot").execute(none), TypeError);
      await begin().setIsolationLevel("read committed").setAccessMode("read write").execute((trx) =>
        trx.insertInto("users").values(user("a")).execute()
      );
    }, { isolation: "read committed" });
    assert.deepEqual(await emails(db), ["a"]);
  },
);

testDbOnEach("DbService.transaction() rejects unknown options, and limits of other types", async (
  db,
) => {
  const refused = [
    [{ isolationLevel: "serializable" }, 'begin transaction: it takes no "isolationLevel"'],
    [{ timeout: 5 }, 'begin transaction: it takes no "timeout"'],
    [{ retry: 5 }, 'begin transaction: it takes no "retry"'],
    [null, "begin transaction: its options are not a plain object"],
  ] as const;
  for (const [options, reason] of refused) {
    const mistake = { name: "TypeError", message: `Cannot ${reason}` };
    const begin = () => db.transaction(() => assert.fail(), options as never);
    await assert.rejects(begin(), mistake);
    await db.transaction(() => assert.rejects(begin(), mistake));
  }
  const limits = { timeoutMs: "5" as never };
  const mistake = {
    name: "RangeError",
    message: "Cannot limit operation: 5 ms is not a time limit",
  };
  await assert.rejects(db.transaction(() => assert.fail(), limits), mistake);
  await assert.rejects(db.user.count(limits), mistake);
  const none = { isolation: undefined, retries: undefined, timeoutMs: undefined };
  assert.equal(await db.transaction(() => 1, { ...none, signal: undefined }), 1);
});
