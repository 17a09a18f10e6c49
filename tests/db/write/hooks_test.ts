/** What runs with the writes of a model, inside their transaction. */
import assert from "node:assert/strict";
import { DbError, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { dbError, testOnEach } from "../support/database.ts";

const User = model("users", {
  id: field.integer().primaryKey(),
  email: field.text().unique(),
  name: field.text().nullable(),
});
const Entry = model("entries", { id: field.integer().primaryKey(), text: field.text().unique() });

const FAILURE = new Error("refused by a hook");

class Db extends DbService.with({ user: User, entry: Entry }, {}, {
  on: {
    user: {
      async created(rows, db) {
        for (const { email } of rows) {
          await db.entry.create({ data: { text: `created ${email}` } });
          await db.afterCommit(() => void committed(db).push(email));
          if (email === "refused") throw FAILURE;
        }
      },
      async updated(rows, db) {
        for (const { before, after } of rows) {
          await db.entry.create({ data: { text: `${before.name} -> ${after.name}` } });
          await db.afterCommit(() => void committed(db).push(`${after.name}`));
          if (after.name === "refused") throw FAILURE;
        }
      },
      async deleted(rows, db) {
        const data = rows.map(({ email }) => ({ text: `deleted ${email}` }));
        await db.entry.createMany({ data });
        if (rows.some(({ email }) => email === "kept")) throw FAILURE;
      },
    },
  },
}) {
  readonly committed: string[] = [];
}

function committed(db: unknown): string[] {
  assert.ok(db instanceof Db);
  return db.committed;
}

function testHooksOnEach(name: string, run: (db: Db) => Promise<void>): void {
  testOnEach(name, async ({ url }) => {
    await using db = await Db.open(DbOptions.fromUrl(url).poolMax(1));
    await db.createTables();
    await run(db);
  });
}

/** Returns the texts of entries, and deletes them. */
async function takeTexts({ entry }: Db): Promise<readonly string[]> {
  const entries = await entry.findMany({ orderBy: { id: "asc" } });
  await entry.deleteMany({ all: true });
  return entries.map(({ text }) => text);
}

async function emailsOf({ user }: Db): Promise<readonly string[]> {
  return (await user.findMany({ orderBy: { id: "asc" } })).map(({ email }) => email);
}

testHooksOnEach("DbService.with() runs hooks with the rows of every write", async (db) => {
  const { user } = db;
  const ada = await user.create({ data: { email: "a", name: "Ada" } });
  assert.deepEqual(await takeTexts(db), ["created a"]);
  assert.equal(await user.createMany({ data: [{ email: "b" }, { email: "c" }] }), 2);
  const data = [{ email: "c" }, { email: "d" }, { email: "d" }];
  assert.equal(await user.createMany({ data, skipDuplicates: true }), 1);
  await user.createManyAndReturn({ data: [{ email: "e" }] });
  assert.deepEqual(await takeTexts(db), ["created b", "created c", "created d", "created e"]);
  const changed = await user.update({ where: { email: "a" }, data: { email: "A", name: "B" } });
  assert.deepEqual(changed, { id: ada.id, email: "A", name: "B" });
  assert.equal(await user.updateMany({ where: { email: "b" }, data: { name: "x" } }), 1);
  await user.updateManyAndReturn({ where: { email: "c" }, data: { name: "y" } });
  assert.deepEqual(await takeTexts(db), ["Ada -> B", "null -> x", "null -> y"]);
  await user.update({ where: { email: "c" }, data: {} });
  await user.updateMany({ where: { email: "nobody" }, data: { name: "z" } });
  await user.upsert({ where: { email: "c" }, create: {}, update: {} });
  assert.deepEqual(await takeTexts(db), []);
  await user.upsert({ where: { email: "c" }, create: {}, update: { name: "z" } });
  await user.upsert({ where: { email: "f" }, create: { name: "F" }, update: { name: "z" } });
  const create = [{ email: "f", name: "G" }, { email: "g", name: "h" }];
  assert.equal(await user.upsertMany({ by: "email", create, update: ["name"] }), 2);
  assert.deepEqual(await takeTexts(db), ["y -> z", "created f", "F -> G", "created g"]);
  await user.delete({ where: { email: "A" } });
  await user.deleteMany({ where: { email: { in: ["b", "c"] } } });
  assert.deepEqual(await takeTexts(db), ["deleted A", "deleted b", "deleted c"]);
  assert.deepEqual(await emailsOf(db), ["d", "e", "f", "g"]);
});

testHooksOnEach("DbService.with() undoes a write whose hook throws, and that alone", async (db) => {
  const { user } = db;
  await user.createMany({ data: [{ email: "kept" }, { email: "b" }] });
  await takeTexts(db);
  db.committed.length = 0;
  const refused = { email: "refused" };
  const name = "refused";
  const writes: readonly (() => Promise<unknown>)[] = [
    () => user.create({ data: refused }),
    () => user.createMany({ data: [{ email: "x" }, refused] }),
    () => user.createMany({ data: [{ email: "x" }, refused], skipDuplicates: true }),
    () => user.createManyAndReturn({ data: [{ email: "x" }, refused] }),
    () => user.update({ where: { email: "b" }, data: { name } }),
    () => user.updateMany({ all: true, data: { name } }),
    () => user.updateManyAndReturn({ all: true, data: { name } }),
    () => user.upsert({ where: { email: "b" }, create: {}, update: { name } }),
    () => user.upsert({ where: refused, create: {}, update: { name } }),
    () => user.upsertMany({ by: "email", create: [{ email: "x" }, refused], update: ["name"] }),
    () => user.delete({ where: { email: "kept" } }),
    () => user.deleteMany({ all: true }),
  ];
  for (const write of writes) await assert.rejects(write, FAILURE, String(write));
  await db.transaction(async () => {
    await user.create({ data: { email: "c" } });
    for (const write of writes) await assert.rejects(write, FAILURE, String(write));
    await user.update({ where: { email: "c" }, data: { name: "C" } });
  });
  assert.deepEqual(await user.findMany({ select: { email: true, name: true } }), [
    { email: "kept", name: null },
    { email: "b", name: null },
    { email: "c", name: "C" },
  ]);
  assert.deepEqual(await takeTexts(db), ["created c", "null -> C"]);
  assert.deepEqual(db.committed, ["c", "C"]);
});

testHooksOnEach("DbService.with() runs hooks in the transaction of the caller", async (db) => {
  await assert.rejects(
    db.transaction(async () => {
      await db.user.create({ data: { email: "a" } });
      assert.equal(await db.entry.count(), 1);
      throw FAILURE;
    }),
    FAILURE,
  );
  let attempts = 0;
  await db.transaction(async () => {
    attempts += 1;
    await db.user.create({ data: { email: `${attempts}` } });
    if (attempts < 3) throw new DbError("SerializationFailure", "Cannot continue: try again");
  }, { retries: 3 });
  assert.deepEqual([await takeTexts(db), db.committed], [["created 3"], ["3"]]);
});

testHooksOnEach(
  "DbService.with() does not take the failure of a hook for a conflict",
  async (db) => {
    await db.entry.create({ data: { text: "created a" } });
    let calls = 0;
    const error = dbError(
      "UniqueViolation",
      "Cannot create entries: the value of text is already taken",
      [
        "text",
      ],
    );
    await assert.rejects(
      db.transaction(() => {
        calls += 1;
        return db.user.upsert({ where: { email: "a" }, create: {}, update: { name: "b" } });
      }),
      error,
    );
    assert.deepEqual([calls, await db.user.count()], [1, 0]);
  },
);

testHooksOnEach(
  "DbService.with() runs hooks within a scope, and for the rows of it",
  async (db) => {
    await db.user.createMany({ data: [{ email: "a", name: "x" }, { email: "b", name: "y" }] });
    await takeTexts(db);
    const own = db.user.scoped({ name: "x" });
    await own.create({ data: { email: "c" } });
    await assert.rejects(own.updateMany({ all: true, data: { email: "d" } }), {
      code: "UniqueViolation",
    });
    await assert.rejects(own.delete({ where: { email: "b" } }), { code: "RowNotFound" });
    await assert.rejects(own.update({ where: { email: "b" }, data: { email: "e" } }), {
      code: "RowNotFound",
    });
    await assert.rejects(
      own.upsert({ where: { email: "b" }, create: {}, update: { email: "e" } }),
      {
        code: "UniqueViolation",
      },
    );
    await own.deleteMany({ all: true });
    assert.deepEqual(await takeTexts(db), ["created c", "deleted a", "deleted c"]);
    assert.deepEqual(await emailsOf(db), ["b"]);
  },
);

testOnEach(
  "DbService.with() creates a row once for concurrent upserts with hooks",
  async ({ url }) => {
    const seen: string[] = [];
    class Counted extends DbService.with({ user: User }, {}, {
      on: {
        user: {
          created: (rows, db) => db.afterCommit(() => void seen.push(`+${rows[0]!.email}`)),
          updated: (rows, db) => db.afterCommit(() => void seen.push(`=${rows[0]!.after.email}`)),
        },
      },
    }) {}
    await using db = await Counted.open(DbOptions.fromUrl(url).acquireTimeoutMs(60_000));
    await db.createTables();
    await Promise.all(
      Array.from(
        { length: 12 },
        (_, n) => db.user.upsert({ where: { email: "a" }, create: {}, update: { name: `${n}` } }),
      ),
    );
    assert.deepEqual(seen.toSorted(), [
      "+a",
      ...Array.from({ length: 11 }, () => "=a"),
    ]);
  },
);

test("DbService.with() refuses hooks of unknown models and events", () => {
  const add = (on: object) => () => DbService.with({ user: User }, {}, { on });
  const refusals: readonly (readonly [() => unknown, string])[] = [
    [add({ nobody: {} }), 'Cannot add hooks: there is no model "nobody"'],
    [add({ user: { saved() {} } }), 'Cannot add hooks: user takes no "saved"'],
    [add({ user: { created: true } }), "Cannot add hooks: user.created is not a function"],
    [
      () => DbService.with({ user: User }, {}, { before: {} } as object),
      'Cannot create service: it takes no "before"',
    ],
  ];
  for (const [run, message] of refusals) assert.throws(run, { name: "TypeError", message });
});
