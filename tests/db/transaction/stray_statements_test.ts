/** Statements that a transaction has begun, and that have not run when it ends. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions } from "../../../src/db/mod.ts";
import { Db, openDb, testDbOnEach, testOnEach } from "../support/database.ts";

const REFUSED = new Error("refused");
const EMAILS = ["v", "w", "x", "y", "z"];

function user(email: string) {
  return { tenant_id: "a", email, name: email };
}

/** Runs a function, and returns what has become of the promises that it has begun. */
async function outcomes(
  run: (begin: (promise: Promise<unknown>) => Promise<unknown>) => Promise<unknown>,
): Promise<readonly PromiseSettledResult<unknown>[]> {
  const begun: Promise<unknown>[] = [];
  const begin = (promise: Promise<unknown>) => {
    begun.push(promise);
    promise.catch(() => {});
    return promise;
  };
  await assert.rejects(run(begin), (error) => error === REFUSED);
  return await Promise.allSettled(begun);
}

testDbOnEach("statements that are queued when a transaction fails are not run", async (db) => {
  const settled = await outcomes((begin) =>
    db.transaction(() =>
      Promise.all([
        Promise.reject(REFUSED),
        ...EMAILS.map((email) => begin(db.user.create({ data: user(email) }))),
      ])
    )
  );
  assert.equal(await db.user.count(), 0);
  for (const result of settled) {
    if (result.status === "fulfilled") continue;
    assert.equal(result.reason.name, "TypeError");
    assert.match(
      result.reason.message,
      /^Cannot create users: its transaction has ended, which did not await it$/,
    );
  }
});

testDbOnEach(
  "queries of Kysely that are queued when a transaction fails are not run",
  async (db) => {
    const insert = (email: string) => db.kysely.insertInto("users").values(user(email)).execute();
    await outcomes((begin) =>
      db.transaction(() =>
        Promise.all([Promise.reject(REFUSED), ...EMAILS.map((email) => begin(insert(email)))])
      )
    );
    assert.equal(await db.user.count(), 0);
  },
);

testDbOnEach("statements that were not awaited are not committed", async (db) => {
  const begun: Promise<unknown>[] = [];
  await assert.rejects(
    db.transaction(() => {
      for (const email of EMAILS) begun.push(db.user.create({ data: user(email) }).catch(() => {}));
    }),
    TypeError,
  );
  await Promise.allSettled(begun);
  assert.equal(await db.user.count(), 0);
});

testOnEach("queued statements are not run inside the next transaction", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url).poolMax(1));
  await db.createTables();
  const stray = outcomes((begin) =>
    db.transaction(() =>
      Promise.all([
        Promise.reject(REFUSED),
        ...EMAILS.map((email) => begin(db.user.create({ data: user(email) }))),
      ])
    )
  );
  await db.transaction(async () => {
    await db.user.create({ data: user("a") });
    await stray;
  });
  assert.deepEqual((await db.user.findMany()).map(({ email }) => email), ["a"]);
});

testOnEach("a retried transaction leaves nothing of its failed attempts", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.user.createMany({ data: ["a", "b"].map(user) });
  const both = Promise.withResolvers<void>();
  let entered = 0;
  const change = (first: string, second: string) =>
    db.transaction(async () => {
      const rename = (email: string) =>
        db.user.updateMany({ where: { email }, data: { name: `${first}-${email}` } });
      await rename(first);
      entered += 1;
      if (entered === 2) both.resolve();
      await both.promise;
      await Promise.all([
        rename(second),
        ...EMAILS.map((email) =>
          db.user.create({ data: { ...user(`${first}-${email}-${entered}`), tenant_id: first } })
        ),
      ]);
    }, { isolation: "serializable", retries: 10 });
  await Promise.all([change("a", "b"), change("b", "a")]);
  for (const tenant_id of ["a", "b"]) {
    assert.equal(
      await db.user.count({ where: { tenant_id, email: { contains: "-" } } }),
      EMAILS.length,
    );
  }
}, { brands: ["postgres", "mysql"] });

for (const isNested of [false, true]) {
  const where = isNested ? "a nested transaction" : "a transaction";
  testDbOnEach(`queries that are queued when ${where} of Kysely fails are not run`, async (db) => {
    const run = () =>
      outcomes((begin) =>
        db.kysely.transaction().execute((trx) =>
          Promise.all([
            Promise.reject(REFUSED),
            ...EMAILS.map((email) => begin(trx.insertInto("users").values(user(email)).execute())),
          ])
        )
      );
    if (isNested) await db.transaction(run);
    else await run();
    assert.equal(await db.user.count(), 0);
  });
}

testDbOnEach("a transaction of Kysely that did not await a query is not committed", async (db) => {
  const begun: Promise<unknown>[] = [];
  await assert.rejects(
    db.kysely.transaction().execute((trx) => {
      for (const email of EMAILS) {
        begun.push(trx.insertInto("users").values(user(email)).execute().catch(() => {}));
      }
      return Promise.resolve();
    }),
    {
      name: "TypeError",
      message: "Cannot commit transaction: its function did not await what it began",
    },
  );
  await Promise.allSettled(begun);
  assert.equal(await db.user.count(), 0);
});

testOnEach("a connection of Kysely that was released runs no queries", async ({ url }) => {
  await using db = await openDb(url);
  const insert = (kysely: typeof db.kysely, email: string) =>
    kysely.insertInto("users").values(user(email)).execute();
  let kept: typeof db.kysely | undefined;
  await db.kysely.connection().execute(async (kysely) => {
    kept = kysely;
    await kysely.transaction().execute((trx) => insert(trx, "a"));
    await insert(kysely, "b");
  });
  await assert.rejects(
    db.kysely.transaction().execute(async (trx) => {
      await insert(trx, "c");
      await assert.rejects(insert(kept!, "d"), {
        name: "TypeError",
        message: "Cannot run query: its connection is released",
      });
      await assert.rejects(kept!.selectFrom("users").select("id").stream().next(), TypeError);
      throw REFUSED;
    }),
    (error) => error === REFUSED,
  );
  assert.deepEqual((await db.user.findMany()).map(({ email }) => email).sort(), ["a", "b"]);
});

testDbOnEach("a savepoint of a controlled transaction is gone back to after a failure", async (
  db,
) => {
  const trx = await db.kysely.startTransaction().execute();
  await trx.insertInto("users").values(user("a")).execute();
  const after = await trx.savepoint("before").execute();
  await assert.rejects(after.insertInto("users").values(user("a")).execute());
  await after.rollbackToSavepoint("before").execute();
  await trx.insertInto("users").values(user("b")).execute();
  await trx.commit().execute();
  assert.deepEqual(await db.user.count(), 2);
  await sql`select 1`.execute(db.kysely);
});

const HELD = {
  name: "TypeError",
  message: /^Cannot .*: a Kysely transaction is open in its transaction$/,
};

testDbOnEach(
  "DbService.transaction() refuses other statements while a Kysely transaction is open in it",
  async (db) => {
    const others: Readonly<Record<string, () => Promise<unknown>>> = {
      repository: () => db.user.create({ data: user("lost") }),
      query: () => db.kysely.insertInto("users").values(user("lost")).execute(),
      stream: () => db.kysely.selectFrom("users").selectAll().stream().next(),
      nested: () => db.transaction(() => db.user.create({ data: user("lost") })),
      callback: () => db.afterCommit(() => assert.fail("it runs")),
      kysely: () =>
        db.kysely.transaction().execute((trx) =>
          trx.insertInto("users").values(user("lost")).execute()
        ),
    };
    await db.transaction(async () => {
      for (const [name, other] of Object.entries(others)) {
        await assert.rejects(
          db.kysely.transaction().execute(async (trx) => {
            await trx.insertInto("users").values(user("inner")).execute();
            await assert.rejects(other(), HELD, name);
            throw REFUSED;
          }),
          (error) => error === REFUSED,
        );
        await db.user.create({ data: user(name) });
      }
    });
    const emails = (await db.user.findMany()).map(({ email }) => email);
    assert.deepEqual(emails.toSorted(), Object.keys(others).toSorted());
  },
);

for (const isNested of [false, true]) {
  const where = isNested ? "nested transaction" : "transaction";
  testDbOnEach(`a ${where} that did not await one of Kysely is not committed`, async (db) => {
    const begun: Promise<unknown>[] = [];
    const inserted = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const run = () =>
      db.transaction(async () => {
        begun.push(
          db.kysely.transaction().execute(async (trx) => {
            await trx.insertInto("users").values(user("debit")).execute();
            inserted.resolve();
            await ended.promise;
            await trx.insertInto("users").values(user("credit")).execute();
          }),
        );
        await inserted.promise;
      });
    await assert.rejects(isNested ? db.transaction(run) : run(), {
      name: "TypeError",
      message: /its function did not await what it began$/,
    });
    ended.resolve();
    assert.deepEqual((await Promise.allSettled(begun)).map(({ status }) => status), ["rejected"]);
    assert.equal(await db.user.count(), 0);
  });
}

testDbOnEach(
  "a connection of Kysely that is released rolls back what is open on it",
  async (db) => {
    const insert = (kysely: typeof db.kysely, email: string) =>
      kysely.insertInto("users").values(user(email)).execute();
    const inserted = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const begun: Promise<unknown>[] = [];
    await db.kysely.connection().execute(async (kysely) => {
      begun.push(
        kysely.transaction().execute(async (trx) => {
          await insert(trx, "not awaited");
          inserted.resolve();
          await ended.promise;
        }),
      );
      begun[0]?.catch(() => {});
      await inserted.promise;
    });
    let kept: Awaited<ReturnType<ReturnType<typeof db.kysely.startTransaction>["execute"]>>;
    await db.kysely.connection().execute(async (kysely) => {
      kept = await kysely.startTransaction().execute();
      await insert(kept, "kept");
    });
    await db.transaction(async () => {
      await db.user.create({ data: user("a") });
      ended.resolve();
      await Promise.allSettled(begun); // rolls back late
      await kept.rollback().execute().catch(() => {});
      await db.user.create({ data: user("b") });
    });
    await db.user.create({ data: user("c") });
    const emails = (await db.user.findMany()).map(({ email }) => email);
    assert.deepEqual(emails.toSorted(), ["a", "b", "c"]);
  },
);
