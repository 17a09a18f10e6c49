/** Articles with tags, authors and favorites, as those of the RealWorld API. */
import { belongsTo, DbService, field, hasMany, manyToMany, model } from "../../../src/db/mod.ts";

const User = model("users", { id: field.integer().primaryKey(), name: field.text().unique() });
const Article = model("articles", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references(User),
  title: field.text().default(""),
});
// Planners know how often a key occurs, but not the key of a name.
const Tag = model("tags", { id: field.integer().primaryKey(), name: field.text().unique() });
const ArticleTag = model("article_tags", {
  id: field.integer().primaryKey(),
  article_id: field.integer().references(Article),
  tag_id: field.integer().references(Tag),
});
const Favorite = model("favorites", {
  id: field.integer().primaryKey(),
  article_id: field.integer().references(Article),
  user_id: field.integer().references(User),
});

/** Their database. */
export class Articles extends DbService.with(
  { user: User, article: Article, tag: Tag, articleTag: ArticleTag, favorite: Favorite },
  {
    article: {
      author: belongsTo(Article.author_id),
      tags: manyToMany(ArticleTag.article_id, ArticleTag.tag_id),
      fans: manyToMany(Favorite.article_id, Favorite.user_id),
      favorites: hasMany(Favorite.article_id),
    },
  },
) {}
