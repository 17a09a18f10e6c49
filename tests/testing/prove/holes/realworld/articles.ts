/** The articles of the RealWorld API, and their tags. */
import * as v from "valibot";
import {
  controller,
  dto,
  ForbiddenException,
  inject,
  NotFoundException,
  route,
} from "../../../../../mod.ts";
import { Principal } from "../../../../../src/authn/mod.ts";
import { AccountsService, ProfileRow, viewerOf } from "./accounts.ts";
import { type Article, Db } from "./database.ts";

const Title = v.pipe(v.string(), v.minCodePoints(1), v.maxCodePoints(80));
const Text = v.pipe(v.string(), v.maxCodePoints(1000));
const TagName = v.pipe(v.string(), v.regex(/^[a-z]{1,20}$/));
const Whole = v.pipe(
  v.string(),
  v.digits(),
  v.toNumber(),
  v.integer(),
  v.minValue(0),
  v.maxValue(1000),
);

export const ArticleKey = dto(
  "ArticleKey",
  v.object({ slug: v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,80}$/)) }),
);
const ArticlesQuery = dto(
  "ArticlesQuery",
  v.object({
    tag: v.optional(TagName),
    author: v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9]{1,40}$/))),
    limit: v.optional(Whole, "20"),
    offset: v.optional(Whole, "0"),
  }),
);
const NewArticle = dto(
  "NewArticle",
  v.object({
    article: v.object({
      title: Title,
      description: Text,
      body: Text,
      tagList: v.optional(v.pipe(v.array(TagName), v.maxLength(5)), []),
    }),
  }),
);
const ArticleChange = dto(
  "ArticleChange",
  v.object({ article: v.object({ description: v.optional(Text), body: v.optional(Text) }) }),
);
const ArticleRow = v.object({
  slug: v.string(),
  title: v.string(),
  description: v.string(),
  body: v.string(),
  tagList: v.array(v.string()),
  createdAt: v.date(),
  favorited: v.boolean(),
  favoritesCount: v.pipe(v.number(), v.integer(), v.minValue(0)),
  author: ProfileRow,
});
const ArticleBody = dto("Article", v.object({ article: ArticleRow }));
const Articles = dto(
  "Articles",
  v.object({
    articles: v.array(ArticleRow),
    articlesCount: v.pipe(v.number(), v.integer(), v.minValue(0)),
  }),
);

type Where = NonNullable<NonNullable<Parameters<Db["article"]["count"]>[0]>["where"]>;

/** The result of a request for the article of another user. */
const FORBIDDEN = { 403: "Another user has written it, or the token lacks the scope" };

export class ArticlesService {
  readonly #db = inject(Db);
  readonly #accounts = inject(AccountsService);

  async page(
    { tag, author, limit, offset }: v.InferOutput<typeof ArticlesQuery>,
    viewer?: string,
  ) {
    const where = {
      ...author !== undefined && { author },
      ...tag !== undefined && { tags: { some: { name: tag } } },
    };
    return await this.#list({ where, limit, offset }, viewer);
  }

  async feed(viewer: string) {
    const follows = await this.#db.follow.findMany({ where: { follower: viewer } });
    const where = { author: { in: follows.map(({ followed }) => followed) } };
    return await this.#list({ where, limit: 20, offset: 0 }, viewer);
  }

  async one(slug: string): Promise<Article> {
    return await this.#db.article.findUnique({ where: { slug } }) ??
      NotFoundException.throw("No such article");
  }

  async create(
    author: string,
    { tagList, ...data }: v.InferOutput<typeof NewArticle>["article"],
  ) {
    await this.#accounts.current(author);
    const slug = slugOf(data.title);
    return await this.#db.transaction(async () => {
      const article = await this.#db.article.create({ data: { ...data, slug, author } });
      const tags = [...new Set(tagList)].map((name) => ({ name, article_id: article.id }));
      await this.#db.tag.createMany({ data: tags });
      return article;
    });
  }

  async change(
    { slug, author }: { readonly slug: string; readonly author: string },
    data: v.InferOutput<typeof ArticleChange>["article"],
  ) {
    const { id } = await this.#own(slug, author);
    return await this.#db.article.update({ where: { id }, data });
  }

  async delete(slug: string, author: string): Promise<void> {
    const { id } = await this.#own(slug, author);
    await this.#db.article.delete({ where: { id } });
  }

  async favorite(slug: string, username: string) {
    const article = await this.one(slug);
    await this.#accounts.current(username);
    const data = { article_id: article.id, username };
    if (!await this.#db.favorite.exists({ where: data })) await this.#db.favorite.create({ data });
    return article;
  }

  async unfavorite(slug: string, username: string) {
    const article = await this.one(slug);
    await this.#db.favorite.deleteMany({ where: { article_id: article.id, username } });
    return article;
  }

  /** Returns an article as a viewer sees it. */
  async view({ id, slug, title, description, body, author, created_at }: Article, viewer?: string) {
    const tags = await this.#db.tag.findMany({ where: { article_id: id }, orderBy: { id: "asc" } });
    const favorites = await this.#db.favorite.findMany({ where: { article_id: id } });
    return {
      slug,
      title,
      description,
      body,
      tagList: tags.map(({ name }) => name),
      createdAt: created_at,
      favorited: favorites.some(({ username }) => username === viewer),
      favoritesCount: favorites.length,
      author: await this.#accounts.profile(author, viewer),
    };
  }

  async tags(): Promise<readonly string[]> {
    const tags = await this.#db.tag.findMany({ orderBy: { name: "asc" } });
    return [...new Set(tags.map(({ name }) => name))];
  }

  async #list(
    { where, limit, offset }: {
      readonly where: Where;
      readonly limit: number;
      readonly offset: number;
    },
    viewer?: string,
  ) {
    const orderBy = { id: "desc" } as const;
    const rows = await this.#db.article.findMany({ where, orderBy, skip: offset, take: limit });
    const articles = await Promise.all(rows.map((row) => this.view(row, viewer)));
    return { articles, articlesCount: await this.#db.article.count({ where }) };
  }

  async #own(slug: string, author: string): Promise<Article> {
    const article = await this.one(slug);
    if (article.author !== author) throw new ForbiddenException("Another user has written it");
    return article;
  }
}

function slugOf(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

export class ArticlesController extends controller("articles") {
  readonly #articles = inject(ArticlesService);

  list = route.get(
    "/",
    { query: ArticlesQuery, args: { viewer: viewerOf }, response: Articles },
    ({ query, viewer }) => this.#articles.page(query, viewer),
  );

  feed = route.get(
    "/feed",
    { args: { me: Principal }, response: Articles },
    ({ me }) => this.#articles.feed(me.subject),
  );

  one = route.get(
    "/:slug",
    { params: ArticleKey, args: { viewer: viewerOf }, response: ArticleBody },
    async ({ params: { slug }, viewer }) => ({
      article: await this.#articles.view(await this.#articles.one(slug), viewer),
    }),
  );

  create = route.post(
    "/",
    {
      args: { me: Principal },
      scopes: ["articles:write"],
      body: NewArticle,
      response: ArticleBody,
      status: 201,
      openapi: {
        responses: {
          201: { description: "The article", headers: { Location: "Its path" } },
          409: "An article has such a title",
        },
      },
    },
    async ({ me, body }, c) => {
      const article = await this.#articles.create(me.subject, body.article);
      c.header("Location", `/api/articles/${article.slug}`);
      return { article: await this.#articles.view(article, me.subject) };
    },
  );

  change = route.put(
    "/:slug",
    {
      params: ArticleKey,
      args: { me: Principal },
      scopes: ["articles:write"],
      body: ArticleChange,
      response: ArticleBody,
      openapi: { responses: FORBIDDEN },
    },
    async ({ params: { slug }, me, body }) => {
      const article = await this.#articles.change({ slug, author: me.subject }, body.article);
      return { article: await this.#articles.view(article, me.subject) };
    },
  );

  delete = route.delete(
    "/:slug",
    {
      params: ArticleKey,
      args: { me: Principal },
      scopes: ["articles:write"],
      status: 204,
      openapi: { responses: FORBIDDEN },
    },
    ({ params: { slug }, me }) => this.#articles.delete(slug, me.subject),
  );

  favorite = route.post(
    "/:slug/favorite",
    { params: ArticleKey, args: { me: Principal }, response: ArticleBody },
    async ({ params: { slug }, me: { subject } }) => ({
      article: await this.#articles.view(await this.#articles.favorite(slug, subject), subject),
    }),
  );

  unfavorite = route.delete(
    "/:slug/favorite",
    { params: ArticleKey, args: { me: Principal }, response: ArticleBody },
    async ({ params: { slug }, me: { subject } }) => ({
      article: await this.#articles.view(await this.#articles.unfavorite(slug, subject), subject),
    }),
  );
}

export class TagsController extends controller("tags") {
  readonly #articles = inject(ArticlesService);

  list = route.get(
    "/",
    { response: v.object({ tags: v.array(v.string()) }) },
    async () => ({ tags: [...await this.#articles.tags()] }),
  );
}
