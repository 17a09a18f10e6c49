import { sql } from "kysely";
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
import { dbError, testOnEach } from "../support/database.ts";

const User = model("users", {
  id: field.integer().primaryKey(),
  email: field.text().unique().map("email_address"),
  tenant: field.text().default("t"),
  boss: field.text().nullable().references("self", { column: "email" }),
});
const Tag = model("tags", { id: field.integer().primaryKey(), name: field.text().unique() });
const Post = model("posts", {
  id: field.integer().primaryKey(),
  author: field.text().references(User, { column: "email", onDelete: "cascade" }),
  reviewer: field.text().nullable().unique().references(User, { column: "email" }),
  tenant: field.text().default("t"),
});
const PostTag = model("post_tags", {
  post_id: field.integer().references(Post, { onDelete: "cascade" }),
  tag: field.text().references(Tag, { column: "name" }),
}, { primaryKey: ["post_id", "tag"] });
class Db extends DbService.with({ user: User, tag: Tag, post: Post, postTag: PostTag }, {
  user: {
    posts: hasMany(Post.author),
    reviews: hasOne(Post.reviewer),
    staff: hasMany(User.boss),
    head: belongsTo(User.boss),
  },
  post: {
    writer: belongsTo(Post.author),
    reader: belongsTo(Post.reviewer),
    tags: manyToMany(PostTag.post_id, PostTag.tag),
  },
  tag: { posts: manyToMany(PostTag.tag, PostTag.post_id) },
}) {}

async function open(url: string): Promise<Db> {
  const db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  return db;
}

testOnEach("a reference holds the value of a unique column", async ({ url }) => {
  await using db = await open(url);
  await db.checkTables();
  await db.user.createMany({ data: [{ email: "ada" }, { email: "bob", boss: "ada" }] });
  await db.post.createMany({
    data: [{ author: "ada", reviewer: "bob" }, { author: "ada" }, { author: "bob" }],
  });
  const [ada, bob] = await db.user.findMany({
    orderBy: { id: "asc" },
    include: {
      posts: { select: { id: true }, take: 1, skip: 0 },
      reviews: { select: { author: true } },
      staff: { select: { email: true } },
      head: { select: { id: true } },
      _count: { posts: true },
    },
  });
  const row = { tenant: "t", boss: null };
  assert.deepEqual(ada, {
    ...row,
    id: 1,
    email: "ada",
    posts: [{ id: 1 }],
    reviews: null,
    staff: [{ email: "bob" }],
    head: null,
    _count: { posts: 2 },
  });
  assert.deepEqual([bob?.reviews, bob?.head, bob?.staff], [{ author: "ada" }, { id: 1 }, []]);
  assert.deepEqual(
    await db.post.findMany({
      where: { writer: { head: { posts: { some: { reviewer: "bob" } } } } },
      select: { id: true },
      include: { writer: { select: { id: true } }, reader: true },
      orderBy: { writer: { id: "desc" } },
    }),
    [{ id: 3, writer: { id: 2 }, reader: null }],
  );
  await assert.rejects(
    db.post.create({ data: { author: "nobody" } }),
    { code: "ForeignKeyViolation" },
  );
  await assert.rejects(
    db.user.update({ where: { email: "ada" }, data: { email: "eve" } }),
    { code: "ForeignKeyViolation" },
  );
  await db.user.update({ where: { email: "bob" }, data: { boss: null } });
  await db.user.delete({ where: { email: "ada" } });
  assert.equal(await db.post.count(), 1);
});

testOnEach("nested writes set the value of a unique column", async ({ url }) => {
  await using db = await open(url);
  const post = await db.post.create({
    data: {
      writer: { create: { email: "ada", head: { create: { email: "eve" } } } },
      reader: { connectOrCreate: { where: { email: "bob" }, create: { email: "bob" } } },
      tags: { create: [{ name: "x" }, { name: "y" }] },
    },
  });
  assert.deepEqual([post.author, post.reviewer], ["ada", "bob"]);
  assert.equal((await db.user.findUnique({ where: { email: "ada" } }))?.boss, "eve");
  const tags = () =>
    db.post.findFirst({ include: { tags: { orderBy: { name: "asc" }, take: 5 } } })
      .then((post) => post?.tags.map(({ name }) => name));
  assert.deepEqual(await tags(), ["x", "y"]);
  await db.post.update({
    where: { id: post.id },
    data: { tags: { set: [{ id: 2 }], create: { name: "z" } }, writer: { connect: { id: 1 } } },
  });
  assert.deepEqual(await tags(), ["y", "z"]);
  // The rows that it creates refer to its new value.
  await db.post.update({ where: { id: post.id }, data: { reader: { disconnect: true } } });
  const bob = await db.user.update({
    where: { email: "bob" },
    data: { email: "new", posts: { create: [{}, {}], connect: { id: post.id } } },
  });
  assert.deepEqual(
    await db.post.findMany({ where: { author: bob.email }, select: { id: true } }),
    [{ id: 1 }, { id: 2 }, { id: 3 }],
  );
  await assert.rejects(
    db.user.scoped({ tenant: "other" }).create({
      data: { email: "o", posts: { connect: { id: post.id } } },
    }),
    { code: "RowNotFound" },
  );
});

testOnEach("checkTables() compares the column of a reference", async ({ brand, url }) => {
  await using db = await open(url);
  const Other = model("posts", {
    id: field.integer().primaryKey(),
    author: field.text().references(Tag, { column: "name" }),
    reviewer: field.text().nullable().unique().references(User, { column: "email" }),
    tenant: field.text(),
  });
  class Others extends DbService.with({ other: Other, tag: Tag, user: User }) {}
  await using others = await Others.open(DbOptions.fromUrl(url));
  await assert.rejects(
    others.checkTables(),
    dbError(
      "Database",
      [
        "Cannot use tables: they differ from the models in 1 place",
        "posts.author: the foreign key refers to users.email_address, the model to tags.name",
      ].join("\n  "),
    ),
  );
  if (brand !== "sqlite") return;
  // Without a column, it refers to the primary key.
  await sql`drop table post_tags`.execute(db.kysely);
  await sql`drop table posts`.execute(db.kysely);
  await sql`create table posts (id integer primary key autoincrement, author text not null
    references users, reviewer text unique references users (email_address), tenant text not null)
    strict`.execute(db.kysely);
  await assert.rejects(others.checkTables(), {
    message: /\n {2}posts.author: the foreign key refers to users\., the model to tags\.name$/,
  });
});

test("references() rejects columns that name no row", () => {
  const Page = model("pages", {
    a: field.text(),
    b: field.text(),
    c: field.text().unique().nullable(),
    d: field.integer().unique(),
    e: field.text().unique(),
  }, { primaryKey: ["a", "b"] });
  assert.equal(field.text().references(Page, { column: "e" }).traits.reference?.column, "e");
  const wrong: readonly (readonly [string | undefined, string])[] = [
    [undefined, "its key has 2 columns"],
    ["a", "its a is not unique"],
    ["c", "its c is nullable"],
    ["d", "its d is integer, the field text"],
    ["f", 'it has no column "f"'],
    ["toString", 'it has no column "toString"'],
  ];
  for (const [column, reason] of wrong) {
    assert.throws(() => field.text().references(Page, { column: column as "e" }), {
      name: "TypeError",
      message: `Cannot refer to pages: ${reason}`,
    });
  }
  const id = field.integer().primaryKey();
  for (const [column, reason] of [["b", "its b is not unique"], ["x", 'it has no column "x"']]) {
    const b = field.integer().references("self", { column: column! });
    assert.throws(() => model("t", { id, b }), {
      name: "TypeError",
      message: `Cannot define t: b cannot refer to t: ${reason}`,
    });
  }
});
