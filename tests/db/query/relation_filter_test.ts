import assert from "node:assert/strict";
import { DbOptions } from "../../../src/db/mod.ts";
import { mistake, testOnEach } from "../support/database.ts";
import { fillLibrary, Library, testLibraryOnEach } from "../support/library.ts";

type BookWhere = NonNullable<NonNullable<Parameters<Library["book"]["findMany"]>[0]>["where"]>;
type AuthorWhere = NonNullable<NonNullable<Parameters<Library["author"]["findMany"]>[0]>["where"]>;

const BOOKS: readonly (readonly [BookWhere, all: string, scoped: string])[] = [
  [{ author: { is: { name: "Ada" } } }, "123", "12"],
  [{ author: { name: "Ada" } }, "123", "12"],
  [{ author: { name: { not: "Ada" } } }, "4", ""],
  [{ author: { isNot: { name: "Ada" } } }, "456", "456"],
  [{ NOT: { author: { name: "Ada" } } }, "456", "456"],
  [{ author: null }, "6", "46"],
  [{ author: { is: null } }, "6", "46"],
  [{ author: { isNot: null } }, "12345", "125"],
  [{ author: {} }, "12345", "125"],
  [{ author: { is: {} } }, "12345", "125"],
  [{ author: { isNot: {} } }, "6", "46"],
  [{ author: { name: null } }, "5", "5"],
  [{ author: { tenant: "a", isNot: { name: "Ada" } } }, "5", "5"],
  [{ author: { is: { tenant: "a" }, isNot: { id: 3 } } }, "123", "12"],
  [{ author: { profile: { bio: "Countess" } } }, "123", "12"],
  [{ author: { profile: null } }, "45", "5"],
  [{ author: { profile: { isNot: { bio: "Countess" } } } }, "45", "5"],
  [{ author: { books: { some: { title: "y" } } } }, "1235", "125"],
  [{ prequel: { title: "x" } }, "24", "24"],
  [{ prequel: { prequel: { title: "x" } } }, "3", ""],
  [{ prequel: { prequel: { isNot: null }, author: { name: "Ada" } } }, "3", ""],
  [{ sequels: { some: {} } }, "125", "15"],
  [{ sequels: { none: {} } }, "346", "246"],
  [{ sequels: { some: { year: { gt: 1 } } } }, "125", "15"],
  [{ sequels: { every: { year: { gt: 1 } } } }, "23456", "2456"],
  [{ sequels: { every: {} } }, "123456", "12456"],
  [{ sequels: { every: { OR: [] } } }, "346", "246"],
  [{ sequels: { some: { year: { gt: 0 } }, none: { title: "z" } } }, "25", "5"],
  [{ sequels: { some: { sequels: { some: { author: { name: "Ada" } } } } } }, "1", ""],
  [{ sequels: { some: { prequel: { id: 1 }, author: { name: "Ada" } } } }, "1", "1"],
  [{ tags: { some: { name: "red" } } }, "124", "14"],
  [{ tags: { some: { name: "Red" } } }, "3", ""],
  [{ tags: { some: {} } }, "1234", "14"],
  [{ tags: { none: {} } }, "56", "256"],
  [{ tags: { none: { name: "red" } } }, "356", "256"],
  [{ tags: { every: { name: "red" } } }, "2456", "2456"],
  [{ tags: { some: { name: "red" } }, AND: [{ tags: { some: { name: "blue" } } }] }, "1", "1"],
  [{ OR: [{ tags: { some: { name: "blue" } } }, { author: null }] }, "16", "146"],
  [{ tags: { some: { books: { some: { title: "z" } } } } }, "124", "14"],
  [{ NOT: { OR: [{ author: { name: "Ada" } }, { tags: { some: {} } }] } }, "56", "56"],
  [{ title: "x", author: { id: { in: [1, 2] } }, id: { lt: 3 } }, "1", "1"],
];

const ID = { id: "asc" } as const;

const AUTHORS: readonly (readonly [AuthorWhere, string])[] = [
  [{ books: { some: { title: "x", author: { name: "Ada" } } } }, "1"],
  [{ books: { none: {} } }, "4"],
  [{ books: { every: { year: { gte: 1 } } } }, "234"],
  [{ books: { every: { title: { in: ["x", "y"] } } } }, "134"],
  [{ books: { every: { tags: { some: {} } } } }, "124"],
  [{ books: { some: { tags: { every: { name: "red" } } } } }, "123"],
  [{ profile: { is: null } }, "234"],
  [{ profile: { isNot: null } }, "1"],
];

testLibraryOnEach("where finds rows by related rows, in the scope", async (db) => {
  const scoped = db.book.scoped({ tenant: "a" });
  for (const [where, all, inScope] of BOOKS) {
    const text = JSON.stringify(where);
    for (const [books, ids] of [[db.book, all], [scoped, inScope]] as const) {
      const rows = await books.findMany({ where, orderBy: ID, select: { id: true } });
      assert.equal(idsOf(rows), ids, text);
      assert.equal(await books.count({ where }), ids.length, text);
      assert.equal(await books.exists({ where }), ids !== "", text);
      assert.equal((await books.findFirst({ where }))?.id, ids ? Number(ids[0]) : undefined, text);
      assert.deepEqual(
        await books.aggregate({ where, _count: true }),
        { _count: ids.length },
        text,
      );
      const groups = await books.groupBy({ by: ["id"], where, orderBy: ID });
      assert.equal(idsOf(groups), ids, text);
      assert.equal(idsOf(await Array.fromAsync(books.stream({ where, batchSize: 2 }))), ids, text);
    }
  }
  for (const [where, ids] of AUTHORS) {
    const rows = await db.author.findMany({ where, orderBy: ID });
    assert.equal(idsOf(rows), ids, JSON.stringify(where));
  }
});

testLibraryOnEach("include and distinct find related rows by those related to them", async (db) => {
  for (const [where, all, inScope] of BOOKS) {
    const text = JSON.stringify(where);
    for (const page of [{}, { take: 9 }]) {
      for (const scope of [undefined, { tenant: "a" }]) {
        const authors = scope ? db.author.scoped(scope) : db.author;
        const books = scope ? db.book.scoped(scope) : db.book;
        const owned = await authors.findMany({ include: { books: { where, ...page } } });
        const found = owned.flatMap(({ books }) => idsOf(books).split("")).sort().join("");
        const owner = { AND: [where, { author: {} }] };
        assert.equal(found, idsOf(await books.findMany({ where: owner, orderBy: ID })), text);
      }
      const tag = await db.tag.findUnique({
        where: { name: "red" },
        include: { books: { where, ...page, orderBy: ID } },
      });
      const tagged = { AND: [where, { tags: { some: { name: "red" } } }] };
      const red = idsOf(await db.book.findMany({ where: tagged, orderBy: ID }));
      // A join row occurs twice.
      assert.equal(idsOf(tag!.books), red.replace("4", "44"), text);
    }
    const distinct = await db.book.count({ where, distinct: ["id"] });
    assert.equal(distinct, all.length, text);
    const titles = await db.book.scoped({ tenant: "a" }).findMany({ where, distinct: ["year"] });
    assert.equal(titles.length, inScope.length, text);
  }
});

testLibraryOnEach("groupBy aggregates rows by related rows, in the scope", async (db) => {
  const groups = (books: Pick<Library["book"], "groupBy">) =>
    books.groupBy({
      by: ["title"],
      where: {
        OR: [{ author: { name: "Ada" } }, { sequels: { some: {} } }, { tags: { none: {} } }],
      },
      having: { year: { _sum: { gte: 1 } }, NOT: { id: { _count: 1 } } },
      orderBy: { _sum: { year: "desc" } },
      _sum: { year: true },
      _count: true,
    });
  assert.deepEqual(await groups(db.book), [
    { title: "x", _sum: { year: 10 }, _count: 3 },
    { title: "y", _sum: { year: 5 }, _count: 2 },
  ]);
  assert.deepEqual(await groups(db.book.scoped({ tenant: "a" })), [
    { title: "x", _sum: { year: 7 }, _count: 2 },
    { title: "y", _sum: { year: 5 }, _count: 2 },
  ]);
  const by = { by: ["title"] } as const;
  for (
    const [options, reason] of [
      [{ having: { author: { _count: 1 } } }, 'there is no column "author"'],
      [{ having: { AND: [() => {}] } }, "having is not a plain object"],
      [{ having: { NOT: () => {} } }, "having is not a plain object"],
      [{ orderBy: { author: { name: "asc" } } }, 'there is no column "author"'],
      [{ _count: { author: true } }, 'there is no column "author"'],
      [{ where: { author: { nope: 1 } } }, 'there is no column "nope"'],
    ] as const
  ) {
    const refusal = mistake(`Cannot group books: ${reason}`);
    await assert.rejects(db.book.groupBy({ ...by, ...options as object }), refusal, reason);
  }
});

testLibraryOnEach(
  "stream includes and counts related rows, and has no order by them",
  async (db) => {
    const options = {
      where: { books: { some: {} } },
      orderBy: { name: "desc" },
      select: { name: true },
      include: { books: { orderBy: { author: { name: "asc" } } }, _count: { books: true } },
    } as const;
    for (const authors of [db.author, db.author.scoped({ tenant: "a" })]) {
      const found = await authors.findMany({ ...options, skip: 0 });
      const streamed = await Array.fromAsync(authors.stream({ ...options, batchSize: 1 }));
      assert.deepEqual(streamed, found);
    }
    for (
      const orderBy of [
        { author: { name: "asc" } },
        { author: { name: { sort: "asc", mode: "insensitive" } } },
        [{ id: "asc" }, { tags: { _count: "asc" } }],
      ]
    ) {
      await assert.rejects(
        Array.fromAsync(db.book.stream({ orderBy: orderBy as object })),
        mistake("Cannot read books: a stream has no order by related rows"),
      );
    }
  },
);

testOnEach("updateMany and deleteMany write rows by related rows", async ({ url }) => {
  await using db = await Library.open(DbOptions.fromUrl(url));
  await db.createTables();
  await fillLibrary(db);
  const books = db.book.scoped({ tenant: "a" });
  let year = 100;
  for (const [where, , inScope] of BOOKS) {
    if (inScope === "12456") continue;
    const data = { year: { increment: 0 }, title: `${++year}` };
    assert.equal(
      await db.transaction(async () => {
        const returned = await books.updateManyAndReturn({
          where,
          data: { year: { increment: 0 } },
        });
        const byId = returned.toSorted((a, b) => a.id - b.id);
        assert.equal(idsOf(byId), inScope, JSON.stringify(where));
        const count = await books.updateMany({ where, data });
        const written = await db.book.findMany({ where: { title: `${year}` }, orderBy: ID });
        const titled = byId.map((row) => ({ ...row, title: `${year}` }));
        assert.deepEqual(written, titled, JSON.stringify(where));
        for (const { id } of written) await db.book.update({ where: { id }, data: TITLES[id]! });
        return count;
      }),
      inScope.length,
      JSON.stringify(where),
    );
  }
  assert.equal(
    await db.bookTag.deleteMany({ where: { book: { tags: { none: { name: "blue" } } } } }),
    4,
  );
  assert.equal(await db.book.deleteMany({ where: { prequel: { prequel: { id: 1 } } } }), 1);
  assert.equal(
    await db.book.deleteMany({ where: { sequels: { none: {} }, prequel: { isNot: null } } }),
    3,
  );
  assert.equal(await db.profile.deleteMany({ where: { author: { name: "Ada" } } }), 1);
});

function idsOf(rows: readonly { readonly id: number }[]): string {
  return rows.map(({ id }) => id).join("");
}

const TITLES: Readonly<Record<number, { readonly title: string }>> = {
  1: { title: "x" },
  2: { title: "y" },
  4: { title: "z" },
  5: { title: "y" },
  6: { title: "x" },
};

testLibraryOnEach("a write refuses relations that hold for every row", async (db) => {
  const refused: readonly (readonly [AuthorWhere | BookWhere, "author" | "book"])[] = [
    [{ books: { every: {} } }, "author"],
    [{ books: { none: { OR: [] } } }, "author"],
    [{ NOT: { books: { some: { id: { in: [] } } } } }, "author"],
    [{ profile: { isNot: { OR: [] } } }, "author"],
    [{ OR: [{ id: 1 }, { tags: { every: { AND: [] } } }] }, "book"],
    [{ sequels: { every: { sequels: { every: {} } } } }, "book"],
  ];
  for (const [where, name] of refused) {
    await assert.rejects(
      async () => await db[name].deleteMany({ where: where as never }),
      mistake(`Cannot delete ${name}s: where holds for every row; for that, pass all: true alone`),
      JSON.stringify(where),
    );
  }
  const every = "Cannot delete profiles: where holds for every row; for that, pass all: true alone";
  await assert.rejects(db.profile.deleteMany({ where: { author: {} } }), mistake(every));
  await assert.rejects(
    db.profile.deleteMany({ where: { author: { isNot: null } } }),
    mistake(every),
  );
  assert.equal(await db.profile.deleteMany({ where: { author: null } }), 0);
  assert.equal(await db.profile.deleteMany({ where: { author: { isNot: {} } } }), 0);
  assert.equal(await db.bookTag.scoped({ tenant: "b" }).deleteMany({ where: { book: {} } }), 0);
  assert.equal(await db.bookTag.scoped({ tenant: "b" }).deleteMany({ where: { book: null } }), 1);
});

testLibraryOnEach("where rejects unknown members of relations, and names them", async (db) => {
  const table: readonly (readonly [unknown, string])[] = [
    [{ books: { title: "x" } }, 'books takes no "title"'],
    [{ books: { is: {} } }, 'books takes no "is"'],
    [{ books: {} }, "books has no operator"],
    [{ books: null }, "books is not a plain object"],
    [{ books: 1 }, "books is not a plain object"],
    [{ books: undefined }, "where.books is undefined"],
    [{ books: { some: undefined } }, "books.some is undefined"],
    [{ books: { some: null } }, "books.some is not a plain object"],
    [{ books: { some: { title: undefined } } }, "books.some.title is undefined"],
    [{ books: { some: { nope: 1 } } }, 'there is no column "nope"'],
    [{ books: { some: { tags: { every: { nope: 1 } } } } }, 'there is no column "nope"'],
    [{ books: { some: { year: "1" } } }, "year takes a number, not string"],
    [{ books: { some: { year: { lt: undefined } } } }, "year.lt is undefined"],
    [{ profile: "x" }, "profile is not a plain object"],
    [{ profile: { some: {} } }, 'there is no column "some"'],
    [{ profile: { is: undefined } }, "profile.is is undefined"],
    [{ profile: { bio: 1 } }, "bio takes a string, not number"],
    [
      { profile: { isNot: { author: { books: { every: { id: null, title: 1 } } } } } },
      "title takes a string, not number",
    ],
    [{ AND: [{ posts: { some: {} } }] }, 'there is no column "posts"'],
    [JSON.parse('{"books":{"__proto__":{}}}'), 'books takes no "__proto__"'],
    [JSON.parse('{"profile":{"__proto__":{"bio":"x"}}}'), 'there is no column "__proto__"'],
  ];
  for (const [where, reason] of table) {
    const options = { where: where as AuthorWhere };
    await assert.rejects(
      db.author.findMany(options),
      mistake(`Cannot read authors: ${reason}`),
      reason,
    );
    await assert.rejects(db.author.count(options), mistake(`Cannot count authors: ${reason}`));
    await assert.rejects(
      db.author.deleteMany(options),
      mistake(`Cannot delete authors: ${reason}`),
    );
  }
});

testLibraryOnEach("relations in a where are at most 8 levels deep, and 30", async (db) => {
  const deep = (levels: number, where: BookWhere = { tags: { some: {} } }): BookWhere =>
    levels === 1 ? where : { sequels: { some: deep(levels - 1, where) } };
  assert.equal(await db.book.count({ where: deep(8) }), 0);
  assert.equal(await db.book.count({ where: deep(3) }), 1);
  const wide = (length: number) => ({
    AND: Array.from({ length }, () => ({ tags: { some: { name: "red" } } })),
  });
  assert.equal(await db.book.count({ where: wide(30) }), 3);
  for (
    const [where, reason] of [
      [deep(9), "relations are nested over 8 levels deep"],
      [wide(31), "it has over 30 relations"],
    ] as const
  ) {
    await assert.rejects(db.book.count({ where }), mistake(`Cannot count books: ${reason}`));
  }
});
