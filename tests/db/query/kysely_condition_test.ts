import assert from "node:assert/strict";
import { sql } from "kysely";
import { Db, mistake, testDbOnEach, testOnEach } from "../support/database.ts";
import { type Library, testLibraryOnEach } from "../support/library.ts";
import { openNoted } from "../support/noted.ts";

type Where = NonNullable<NonNullable<Parameters<Library["book"]["findMany"]>[0]>["where"]>;

const BOOKS: readonly (readonly [Where, all: string, scoped: string])[] = [
  [{ AND: [(eb) => eb("title", "=", "x")] }, "136", "16"],
  [{ AND: [(eb) => eb("books.title", "=", "x"), { year: { gt: 1 } }] }, "36", "6"],
  [{ OR: [(eb) => eb("year", "=", 2), { id: 1 }] }, "14", "14"],
  [{ NOT: (eb) => eb("title", "=", "x") }, "245", "245"],
  [{ NOT: (eb) => eb("year", ">", 2) }, "14", "14"],
  [{ OR: [(eb) => eb.and([eb("title", "=", "y"), eb("year", "is", null)])] }, "2", "2"],
  [{ OR: [(eb) => eb.or([eb("title", "=", "y"), eb("year", "=", 3)]), { id: 1 }] }, "1235", "125"],
  // An OR of raw SQL does not go beyond the scope.
  [{ AND: [() => sql<boolean>`id = 1 or id = 3`] }, "13", "1"],
  [{ NOT: () => sql<boolean>`id = 1 or id = 3` }, "2456", "2456"],
  [
    {
      AND: [(eb) =>
        eb.exists(
          eb.selectFrom("books as b").select("b.id").whereRef("b.sequel_of", "=", "books.id"),
        )],
    },
    "125",
    "125",
  ],
  [
    {
      AND: [(eb) => eb("id", "in", eb.selectFrom("book_tags").select("book_id"))],
      tags: { none: { name: "blue" } },
    },
    "234",
    "24",
  ],
  [{ author: { AND: [(eb) => eb(eb.fn("lower", ["authors.name"]), "=", "ada")] } }, "123", "12"],
  [{ tags: { some: { OR: [(eb) => eb("tags.name", "in", ["red", "blue"])] } } }, "124", "14"],
];

testLibraryOnEach("where takes expressions of Kysely, in the scope", async (db) => {
  const ids = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id).join("");
  for (const [where, all, inScope] of BOOKS) {
    const text = JSON.stringify(where, (_, part) => typeof part === "function" ? `${part}` : part);
    for (
      const [books, expected] of [[db.book, all], [
        db.book.scoped({ tenant: "a" }),
        inScope,
      ]] as const
    ) {
      assert.equal(ids(await books.findMany({ where, orderBy: { id: "asc" } })), expected, text);
      assert.equal(await books.count({ where }), expected.length, text);
      assert.equal(await books.count({ where, distinct: ["id", "title"] }), expected.length, text);
      assert.equal((await books.findFirst({ where }))?.id, Number(expected[0]), text);
      assert.equal(await books.exists({ where }), true, text);
      const { _count } = await books.aggregate({ where, _count: true });
      assert.equal(_count, expected.length, text);
      const groups = await books.groupBy({ by: ["id"], where, orderBy: { id: "asc" } });
      assert.equal(ids(groups), expected, text);
      const streamed = await Array.fromAsync(books.stream({ where, batchSize: 2 }));
      assert.equal(ids(streamed), expected, text);
      const data = { year: { increment: 0 } };
      const returned = await books.updateManyAndReturn({ where, data });
      assert.equal(ids(returned).split("").sort().join(""), expected, text);
      assert.equal(await books.updateMany({ where, data }), expected.length, text);
    }
    const authors = await db.author.findMany({
      orderBy: { id: "asc" },
      include: { books: { where, take: 9 }, _count: { books: { where } } },
    });
    const owned = await db.book.findMany({
      where: { ...where, author: where.author ?? {} },
      orderBy: { id: "asc" },
    });
    assert.equal(
      ids(authors.flatMap(({ books }) => books)).split("").sort().join(""),
      ids(owned),
      text,
    );
    assert.equal(authors.reduce((sum, { _count }) => sum + _count.books, 0), owned.length, text);
  }
  const childless: Where = {
    AND: [(eb) =>
      eb.not(eb.exists(
        eb.selectFrom("books as b").select("b.id").whereRef("b.sequel_of", "=", "books.id"),
      ))],
    tags: { none: {} },
  };
  assert.equal(await db.book.scoped({ tenant: "a" }).deleteMany({ where: childless }), 1);
});

testDbOnEach("rows that an expression of Kysely finds are decoded", async (db) => {
  const row = {
    select: "a",
    integer: 1,
    bigint: 2n ** 60n,
    text: "t",
    boolean: true,
    real: 0.5,
    decimal: "1.5000",
    json: { a: [1] },
    timestamp: new Date(1_700_000_000_123),
    uuid: "a0eebc99-9c0b-4ef8-bb6d-000000000001",
    blob: new Uint8Array([1]),
  };
  await db.sample.create({ data: row });
  const where = { AND: [() => sql<boolean>`${sql.ref("integer")} < ${2}`] };
  assert.deepEqual(await db.sample.findMany({ where }), [row]);
  const larger = await db.sample.findFirst({ where: { AND: [(eb) => eb("real", ">", 0.25)] } });
  assert.deepEqual(larger, row);
});

testOnEach("statements of two functions are never taken for each other", async (database) => {
  await using noted = await openNoted(Db, database);
  const { db, notes } = noted;
  await db.createTables();
  await db.user.createMany({
    data: ["a", "b", "c"].map((name) => ({ tenant_id: "t", email: name, name })),
  });
  const found = async (name: string) => {
    const users = await db.user.findMany({ where: { AND: [(eb) => eb("name", "=", name)] } });
    return users.map(({ name }) => name).join("");
  };
  for (const name of ["a", "b", "c", "a"]) assert.equal(await found(name), name);
  let column: "name" | "email" = "name";
  // One function builds different SQL.
  const where = { OR: [() => sql<boolean>`${sql.ref(column)} = 'a'`, { tenant_id: "u" }] };
  const count = async () => await db.user.count({ where });
  notes.take();
  const start = notes.compiled;
  assert.equal(await count(), 1);
  column = "email";
  assert.equal(await count(), 1);
  const [first, second] = notes.take();
  assert.notEqual(first?.[0], second?.[0]);
  assert.equal(notes.compiled - start, 2);
  // What is compiled for others of the same shape is kept.
  const plain = async () => await db.user.count({ where: { OR: [{}, { tenant_id: "u" }] } });
  await plain();
  await plain();
  assert.equal(notes.compiled - start, 3);
});

testLibraryOnEach("where rejects functions that it cannot use", async (db) => {
  const table: readonly (readonly [unknown, string])[] = [
    [{ AND: [() => undefined] }, "a function in where returns no expression"],
    [{ AND: [() => true] }, "a function in where returns no expression"],
    [{ OR: [() => ({ id: 1 })] }, "a function in where returns no expression"],
    [{ NOT: () => Promise.resolve() }, "a function in where returns no expression"],
    [() => sql`1 = 1`, "where is not a plain object"],
    [{ id: () => sql`1` }, "id takes a number, not function"],
    [{ author: () => sql`1` }, "author is not a plain object"],
    [{ sequels: { some: () => sql`1 = 1` } }, "sequels.some is not a plain object"],
    [
      { sequels: { some: { AND: [() => sql`1 = 1`] } } },
      "a function cannot refer to books inside books",
    ],
  ];
  for (const [where, reason] of table) {
    const options = { where: where as Where };
    await assert.rejects(
      db.book.findMany(options),
      mistake(`Cannot read books: ${reason}`),
      reason,
    );
    // Nothing is read before.
    await assert.rejects(
      db.author.findMany({ include: { books: options } }),
      mistake(`Cannot read authors: ${reason}`),
    );
  }
  const broken = () => {
    throw new RangeError("no");
  };
  await assert.rejects(db.book.findMany({ where: { AND: [broken] } }), { name: "RangeError" });
  await assert.rejects(
    db.book.deleteMany({ where: { OR: [{}, () => sql<boolean>`1 = 0`] } }),
    mistake("Cannot delete books: where names no column; for every row, pass all: true alone"),
  );
  assert.equal(await db.book.deleteMany({ where: { AND: [() => sql<boolean>`1 = 0`] } }), 0);
});
