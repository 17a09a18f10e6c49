/** Nested writes of rows that are gone before they are connected. */
import assert from "node:assert/strict";
import { belongsTo, DbOptions, DbService, field, hasMany, model } from "../../../src/db/mod.ts";
import { dbError, testOnEach } from "../support/database.ts";

const User = model("users", {
  id: field.integer().primaryKey(),
  email: field.text().unique(),
});
const Post = model("posts", {
  id: field.integer().primaryKey(),
  title: field.text().unique(),
  author_id: field.integer().nullable().references(User),
});
const X = { title: "x" };

class Blog extends DbService.with({ user: User, post: Post }, {
  user: { posts: hasMany(Post.author_id) },
  post: { author: belongsTo(Post.author_id) },
}, {
  on: {
    post: {
      updated: async (rows, db) => {
        assert.ok(db instanceof Blog);
        // "y" is disconnected before "x" is connected.
        if (rows.some(({ after }) => after.title === "y")) await db.post.deleteMany({ where: X });
      },
    },
  },
}) {}

testOnEach("a row that a hook deletes before it is connected is not found", async ({ url }) => {
  await using db = await Blog.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.post.create({ data: X });
  const where = { email: "ada" };
  await db.user.create({ data: { ...where, posts: { create: { title: "y" } } } });
  await assert.rejects(
    db.user.update({ where, data: { posts: { set: [X] } } }),
    dbError("RowNotFound", "Cannot update users: there is no row that posts.set names"),
  );
  assert.equal(await db.post.count({ where: { author: where } }), 1);
});
