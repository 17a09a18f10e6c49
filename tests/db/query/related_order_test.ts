import assert from "node:assert/strict";
import { mistake } from "../support/database.ts";
import { type Library, testLibraryOnEach } from "../support/library.ts";

type BookOptions = NonNullable<Parameters<Library["book"]["findMany"]>[0]>;
type AuthorOptions = NonNullable<Parameters<Library["author"]["findMany"]>[0]>;

/** Options, the books that they find, and those of tenant a. */
const BOOKS: readonly (readonly [BookOptions, all: string, scoped: string])[] = [
  [{ orderBy: [{ author: { name: "asc" } }, { id: "asc" }] }, "561234", "45612"],
  [{ orderBy: [{ author: { name: "desc" } }, { id: "desc" }] }, "432165", "21654"],
  [{ orderBy: [{ author: { id: "asc" } }, { id: "desc" }] }, "632145", "64215"],
  [{ orderBy: [{ author: { id: "desc", name: "asc" } }, { id: "desc" }] }, "543216", "52164"],
  [{ orderBy: { author: { name: "asc" } }, take: 3 }, "561", "456"],
  [{ orderBy: { author: { name: "desc" } }, take: 3, skip: 1 }, "123", "245"],
  [{ orderBy: [{ prequel: { author: { name: "asc" } } }, { id: "asc" }] }, "156234", "15624"],
  [{ orderBy: [{ prequel: { year: "desc" } }, { id: "asc" }] }, "624135", "62415"],
  [{ orderBy: [{ sequels: { _count: "desc" } }, { id: "asc" }] }, "125346", "15246"],
  [{ orderBy: [{ tags: { _count: "desc" } }, { id: "desc" }] }, "413265", "41652"],
  [
    { orderBy: [{ tags: { _count: "asc" } }, { sequels: { _count: "asc" } }, { id: "asc" }] },
    "653241",
    "26541",
  ],
  [{ orderBy: [{ prequel: { tags: { _count: "asc" } } }, { id: "asc" }] }, "156324", "15624"],
  [{ orderBy: [{ author: { books: { _count: "desc" } } }, { id: "asc" }] }, "123456", "12546"],
  [{ orderBy: { sequels: { _count: "desc" } }, distinct: ["title"] }, "124", "154"],
  [{ orderBy: { author: { name: "desc" } }, distinct: ["title"], take: 2 }, "41", "12"],
  [{ orderBy: { author: { name: "asc" } }, distinct: ["author_id"], skip: 1 }, "614", "561"],
  [{ orderBy: [{ title: "asc" }, { author: { name: "asc" } }], distinct: ["title"] }, "654", "654"],
  [{ orderBy: [{ author: {} }, { id: "desc" }, { sequels: {} }] }, "654321", "65421"],
  [
    { orderBy: [{ author: { id: "asc" } }, { author: { id: "desc" } }, { id: "asc" }] },
    "612345",
    "46125",
  ],
  [
    { where: { author: { name: "Ada" } }, orderBy: { tags: { _count: "asc" } }, take: 9 },
    "231",
    "21",
  ],
];

testLibraryOnEach("orderBy orders rows by related rows, in the scope", async (db) => {
  const ids = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id).join("");
  for (const [options, all, scoped] of BOOKS) {
    const text = JSON.stringify(options);
    assert.equal(ids(await db.book.findMany(options)), all, text);
    assert.equal(ids(await db.book.scoped({ tenant: "a" }).findMany(options)), scoped, text);
    const { take: _, ...first } = options;
    assert.equal((await db.book.findFirst(first))?.id, Number(all[0]), text);
    const select = { title: true } as const;
    const titles = await db.book.findMany({ ...options, select });
    assert.deepEqual(titles.map((row) => Object.keys(row)), titles.map(() => ["title"]), text);
  }
});

testLibraryOnEach("include orders rows by related rows", async (db) => {
  const table: readonly (readonly [object, string])[] = [
    [{ orderBy: { tags: { _count: "asc" } } }, "231,4,5,"],
    [{ orderBy: { tags: { _count: "asc" } }, take: 2 }, "23,4,5,"],
    [{ orderBy: [{ tags: { _count: "desc" } }], skip: 1 }, "23,,,"],
    [{ orderBy: { prequel: { title: "desc" } } }, "321,4,5,"],
    [{ orderBy: { prequel: { title: "desc" } }, take: 2 }, "32,4,5,"],
    [{ orderBy: { prequel: { author: { name: "asc" } } }, take: 1 }, "1,4,5,"],
  ];
  for (const [options, expected] of table) {
    const books = options as Record<never, never>;
    const authors = await db.author.findMany({ orderBy: { id: "asc" }, include: { books } });
    const ids = authors.map(({ books }) => books.map(({ id }) => id).join(""));
    assert.equal(ids.join(), expected, JSON.stringify(options));
  }
  for (const page of [{}, { take: 4 }]) {
    const orderBy = [{ sequels: { _count: "desc" } }, { author: { name: "desc" } }] as const;
    const tag = await db.tag.findUnique({
      where: { name: "red" },
      include: { books: { orderBy, select: { id: true }, ...page } },
    });
    assert.deepEqual(tag?.books.map(({ id }) => id), [1, 2, 4, 4]);
  }
});

testLibraryOnEach("orderBy rejects unknown members of relations, and names them", async (db) => {
  const table: readonly (readonly [unknown, string])[] = [
    [{ books: "asc" }, "orderBy.books is not a plain object"],
    [{ books: { title: "asc" } }, 'orderBy.books takes no "title"'],
    [{ books: { _count: "up" } }, "the order of orderBy.books is not asc or desc"],
    [{ books: { _count: undefined } }, "orderBy.books._count is undefined"],
    [{ profile: "asc" }, "orderBy.profile is not a plain object"],
    [{ profile: null }, "orderBy.profile is not a plain object"],
    [{ profile: { _count: "asc" } }, 'there is no column "_count"'],
    [{ profile: { bio: "up" } }, "the order of bio is not asc or desc"],
    [{ profile: { bio: undefined } }, "orderBy.profile.bio is undefined"],
    [{ profile: { author: { nope: "asc" } } }, 'there is no column "nope"'],
    [[{ profile: { author: { id: 1 } } }], "the order of id is not asc or desc"],
    [
      Array.from({ length: 31 }, () => ({ books: { _count: "asc" } })),
      "it has over 30 relations",
    ],
  ];
  for (const [orderBy, reason] of table) {
    const options = { orderBy } as AuthorOptions;
    await assert.rejects(db.author.findMany(options), mistake(`Cannot read authors: ${reason}`));
  }
});
