import assert from "node:assert/strict";
import {
  belongsTo,
  DbError,
  DbOptions,
  DbService,
  field,
  hasMany,
  manyToMany,
  model,
} from "../../../src/db/mod.ts";
import { dbError, testOnEach } from "../support/database.ts";
import { same, testStatementsOf } from "../support/statements.ts";

const Shelf = model("shelves", {
  id: field.integer().primaryKey(),
  name: field.text(),
  revision: field.version().map("version"),
});
const Book = model("books", {
  id: field.integer().primaryKey(),
  code: field.text().unique(),
  copies: field.integer().default(0),
  tenant: field.text().default("t"),
  shelf_id: field.integer().nullable().references(Shelf),
  version: field.version(),
  gone: field.deletedAt(),
});
const Label = model("labels", { name: field.text().primaryKey() });
const BookLabel = model("book_labels", {
  book_id: field.integer().references(Book),
  label: field.text().references(Label),
}, { primaryKey: ["book_id", "label"] });
const MODELS = { shelf: Shelf, book: Book, label: Label, bookLabel: BookLabel };
const RELATIONS = {
  shelf: { books: hasMany(Book.shelf_id) },
  book: {
    shelf: belongsTo(Book.shelf_id),
    labels: manyToMany(BookLabel.book_id, BookLabel.label),
  },
  label: { books: manyToMany(BookLabel.label, BookLabel.book_id) },
};
class Books extends DbService.with(MODELS, RELATIONS) {}
class HookedBooks extends DbService.with(MODELS, RELATIONS, {
  on: { book: { created() {}, updated() {}, deleted() {} } },
}) {}

async function openBooks(url: string, Service: typeof Books = Books): Promise<Books> {
  const db = await Service.open<Books>(DbOptions.fromUrl(url));
  await db.createTables();
  await db.checkTables();
  return db;
}

async function versionsOf({ book }: Books): Promise<Record<string, number>> {
  const rows = await book.withDeleted().findMany({ orderBy: { code: "asc" } });
  return Object.fromEntries(rows.map(({ code, version }) => [code, version]));
}

for (const Service of [Books, HookedBooks]) {
  testOnEach(`each update of a row increments its version: ${Service.name}`, async ({ url }) => {
    await using db = await openBooks(url, Service as typeof Books);
    const { book, shelf } = db;
    assert.equal((await book.create({ data: { code: "a" } })).version, 1);
    await book.createMany({ data: [{ code: "b" }, { code: "c" }] });
    await book.createMany({ data: [{ code: "a" }, { code: "d" }], skipDuplicates: true });
    assert.deepEqual(await versionsOf(db), { a: 1, b: 1, c: 1, d: 1 });

    const where = { code: "a" };
    assert.equal((await book.update({ where, data: { copies: 2 } })).version, 2);
    assert.equal((await book.update({ where, data: { copies: { increment: 1 } } })).version, 3);
    assert.equal((await book.update({ where, data: {} })).version, 3);
    assert.equal(
      (await book.update({ where, data: { copies: 3 } })).version,
      4,
      "no change is one",
    );
    const upserted = await book.upsert({ where, create: where, update: { copies: 4 } });
    assert.deepEqual([upserted.version, upserted.copies], [5, 4]);
    assert.equal((await book.upsert({ where, create: where, update: {} })).version, 5);

    assert.equal(
      await book.updateMany({ where: { code: { in: ["a", "b"] } }, data: { copies: 5 } }),
      2,
    );
    const returned = await book.updateManyAndReturn({ where: { code: "c" }, data: { copies: 6 } });
    assert.deepEqual(returned.map(({ version }) => version), [2]);
    const create = [{ code: "c" }, { code: "e" }];
    await book.upsertMany({ by: "code", create, update: ["copies"] });
    assert.deepEqual(await versionsOf(db), { a: 6, b: 2, c: 3, d: 1, e: 1 });

    const { id, revision } = await shelf.create({
      data: {
        name: "s",
        books: { connect: [{ code: "a" }, { code: "b" }], create: { code: "f" } },
      },
    });
    assert.deepEqual(await versionsOf(db), { a: 7, b: 3, c: 3, d: 1, e: 1, f: 1 });
    const data = { books: { set: [{ code: "b" }, { code: "c" }] } };
    assert.equal((await shelf.update({ where: { id }, data })).revision, revision + 1);
    assert.deepEqual(await versionsOf(db), { a: 8, b: 3, c: 4, d: 1, e: 1, f: 2 });

    assert.equal((await book.delete({ where: { code: "d" } })).version, 2);
    assert.equal(await book.deleteMany({ where: { code: { in: ["d", "e"] } } }), 1);
    assert.deepEqual(await versionsOf(db), { a: 8, b: 3, c: 4, d: 2, e: 2, f: 2 });
  });

  testOnEach(`a write of another version is a Conflict: ${Service.name}`, async ({ url }) => {
    await using db = await openBooks(url, Service as typeof Books);
    const { book, shelf } = db;
    const { id } = await book.create({ data: { code: "a" } });
    const mine = book.scoped({ tenant: "t" });
    const theirs = book.scoped({ tenant: "u" });
    const conflict = (verb: string) =>
      dbError("Conflict", `Cannot ${verb} books: the row has another version`);
    const missing = (verb: string) =>
      dbError("RowNotFound", `Cannot ${verb} books: there is no such row`);

    const updated = await mine.update({ where: { id, version: 1 }, data: { copies: 2 } });
    assert.deepEqual([updated.version, updated.copies], [2, 2]);
    const renamed = { where: { code: "a", version: { equals: 2 } }, data: { code: "b" } };
    assert.equal((await book.update(renamed)).version, 3);
    assert.equal(
      (await book.update({ where: { id, version: undefined }, data: { copies: 1 } })).version,
      4,
    );
    const where = { id, version: 3 };
    for (const data of [{ copies: 3 }, { code: "c" }, {}, { shelf: { create: { name: "x" } } }]) {
      await assert.rejects(book.update({ where, data }), conflict("update"));
      await assert.rejects(mine.update({ where, data: { copies: 3 } }), conflict("update"));
      await assert.rejects(theirs.update({ where, data: { copies: 3 } }), missing("update"));
      await assert.rejects(book.update({ where: { id: 99, version: 3 }, data }), missing("update"));
    }
    assert.equal(await shelf.count(), 0);
    await assert.rejects(book.delete({ where }), conflict("delete"));
    await assert.rejects(theirs.delete({ where }), missing("delete"));
    await assert.rejects(book.purge({ where }), conflict("purge"));
    await assert.rejects(
      db.transaction(() => book.update({ where, data: { copies: 9 } })),
      conflict("update"),
    );
    assert.deepEqual(await versionsOf(db), { b: 4 });

    const nested = { where: { id, version: 4 }, data: { shelf: { create: { name: "y" } } } };
    assert.equal((await book.update(nested)).version, 5);
    assert.equal((await book.update({ where: { id, version: 5 }, data: {} })).version, 5);
    assert.equal((await book.delete({ where: { id, version: 5 } })).version, 6);
    await assert.rejects(book.update({ where: { id, version: 5 }, data: {} }), missing("update"));
    const all = book.withDeleted();
    await assert.rejects(
      all.update({ where: { id, version: 5 }, data: { gone: null } }),
      conflict("update"),
    );
    assert.equal(
      (await all.update({ where: { id, version: 6 }, data: { gone: null } })).version,
      7,
    );
    assert.equal((await book.purge({ where: { id, version: 7 } })).version, 7);
  });
}

for (const Service of [Books, HookedBooks]) {
  testOnEach(
    `data of related rows alone increments a version: ${Service.name}`,
    async ({ url }) => {
      await using db = await openBooks(url, Service as typeof Books);
      const { book, label, shelf } = db;
      await label.createMany({ data: [{ name: "x" }, { name: "y" }] });
      const labels = { connect: { name: "x" } };
      const { id } = await book.create({ data: { code: "a", labels } });
      const where = { id };
      const steps = [{ labels: { set: [] } }, { labels }, { labels }, {
        labels: { create: { name: "z" } },
      }, { labels: { disconnect: { name: "z" } } }];
      for (const [n, data] of steps.entries()) {
        assert.equal((await book.update({ where, data })).version, n + 2);
      }
      for (const data of [{ labels: {} }, { shelf: {} }, { labels: undefined }, {}]) {
        assert.equal((await book.update({ where, data })).version, 6);
      }
      const stale = { ...where, version: 5 };
      const data = { labels: { set: [{ name: "y" }] } };
      for (const each of [data, { labels: {} }]) {
        await assert.rejects(
          book.update({ where: stale, data: each }),
          dbError("Conflict", "Cannot update books: the row has another version"),
        );
      }
      assert.deepEqual(await label.findMany({ where: { books: { some: { id } } } }), [{
        name: "x",
      }]);
      const upserted = await book.upsert({ where, create: { code: "b" }, update: data });
      assert.equal(upserted.version, 7);
      assert.deepEqual(await label.findMany({ where: { books: { some: { id } } } }), [{
        name: "y",
      }]);
      await label.update({ where: { name: "x" }, data: { books: { connect: where } } });
      assert.deepEqual(await versionsOf(db), { a: 7 }, "the data is that of the label");

      const { id: shelfId } = await shelf.create({ data: { name: "s" } });
      const results = await Promise.allSettled(Array.from({ length: 8 }, (_, n) =>
        shelf.update({
          where: { id: shelfId, revision: 1 },
          data: { books: { create: { code: `c${n}` } } },
        })));
      const failures = results.filter(({ status }) => status === "rejected")
        .map((result) => (result as PromiseRejectedResult).reason.code);
      assert.deepEqual(failures, Array(7).fill("Conflict"));
      assert.equal(await book.count({ where: { shelf_id: shelfId } }), 1);
      assert.equal((await shelf.findUnique({ where: { id: shelfId } }))?.revision, 2);
    },
  );
}

testOnEach("of 50 concurrent updates of a version, one is made", async ({ url }) => {
  await using db = await openBooks(url);
  const { id } = await db.book.create({ data: { code: "a" } });
  const results = await Promise.allSettled(
    Array.from(
      { length: 50 },
      (_, n) => db.book.update({ where: { id, version: 1 }, data: { copies: n + 1 } }),
    ),
  );
  const failures = results.filter(({ status }) => status === "rejected")
    .map((result) => (result as PromiseRejectedResult).reason);
  assert.deepEqual(
    failures.map((error) => error instanceof DbError && error.code),
    Array(49).fill("Conflict"),
  );
  const [won] = results.filter((result) => result.status === "fulfilled");
  assert.deepEqual(await db.book.findUnique({ where: { id } }), won?.value);
  assert.equal(won?.value.version, 2);
});

testOnEach("a row that was deleted since a transaction has read it is no Conflict", async (
  { url },
) => {
  await using db = await openBooks(url);
  await using other = await Books.open(DbOptions.fromUrl(url));
  const { id } = await db.book.create({ data: { code: "a" } });
  const update = db.transaction(async () => {
    const row = await db.book.findUnique({ where: { id } });
    await other.book.purge({ where: { id } });
    await db.book.update({ where: { id, version: row!.version }, data: { copies: 1 } });
  });
  await assert.rejects(update, dbError("RowNotFound", "Cannot update books: there is no such row"));
}, { brands: ["postgres", "mysql"] });

testOnEach("the repository alone sets a version", async ({ url }) => {
  await using db = await openBooks(url);
  const { book } = db;
  const mistake = (verb: string) => ({
    name: "TypeError",
    message: `Cannot ${verb} books: the repository sets version`,
  });
  const data = { code: "a", version: 7 } as { code: string };
  await assert.rejects(book.create({ data }), mistake("create"));
  await assert.rejects(book.createMany({ data: [data] }), mistake("create"));
  await assert.rejects(book.update({ where: { id: 1 }, data }), mistake("update"));
  const increment = { version: { increment: -1 } } as { copies?: number };
  await assert.rejects(book.updateMany({ where: { id: 1 }, data: increment }), mistake("update"));
  const where = { code: "a" };
  await assert.rejects(book.upsert({ where, create: data, update: {} }), mistake("upsert"));
  await assert.rejects(
    book.upsertMany({ by: "code", create: [where], update: ["version" as "copies"] }),
    mistake("upsert"),
  );
  assert.throws(() => book.scoped({ version: 1 } as unknown as { tenant: string }), {
    name: "TypeError",
    message: "Cannot scope books: version is the version of rows",
  });
  await db.kysely.insertInto("books").values({ code: "raw", copies: 0, tenant: "t" }).execute();
  assert.deepEqual(await versionsOf(db), { raw: 1 }, "the column has a default");
  await assert.rejects(book.update({ where: { version: 1 } as never, data: {} }), {
    name: "TypeError",
    message: "Cannot update books: where names no unique column",
  });
  await assert.rejects(book.findUnique({ where: { id: 1, version: 1 } as { id: number } }), {
    name: "TypeError",
    message: "Cannot read books: version is not unique",
  });
  await assert.rejects(
    book.update({ where: { id: 1, version: "1" as unknown as number }, data: {} }),
    dbError("CheckViolation", "Cannot update books: version takes a number, not string", [
      "version",
    ]),
  );
});

const UPDATE = 'update "shelves" set "name" = ?, "version" = "shelves"."version" + 1';
const ROW = '"id", "name", "version"';
const FIND = `select ${ROW} from "shelves" where`;

testStatementsOf(Books, {
  title: "a version costs no statement, unless it is another",
  fill: ({ shelf }) => shelf.create({ data: { id: 1, name: "a" } }),
  operations: [
    [
      ({ shelf }) => shelf.update({ where: { id: 1, revision: 1 }, data: { name: "b" } }),
      {
        ...same([`${UPDATE} where ("id" = ? and "version" = ?) returning ${ROW}`, "b", 1, 1]),
        mysql: [
          ["begin"],
          [`${UPDATE} where ("id" = ? and "version" = ?)`, "b", 1, 1],
          [`${FIND} "id" = ? for update`, 1],
          ["commit"],
        ],
      },
    ],
    [
      ({ shelf }) =>
        assert.rejects(shelf.update({ where: { id: 1, revision: 1 }, data: { name: "c" } }), {
          code: "Conflict",
        }),
      {
        ...same(
          [`${UPDATE} where ("id" = ? and "version" = ?) returning ${ROW}`, "c", 1, 1],
          [`${FIND} "id" = ?`, 1],
        ),
        mysql: [
          ["begin"],
          [`${UPDATE} where ("id" = ? and "version" = ?)`, "c", 1, 1],
          [`${FIND} "id" = ? for update`, 1],
          ["commit"],
          [`${FIND} "id" = ? lock in share mode`, 1],
        ],
      },
    ],
    [
      ({ shelf }) => shelf.delete({ where: { id: 1, revision: 2 } }),
      {
        ...same([
          `delete from "shelves" where ("id" = ? and "version" = ?) returning ${ROW}`,
          1,
          2,
        ]),
        mysql: [
          ["begin"],
          [`${FIND} ("id" = ? and "version" = ?) for update`, 1, 2],
          ['delete from "shelves" where ("id" = ? and "version" = ?)', 1, 2],
          ["commit"],
        ],
      },
    ],
  ],
});
