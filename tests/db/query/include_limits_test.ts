/** A client may have written an `include`: it must not decide how much work a request is. */
import assert from "node:assert/strict";
import { belongsTo, DbOptions, DbService, field, hasMany, model } from "../../../src/db/mod.ts";
import { testOnEach } from "../support/database.ts";

const User = model("users", { id: field.integer().primaryKey() });
const Post = model("posts", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references(User),
});
const RELATIONS = Array.from({ length: 101 }, (_, index) => `posts${index}`);

class Blog extends DbService.with({ user: User, post: Post }, {
  user: Object.fromEntries(RELATIONS.map((name) => [name, hasMany(Post.author_id)])),
  post: { author: belongsTo(Post.author_id) },
}) {}

type Included = { [name: string]: true | { include: Included } };

/** An include of so many levels, from a user to its posts to their author. */
function nested(depth: number, name = "posts0"): Included {
  const other = name === "author" ? "posts0" : "author";
  return { [name]: depth === 1 ? true : { include: nested(depth - 1, other) } };
}

function wide(relations: number): Included {
  return Object.fromEntries(RELATIONS.slice(0, relations).map((name) => [name, true]));
}

testOnEach("include is at most 8 levels deep, and has at most 100 relations", async ({ url }) => {
  await using db = await Blog.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.user.create({ data: {} });
  await db.post.createMany({ data: [{ author_id: 1 }, { author_id: 1 }] });
  // The names of its relations are known at run time only.
  const find = (include: Included) => db.user.findMany({ include: include as never });
  const [user] = await find(nested(8));
  assert.equal(JSON.stringify(user).split('"author"').length - 1, 2 + 4 + 8 + 16);
  assert.equal(Object.keys((await find(wide(100)))[0]!).length, 101);
  const pairs = Object.fromEntries(
    RELATIONS.slice(0, 50).map((name) => [name, { include: { author: true } } as const]),
  );
  assert.equal((await find(pairs)).length, 1);
  const tooMuch: readonly (readonly [Included, string])[] = [
    [nested(9), "include is nested over 8 levels deep"],
    [nested(300), "include is nested over 8 levels deep"],
    [wide(101), "include has over 100 relations"],
    [{ ...pairs, posts99: true }, "include has over 100 relations"],
  ];
  for (const [include, reason] of tooMuch) {
    const message = `Cannot read users: ${reason}`;
    await assert.rejects(async () => await find(include), { name: "TypeError", message });
    await assert.rejects(
      async () => await db.user.findUnique({ where: { id: 1 }, include: include as never }),
      { name: "TypeError", message },
    );
  }
  // Relations that are not read are not counted.
  const unread = Object.fromEntries(RELATIONS.map((name) => [name, false]));
  assert.equal((await db.user.findMany({ include: unread as never })).length, 1);
});
