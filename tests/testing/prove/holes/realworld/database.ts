/** The tables of the RealWorld API. */
import {
  belongsTo,
  DbService,
  field,
  hasMany,
  model,
  type Row,
} from "../../../../../src/db/mod.ts";

export const User = model("users", {
  username: field.text({ max: 40 }).primaryKey(),
  email: field.text().unique(),
  password: field.text().nullable(),
  bio: field.text().default(""),
  image: field.text().nullable(),
});
export type User = Row<typeof User>;

export const Follow = model("follows", {
  id: field.integer().primaryKey(),
  follower: field.text().references(User),
  followed: field.text().references(User),
}, { unique: [["follower", "followed"]] });

export const Article = model("articles", {
  id: field.integer().primaryKey(),
  slug: field.text().unique(),
  title: field.text(),
  description: field.text(),
  body: field.text(),
  author: field.text().references(User),
  created_at: field.timestamp().default(() => new Date()),
});
export type Article = Row<typeof Article>;

export const Tag = model("tags", {
  id: field.integer().primaryKey(),
  article_id: field.integer().references(Article, { onDelete: "cascade" }),
  name: field.text(),
});

export const Favorite = model("favorites", {
  id: field.integer().primaryKey(),
  article_id: field.integer().references(Article, { onDelete: "cascade" }),
  username: field.text().references(User),
}, { unique: [["article_id", "username"]] });

export const Comment = model("comments", {
  id: field.integer().primaryKey(),
  article_id: field.integer().references(Article, { onDelete: "cascade" }),
  author: field.text().references(User),
  body: field.text(),
  created_at: field.timestamp().default(() => new Date()),
});

/** The database. */
export class Db extends DbService.with(
  { user: User, follow: Follow, article: Article, tag: Tag, favorite: Favorite, comment: Comment },
  {
    article: {
      tags: hasMany(Tag.article_id),
      favorites: hasMany(Favorite.article_id),
      writer: belongsTo(Article.author),
    },
    comment: { writer: belongsTo(Comment.author) },
  },
) {}
