import assert from "node:assert/strict";
import { DbOptions, DbService, field, hasMany, manyToMany, model } from "../../../src/db/mod.ts";
import { mistake, testOnEach } from "../support/database.ts";
import { fillLibrary, Library, testLibraryOnEach } from "../support/library.ts";
import { openNoted } from "../support/noted.ts";

type Include = NonNullable<NonNullable<Parameters<Library["author"]["findMany"]>[0]>["include"]>;

const ID = { id: "asc" } as const;

testLibraryOnEach("include counts related rows, in the scope", async (db) => {
  const books = await db.book.findMany({
    orderBy: ID,
    include: { _count: { sequels: true, tags: { where: { name: { startsWith: "r" } } } } },
  });
  assert.deepEqual(
    books.map(({ _count }) => _count),
    [[2, 1], [1, 1], [0, 0], [0, 2], [1, 0], [0, 0]].map(([sequels, tags]) => ({ sequels, tags })),
  );
  const scoped = await db.book.scoped({ tenant: "a" }).findMany({
    orderBy: ID,
    select: { title: true },
    include: { _count: { sequels: { where: { author: { isNot: null } } }, tags: true } },
  });
  assert.deepEqual(
    scoped,
    [["x", 1, 2], ["y", 0, 0], ["z", 0, 2], ["y", 0, 0], ["x", 0, 0]].map((
      [title, sequels, tags],
    ) => ({ title, _count: { sequels, tags } })),
  );
});

testLibraryOnEach("include counts the rows of related rows", async (db) => {
  const author = await db.author.findUnique({
    where: { id: 1 },
    include: {
      books: {
        select: { id: true },
        take: 2,
        include: { _count: { tags: true }, tags: { include: { _count: { books: true } } } },
      },
      _count: { books: { where: { title: "x" } } },
    },
  });
  assert.deepEqual(author, {
    id: 1,
    tenant: "a",
    name: "Ada",
    _count: { books: 2 },
    books: [
      {
        id: 1,
        _count: { tags: 2 },
        tags: [{ name: "blue", _count: { books: 1 } }, { name: "red", _count: { books: 4 } }],
      },
      { id: 2, _count: { tags: 1 }, tags: [{ name: "red", _count: { books: 4 } }] },
    ],
  });
  const first = await db.author.findFirst({ include: { _count: { books: false } } });
  assert.deepEqual(first?._count, {});
  assert.deepEqual(
    await db.author.findMany({ where: { id: 9 }, include: { _count: { books: true } } }),
    [],
  );
});

testOnEach("include counts by one query a relation, regardless of the rows", async (database) => {
  await using noted = await openNoted(Library, database);
  const { db, notes } = noted;
  await db.createTables();
  await fillLibrary(db);
  for (const take of [1, 6]) {
    notes.take();
    await db.book.findMany({ take, include: { _count: { sequels: true, tags: true } } });
    assert.equal(notes.take().length, 3);
  }
});

testOnEach("include counts by keys that drivers could misread", async ({ url }) => {
  const Account = model("accounts", { id: field.bigint().primaryKey() });
  const Price = model("prices", {
    id: field.decimal({ precision: 12, scale: 2 }).primaryKey(),
    account_id: field.bigint().references(Account),
  });
  const Offer = model("offers", {
    id: field.uuid().primaryKey(),
    price: field.decimal({ precision: 12, scale: 2 }).references(Price),
    account_id: field.bigint().references(Account),
  });
  class Shop extends DbService.with({ account: Account, price: Price, offer: Offer }, {
    account: {
      prices: hasMany(Price.account_id),
      offered: manyToMany(Offer.account_id, Offer.price),
    },
    price: { offers: hasMany(Offer.price) },
  }) {}
  await using db = await Shop.open(DbOptions.fromUrl(url));
  await db.createTables();
  const account_id = 2n ** 60n + 1n;
  const price = "123456.70";
  await db.account.createMany({ data: [{ id: account_id }, { id: account_id + 1n }] });
  await db.price.createMany({ data: [{ id: price, account_id }, { id: "1.00", account_id }] });
  await db.offer.create({ data: { id: crypto.randomUUID(), price, account_id } });
  assert.deepEqual(
    await db.account.findMany({
      orderBy: { offered: { _count: "desc" } },
      include: { _count: { prices: true, offered: true } },
    }),
    [
      { id: account_id, _count: { prices: 2, offered: 1 } },
      { id: account_id + 1n, _count: { prices: 0, offered: 0 } },
    ],
  );
  assert.deepEqual(
    await db.price.findMany({
      where: { offers: { every: { price: { not: "1" } } } },
      select: { id: true },
      orderBy: { offers: { _count: "asc" } },
      include: { _count: { offers: true } },
    }),
    [{ id: "1.00", _count: { offers: 0 } }, { id: price, _count: { offers: 1 } }],
  );
});

testLibraryOnEach("include rejects counts of unknown relations, and names them", async (db) => {
  const table: readonly (readonly [unknown, string])[] = [
    [{ nope: true }, 'there is no relation "nope"'],
    [{ profile: true }, "profile is not counted"],
    [{ books: 1 }, "include._count.books is neither a boolean nor a plain object"],
    [{ books: { take: 1 } }, 'include._count.books takes no "take"'],
    [{ books: { where: undefined } }, "where is undefined"],
    [{ books: { where: { nope: 1 } } }, 'there is no column "nope"'],
    [{ books: { where: { year: "1" } } }, "year takes a number, not string"],
    [true, "include._count is not a plain object"],
    [["books"], "include._count is not a plain object"],
  ];
  for (const [_count, reason] of table) {
    const include = { _count } as Include;
    await assert.rejects(
      db.author.findMany({ include }),
      mistake(`Cannot read authors: ${reason}`),
    );
  }
  const wide = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`books${n}`, true]));
  await assert.rejects(
    db.author.findMany({ include: { _count: wide } as Include }),
    mistake("Cannot read authors: include has over 100 relations"),
  );
});

testOnEach("a column named _count and a count exclude each other", async ({ url }) => {
  const Odd = model("odd", {
    _count: field.integer().primaryKey(),
    of: field.integer().nullable().references("self"),
  });
  const relations = { odd: { parts: hasMany(Odd.of) } };
  await using db = await DbService.with({ odd: Odd }, relations).open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.odd.create({ data: { _count: 1 } });
  await assert.rejects(
    db.odd.findMany({ include: { _count: { parts: true } } }),
    mistake("Cannot read odd: _count is a column"),
  );
  assert.deepEqual(await db.odd.findMany({ include: { parts: true } }), [
    { _count: 1, of: null, parts: [] },
  ]);
  for (const name of ["_count", "AND", "a b", "constructor"]) {
    assert.throws(
      () => DbService.with({ odd: Odd }, { odd: { [name]: hasMany(Odd.of) } }),
      mistake(
        `Cannot relate odd.${name}: the name is reserved`,
      ),
    );
  }
}, { brands: ["sqlite"] });
