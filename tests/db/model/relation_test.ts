import assert from "node:assert/strict";
import {
  belongsTo,
  DbOptions,
  DbService,
  field,
  hasMany,
  hasOne,
  manyToMany,
  model,
} from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { testOnEach } from "../support/database.ts";

const User = model("users", {
  id: field.integer().primaryKey(),
  tenant_id: field.text(),
  name: field.text(),
});
const Profile = model("profiles", {
  user_id: field.integer().primaryKey().references(User),
  bio: field.text(),
});
const Post = model("posts", {
  id: field.bigint().primaryKey(),
  tenant_id: field.text(),
  author_id: field.integer().references(User),
  parent_id: field.bigint().nullable().references("self"),
  title: field.text(),
});
const Tag = model("tags", { name: field.text().primaryKey() });
/** Its columns have the names of those it relates. */
const PostTag = model("post_tags", {
  id: field.integer().primaryKey(),
  name: field.text().references(Tag),
  title: field.bigint().references(Post),
});

class Blog extends DbService.with(
  { user: User, profile: Profile, post: Post, tag: Tag, postTag: PostTag },
  {
    user: { posts: hasMany(Post.author_id), profile: hasOne(Profile.user_id) },
    post: {
      author: belongsTo(Post.author_id),
      parent: belongsTo(Post.parent_id),
      replies: hasMany(Post.parent_id),
      tags: manyToMany(PostTag.title, PostTag.name),
    },
    tag: { posts: manyToMany(PostTag.name, PostTag.title) },
  },
) {}

const ADA = { id: 1, tenant_id: "a", name: "Ada" };
const BEA = { id: 2, tenant_id: "a", name: "Bea" };
const CID = { id: 3, tenant_id: "b", name: "Cid" };

function post(
  id: bigint,
  { author_id, title, parent_id = null }: {
    readonly author_id: number;
    readonly title: string;
    readonly parent_id?: bigint | null;
  },
) {
  return { id, tenant_id: author_id === CID.id ? "b" : "a", author_id, parent_id, title };
}

const P1 = post(1n, { author_id: 1, title: "b" });
const P2 = post(2n, { author_id: 1, title: "a", parent_id: 1n });
const P3 = post(3n, { author_id: 2, title: "b", parent_id: 1n });
const P4 = post(4n, { author_id: 1, title: "a", parent_id: 2n });
const P5 = post(5n, { author_id: 3, title: "c", parent_id: 1n });

function testBlogOnEach(name: string, run: (db: Blog) => Promise<void>): void {
  testOnEach(name, async ({ url }) => {
    await using db = await Blog.open(DbOptions.fromUrl(url));
    await db.createTables();
    await db.user.createMany({ data: [ADA, BEA, CID] });
    await db.profile.create({ data: { user_id: 1, bio: "Countess" } });
    await db.post.createMany({ data: [P1, P2, P3, P4, P5] });
    await db.tag.createMany({ data: [{ name: "x" }, { name: "y" }, { name: "z" }] });
    const tags = [[1n, "y"], [1n, "x"], [2n, "x"], [5n, "x"]] as const;
    await db.postTag.createMany({ data: tags.map(([title, name]) => ({ title, name })) });
    await run(db);
  });
}

testBlogOnEach("include reads related rows in both directions", async (db) => {
  assert.deepEqual(await db.user.findMany({ include: { posts: true }, orderBy: { id: "asc" } }), [
    { ...ADA, posts: [P1, P2, P4] },
    { ...BEA, posts: [P3] },
    { ...CID, posts: [P5] },
  ]);
  assert.deepEqual(
    await db.post.findMany({
      where: { id: { lte: 3n } },
      orderBy: { id: "desc" },
      include: { author: true, parent: true },
    }),
    [
      { ...P3, author: BEA, parent: P1 },
      { ...P2, author: ADA, parent: P1 },
      { ...P1, author: ADA, parent: null },
    ],
  );
  const profiles = await db.user.findMany({ take: 2, include: { profile: true } });
  assert.deepEqual(profiles, [
    { ...ADA, profile: { user_id: 1, bio: "Countess" } },
    { ...BEA, profile: null },
  ]);
});

testBlogOnEach("include reads rows that a join model relates", async (db) => {
  const posts = await db.post.findMany({ include: { tags: true }, orderBy: { id: "asc" } });
  assert.deepEqual(posts.map(({ tags }) => tags.map(({ name }) => name).join("")), [
    "xy",
    "x",
    "",
    "",
    "x",
  ]);
  const x = await db.tag.findUnique({
    where: { name: "x" },
    include: { posts: { where: { title: { not: "c" } }, orderBy: { title: "asc" } } },
  });
  assert.deepEqual(x, { name: "x", posts: [P2, P1] });
});

testBlogOnEach("include filters, orders and bounds the rows of each", async (db) => {
  const of = async (posts: Parameters<typeof db.user.findMany>[0] & object) => {
    const rows = await db.user.findMany({
      orderBy: { id: "asc" },
      include: { posts: posts as Record<never, never> },
    });
    return rows.map(({ posts }) => posts.map(({ id }) => String(id)).join("")).join();
  };
  const table: readonly (readonly [object, string])[] = [
    [{}, "124,3,5"],
    [{ where: { title: "a" } }, "24,,"],
    [{ orderBy: { title: "asc" } }, "241,3,5"],
    [{ orderBy: { title: "desc" } }, "124,3,5"],
    [{ orderBy: [{ title: "asc" }, { id: "desc" }] }, "421,3,5"],
    [{ take: 2 }, "12,3,5"],
    [{ skip: 1 }, "24,,"],
    [{ skip: 1, take: 1, orderBy: { title: "asc" } }, "4,,"],
    [{ take: 0 }, ",,"],
    [{ where: { OR: [] } }, ",,"],
  ];
  for (const [options, expected] of table) {
    assert.equal(await of(options), expected, JSON.stringify(options));
  }
  const tags = await db.post.findMany({
    orderBy: { id: "asc" },
    take: 2,
    include: { tags: { orderBy: { name: "desc" }, take: 1 } },
  });
  assert.deepEqual(tags.map(({ tags }) => tags), [[{ name: "y" }], [{ name: "x" }]]);
});

testBlogOnEach("include reads nested relations, and selects", async (db) => {
  assert.deepEqual(
    await db.user.findFirst({
      where: { id: 1 },
      select: { name: true },
      include: {
        posts: {
          select: { title: true },
          where: { id: 1n },
          include: { replies: { select: { id: true }, include: { author: true } }, tags: true },
        },
      },
    }),
    {
      name: "Ada",
      posts: [{
        title: "b",
        replies: [
          { id: 2n, author: ADA },
          { id: 3n, author: BEA },
          { id: 5n, author: CID },
        ],
        tags: [{ name: "x" }, { name: "y" }],
      }],
    },
  );
});

testBlogOnEach("include returns separate objects for each row", async (db) => {
  const [a, b] = await db.post.findMany({ where: { author_id: 1 }, include: { author: true } });
  assert.notEqual(a?.author, b?.author);
});

testBlogOnEach("include keeps to the scope, where a related model has its columns", async (db) => {
  const posts = db.post.scoped({ tenant_id: "a" });
  await db.post.update({ where: { id: 3n }, data: { author_id: CID.id } });
  assert.deepEqual(
    (await posts.findMany({ orderBy: { id: "asc" }, include: { author: true, replies: true } }))
      .map(({ id, author, replies }) => [id, author?.name, replies.map(({ id }) => id)]),
    [[1n, "Ada", [2n, 3n]], [2n, "Ada", [4n]], [3n, undefined, []], [4n, "Ada", []]],
  );
  const widened = await posts.findMany({
    where: { id: 1n },
    include: { replies: { where: { OR: [{ tenant_id: "b" }, {}] } } },
  });
  assert.deepEqual(widened[0]?.replies.map(({ id }) => id), [2n, 3n]);
});

testBlogOnEach("include rejects unknown options before anything is read", async (db) => {
  const table: readonly (readonly [unknown, string])[] = [
    [{ nope: true }, 'there is no relation "nope"'],
    [{ __proto__: null, constructor: true }, 'there is no relation "constructor"'],
    [{ posts: 1 }, "include.posts is neither a boolean nor a plain object"],
    [{ nope: false }, 'there is no relation "nope"'],
    [{ posts: { limit: 1 } }, 'include.posts takes no "limit"'],
    [{ posts: { where: undefined } }, "where is undefined"],
    [{ posts: { where: { 'x" = 1 --': 1 } } }, 'there is no column "x\\" = 1 --"'],
    [{ posts: { orderBy: { nope: "asc" } } }, 'there is no column "nope"'],
    [{ posts: { select: { nope: true } } }, 'there is no column "nope"'],
    [{ posts: { select: { id: false } } }, "select.id is not true"],
    [{ posts: { include: { nope: true } } }, 'there is no relation "nope"'],
    [{ profile: { where: { bio: "x" } } }, 'include.profile takes no "where"'],
    ["posts", "include is not a plain object"],
  ];
  for (const [include, reason] of table) {
    await assert.rejects(db.user.findMany({ include: include as Record<never, never> }), {
      name: "TypeError",
      message: `Cannot read users: ${reason}`,
    });
  }
});

testOnEach("include takes one query for each relation, however many rows", async ({ url }) => {
  await using db = await Blog.open(DbOptions.fromUrl(url));
  await db.createTables();
  const users = Array.from(
    { length: 3000 },
    (_, n) => ({ id: n + 1, tenant_id: "a", name: `${n}` }),
  );
  await db.user.createMany({ data: users });
  await db.post.createMany({
    data: users.flatMap((
      { id },
    ) => ["x", "y"].map((title, i) => post(BigInt(2 * id + i), { author_id: id, title }))),
  });
  const found = await db.user.findMany({
    include: { posts: { take: 1, orderBy: { title: "desc" }, include: { author: true } } },
  });
  assert.equal(found.length, 3000);
  for (const { id, posts } of found) {
    assert.deepEqual(posts.map(({ title, author }) => [title, author.id]), [["y", id]]);
  }
});

test("belongsTo(), hasMany(), hasOne() and manyToMany() reject other columns than references", () => {
  const wrong: readonly (readonly [() => unknown, string])[] = [
    [() => belongsTo(User.name as never), "users.name: it is not a reference"],
    [() => hasMany(null as never), "null: it is not a column"],
    [() => belongsTo(undefined as never), "undefined: it is not a column"],
    [() => hasOne(User as never), "object: it is not a column"],
    [() => manyToMany(undefined as never, undefined as never), "undefined: it is not a column"],
    [() => hasMany(User.name as never), "users.name: it is not a reference"],
    [() => hasOne(Post.author_id), "posts.author_id: it is not unique"],
    [
      () => manyToMany(PostTag.title, Post.author_id),
      "post_tags.title: posts.author_id is of another model",
    ],
    [
      () => DbService.with({ user: User }, { nobody: {} } as never),
      "nobody: there is no such model",
    ],
    [
      () => DbService.with({ user: User, post: Post }, { user: { name: hasMany(Post.author_id) } }),
      "user.name: a column has this name",
    ],
    [
      () => DbService.with({ user: User, post: Post }, { post: { x: hasMany(Post.author_id) } }),
      "post.x: it begins at users",
    ],
    [
      () => DbService.with({ user: User }, { user: { posts: hasMany(Post.author_id) } }),
      "user.posts: posts has no model here",
    ],
  ];
  for (const [relate, reason] of wrong) {
    assert.throws(relate, { name: "TypeError", message: `Cannot relate ${reason}` });
  }
});

test("Field.references() rejects a key of another kind", () => {
  assert.throws(() => field.text().references(User), {
    name: "TypeError",
    message: "Cannot refer to users: its key is integer, the field text",
  });
  const id = field.integer().primaryKey();
  assert.throws(() => model("t", { id, parent: field.text().references("self") }), {
    name: "TypeError",
    message: "Cannot define t: parent cannot refer to t: its key is integer, the field text",
  });
  assert.throws(
    () => model("t", { id, u: field.integer().references(User, { onDelete: "set null" }) }),
    {
      name: "TypeError",
      message: "Cannot define t: u is to be set null, and is not nullable",
    },
  );
});

test("Field.references() rejects a decimal key of another scale", () => {
  const decimal = (scale: number) => field.decimal({ precision: 12, scale });
  const key = decimal(2).primaryKey();
  const Price = model("prices", { key });
  assert.throws(() => decimal(3).references(Price), {
    name: "TypeError",
    message: "Cannot refer to prices: its key is decimal of scale 2, the field decimal of scale 3",
  });
  assert.throws(() => model("t", { key, parent: decimal(3).references("self") }), {
    name: "TypeError",
    message: "Cannot define t: parent cannot refer to t: its key is decimal of scale 2, " +
      "the field decimal of scale 3",
  });
  const wide = field.decimal({ precision: 14, scale: 2 });
  model("t", { key, price: wide.references(Price), parent: wide.references("self") });
});

const Airline = model("airlines", { id: field.integer().primaryKey(), owner: field.text() });
const Airport = model("airports", { code: field.text().primaryKey() });
const Flight = model("flights", {
  id: field.integer().primaryKey(),
  owner: field.text(),
  airline_id: field.integer().references(Airline),
  origin: field.text().references(Airport),
  destination: field.text().references(Airport),
});
class Flights extends DbService.with({ airline: Airline, airport: Airport, flight: Flight }, {
  airline: {
    origins: manyToMany(Flight.airline_id, Flight.origin),
    destinations: manyToMany(Flight.airline_id, Flight.destination),
  },
}) {}

testOnEach(
  "include tells two relations through one join model apart, in a scope too",
  async ({ url }) => {
    await using db = await Flights.open(DbOptions.fromUrl(url));
    await db.createTables();
    await db.airport.createMany({ data: [{ code: "AMS" }, { code: "JFK" }, { code: "LHR" }] });
    await db.airline.create({ data: { id: 1, owner: "a" } });
    const flight = { owner: "a", airline_id: 1, origin: "AMS", destination: "JFK" };
    await db.flight.createMany({ data: [flight, { ...flight, owner: "b", destination: "LHR" }] });
    const include = { origins: true, destinations: true } as const;
    assert.deepEqual(await db.airline.scoped({ owner: "a" }).findMany({ include }), [
      { id: 1, owner: "a", origins: [{ code: "AMS" }], destinations: [{ code: "JFK" }] },
    ]);
    const [all] = await db.airline.findMany({ include: { destinations: true, origins: false } });
    assert.deepEqual(all, { id: 1, owner: "a", destinations: [{ code: "JFK" }, { code: "LHR" }] });
  },
);

test("include rejects a scope that a related model has in another kind", async () => {
  const Tenant = model("tenants", { id: field.integer().primaryKey(), owner: field.integer() });
  const Item = model("items", {
    id: field.integer().primaryKey(),
    owner: field.text(),
    tenant_id: field.integer().references(Tenant),
  });
  class Items extends DbService.with({ tenant: Tenant, item: Item }, {
    tenant: { items: hasMany(Item.tenant_id) },
  }) {}
  await using db = await Items.open(DbOptions.fromUrl("sqlite::memory:"));
  await assert.rejects(db.tenant.scoped({ owner: 1 }).findMany({ include: { items: true } }), {
    name: "TypeError",
    message: "Cannot read tenants: owner is in the scope, and of items no integer",
  });
});

test("DbService.with() rejects two models of one table", () => {
  assert.throws(() => DbService.with({ a: Airport, b: Airport }), {
    name: "TypeError",
    message: "Cannot add model: the service has airports already",
  });
});
