/** The models of a blog, which refer to each other. */
import { belongsTo, DbService, field, hasMany, manyToMany, model } from "../../../src/db/mod.ts";

const Author = model("authors", {
  id: field.integer().primaryKey(),
  email: field.text().unique(),
  name: field.text().nullable(),
  active: field.boolean().default(true),
});
const Tag = model("tags", { id: field.uuid().primaryKey(), label: field.text() });
const Post = model("posts", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references(Author),
  title: field.text(),
});
const PostTag = model("post_tags", {
  id: field.integer().primaryKey(),
  post_id: field.integer().references(Post, { onDelete: "cascade" }),
  tag_id: field.uuid().references(Tag),
});

const MODELS = { postTag: PostTag, post: Post, author: Author, tag: Tag };
const RELATIONS = {
  author: { posts: hasMany(Post.author_id) },
  post: {
    author: belongsTo(Post.author_id),
    tags: manyToMany(PostTag.post_id, PostTag.tag_id),
  },
};

export class Blog extends DbService.with(MODELS, RELATIONS) {}

/** A blog whose authors have hooks. */
export class HookedBlog extends DbService.with(MODELS, RELATIONS, {
  on: { author: { created() {}, updated() {}, deleted() {} } },
}) {}
