import assert from "node:assert/strict";
import { sql } from "kysely";
import { mysqlGrammar } from "../../../src/db/dialects/mysql/mysql.ts";
import {
  belongsTo,
  DbOptions,
  DbService,
  field,
  hasMany,
  manyToMany,
  model,
} from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { type Brand, dbError, testOnEach } from "../support/database.ts";
import { openNoted } from "../support/noted.ts";
import { planOf } from "../support/plans.ts";

const User = model("users", { id: field.integer().primaryKey(), name: field.text() });
const Post = model("posts", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references(User),
  parent_id: field.integer().nullable().references("self"),
  rank: field.integer().nullable(),
  title: field.text(),
});
const Tag = model("tags", { title: field.text().primaryKey() });
/** Its columns have the names of those it relates. */
const Label = model("labels", {
  id: field.bigint().primaryKey(),
  author_id: field.integer().references(Post),
  title: field.text().references(Tag),
});

class Blog extends DbService.with({ user: User, post: Post, tag: Tag, label: Label }, {
  user: { posts: hasMany(Post.author_id) },
  post: { replies: hasMany(Post.parent_id), tags: manyToMany(Label.author_id, Label.title) },
  tag: { posts: manyToMany(Label.title, Label.author_id) },
}) {}

/** More than one query unites. */
const USERS = 150;

/** Posts of a few authors, with ranks that are equal or missing, and labels that occur twice. */
async function fill(db: Blog): Promise<void> {
  const range = (length: number) => Array.from({ length }, (_, index) => index);
  await db.user.createMany({ data: range(USERS).map((n) => ({ id: n + 1, name: `${n}` })) });
  await db.post.createMany({
    data: range(400).map((n) => ({
      id: n + 1,
      author_id: 1 + n * n % 7 * 20,
      parent_id: n < 5 ? null : 1 + n % 5,
      rank: n % 4 === 0 ? null : n % 3,
      title: `${n % 5}`,
    })),
  });
  await db.tag.createMany({ data: ["x", "Y", "ä", "z"].map((title) => ({ title })) });
  await db.label.createMany({
    data: range(600).map((n) => ({ author_id: 1 + n % 9 * n % 50, title: "xYäz"[n % 4]! })),
  });
}

const ORDERS = [
  {},
  { rank: "asc" },
  { rank: "desc" },
  [{ title: "desc" }, { rank: "asc" }, { id: "desc" }],
] as const;
const BOUNDS = [{ take: 3 }, { skip: 2 }, { take: 2, skip: 1 }, { take: 0 }, { take: 999 }];

testOnEach("include reads the page of each that is part of all its rows", async ({ url }) => {
  await using db = await Blog.open(DbOptions.fromUrl(url));
  await db.createTables();
  await fill(db);
  const parts = { include: { tags: true }, select: { title: true } } as const;
  for (const orderBy of ORDERS) {
    for (const where of [{}, { rank: { in: [1, 2] }, title: { not: "3" } }]) {
      const read = async (page: object) => {
        const posts = { ...parts, orderBy, where, ...page };
        const include = { replies: posts };
        return [
          (await db.user.findMany({ include: { posts } })).map(({ posts }) => posts),
          (await db.tag.findMany({ include: { posts } })).map(({ posts }) => posts),
          (await db.post.findMany({ take: 9, include })).map(({ replies }) => replies),
        ];
      };
      const all = await read({});
      for (const { take, skip = 0 } of BOUNDS) {
        const pages = all.map((of) =>
          of.map((posts) => posts.slice(skip, take === undefined ? undefined : skip + take))
        );
        const page = take === undefined ? { skip } : { take, skip };
        assert.deepEqual(await read(page), pages, JSON.stringify({ orderBy, where, ...page }));
      }
    }
  }
}, { slow: ["mysql"] });

testOnEach("include reads pages of pages, in the scope", async ({ url }) => {
  await using db = await Blog.open(DbOptions.fromUrl(url));
  await db.createTables();
  await fill(db);
  const [user] = await db.user.findMany({
    where: { id: 1 },
    include: {
      posts: { take: 3, skip: 1, include: { tags: { take: 4, orderBy: { title: "desc" } } } },
    },
  });
  const labels = await db.label.findMany({ orderBy: { title: "desc" } });
  const expected = [8, 15, 22].map((id) => ({
    id,
    tags: labels.filter(({ author_id }) => author_id === id).slice(0, 4)
      .map(({ title }) => ({ title })),
  }));
  assert.deepEqual(user?.posts.map(({ id, tags }) => ({ id, tags })), expected);
  assert.deepEqual(expected.map(({ tags }) => tags.length), [3, 4, 4]);
  const [tag] = await db.tag.scoped({ title: "ä" }).findMany({
    include: { posts: { take: 9, orderBy: { id: "desc" } } },
  });
  assert.deepEqual(tag?.posts.map(({ title }) => title), []);
});

testOnEach("include reads pages of rows that a long list selects", async ({ url }) => {
  await using db = await Blog.open(DbOptions.fromUrl(url));
  await db.createTables();
  await fill(db);
  for (const length of [3000, 30_000]) {
    const ids = Array.from({ length }, (_, index) => index + 8);
    const [first, ...others] = await db.user.findMany({
      take: 21,
      include: { posts: { where: { id: { in: ids } }, take: 2, select: { id: true } } },
    });
    assert.deepEqual(first?.posts, [{ id: 8 }, { id: 15 }]);
    assert.deepEqual(others.at(-1)?.posts, [{ id: 9 }, { id: 14 }]);
  }
}, { slow: ["mysql"] });

const PLANS = {
  // Nothing is sorted for an owner: the index ends with the primary key.
  sqlite: /SEARCH posts USING COVERING INDEX posts_author_id_idx \(author_id=\?\)/,
  postgres: /Limit(?:.|\n)*Index Scan(?: Backward)? using posts_author_id_id/,
  mysql: /"posts",(?:"partitions":null,)?"type":"ref".*"key":"posts_author_id_fkey"/,
};

testOnEach("include finds the first rows of each by an index", async (database) => {
  const { brand } = database;
  await using noted = await openNoted(Blog, database);
  const { db, notes } = noted;
  await db.createTables();
  await fill(db);
  if (brand === "postgres") {
    await sql`create index posts_author_id_id on posts (author_id, id)`.execute(db.kysely);
    await sql`insert into posts (author_id, title)
      select 1 + n % 20, 't' from generate_series(1, 50000) n`.execute(db.kysely);
    await sql`analyze`.execute(db.kysely);
  }
  notes.take();
  await db.user.findMany({
    where: { id: { lte: 20 } },
    include: { posts: { orderBy: { id: "desc" }, take: 3 } },
  });
  const [, related] = notes.take();
  assert.ok(related);
  const plan = await planOf(db.kysely, brand, related);
  assert.match(plan, PLANS[brand]);
  assert.doesNotMatch(plan, /"posts"[^\n]*filesort|WindowAgg/);
});

test("mysqlGrammar() reads the first rows of each by LATERAL where the server has it", () => {
  const table: readonly (readonly [version: string, form: string])[] = [
    ["8.0.14", "lateral"],
    ["8.0.36-0ubuntu0.22.04.1", "lateral"],
    ["8.4.0", "lateral"],
    ["9.1.0-cloud", "lateral"],
    ["10.0.0", "lateral"],
    ["8.0.13", "union"],
    ["5.7.44-log", "union"],
    ["10.11.19-MariaDB-0+deb12u1", "union"],
    ["5.5.5-10.6.8-MariaDB-log", "union"],
    ["8.0.30-Vitess", "union"],
    ["8.0.11-TiDB-v8.5.0", "union"],
    ["undefined", "union"],
  ];
  for (const [version, form] of table) {
    const { firstOfEach } = mysqlGrammar({ collation: "utf8mb4_bin", version });
    assert.equal(firstOfEach, form, version);
  }
});

const Airport = model("airports", { code: field.text().primaryKey() });
const Flight = model("flights", {
  id: field.integer().primaryKey(),
  origin: field.text().references(Airport),
});
class Flights extends DbService.with({ airport: Airport, flight: Flight }, {
  airport: { flights: hasMany(Flight.origin) },
  flight: { from: belongsTo(Flight.origin) },
}) {}

/** Types that take one text for another of another case. */
const LOOSE: Readonly<Record<Brand, string>> = {
  sqlite: "text collate nocase",
  postgres: "citext",
  mysql: "varchar(9) collate utf8mb4_general_ci",
};

testOnEach("include leaves out no row that the database relates by another text", async (it) => {
  await using db = await Flights.open(DbOptions.fromUrl(it.url));
  if (it.brand === "postgres") await sql`create extension citext`.execute(db.kysely);
  const type = sql.raw(LOOSE[it.brand]);
  await sql`create table airports (code ${type} primary key)`.execute(db.kysely);
  await sql`create table flights (id int primary key, origin ${type} not null,
    foreign key (origin) references airports (code))`.execute(db.kysely);
  await db.airport.create({ data: { code: "AMS" } });
  await db.flight.create({ data: { id: 1, origin: "AMS" } });
  const flights = () => db.airport.findMany({ include: { flights: true } });
  const from = () => db.flight.findMany({ include: { from: true } });
  assert.deepEqual(await flights(), [{ code: "AMS", flights: [{ id: 1, origin: "AMS" }] }]);
  assert.deepEqual(await from(), [{ id: 1, origin: "AMS", from: { code: "AMS" } }]);
  await db.flight.update({ where: { id: 1 }, data: { origin: "ams" } });
  const relate = (what: string) =>
    dbError("Database", `Cannot relate ${what} or its reference equates texts`);
  await assert.rejects(flights(), relate("flights: the collation of airports.code"));
  await assert.rejects(from(), relate("airports: the collation of flights.origin"));
  await db.flight.create({ data: { id: 2, origin: "AMS" } });
  await assert.rejects(from(), relate("airports: the collation of flights.origin"));
});

testOnEach(
  "include distinguishes texts by case, also where one has no row",
  async (it) => {
    await using db = await Flights.open(DbOptions.fromUrl(it.url));
    const type = sql.raw(it.brand === "mysql" ? "varchar(9) collate utf8mb4_bin" : "text");
    await sql`create table airports (code ${type} primary key)`.execute(db.kysely);
    await sql`create table flights (id int primary key, origin ${type} not null)`.execute(
      db.kysely,
    );
    await db.airport.create({ data: { code: "AMS" } });
    await db.flight.createMany({ data: [{ id: 1, origin: "AMS" }, { id: 2, origin: "ams" }] });
    const flights = await db.flight.findMany({ include: { from: true }, orderBy: { id: "asc" } });
    assert.deepEqual(flights.map(({ from }) => from), [{ code: "AMS" }, null]);
  },
);
