/** Holes in the port of the RealWorld API. */
import type { Hole } from "./hole.ts";

const accounts = "accounts.ts";
const app = "app.ts";
const articles = "articles.ts";
const comments = "comments.ts";

/** Those that let in others than declared. */
const PROTECTION: readonly Hole[] = [
  {
    name: "articles are written without the scope",
    file: articles,
    text: 'scopes: ["articles:write"],\n      body: NewArticle,',
    replacement: "body: NewArticle,",
    part: "roles",
    failure: /^POST \/api\/articles: mod: allowed, and prove\.json has 403/,
    isTelling: true,
  },
  {
    name: "articles are changed with another scope",
    file: articles,
    text: 'scopes: ["articles:write"],\n      body: ArticleChange,',
    replacement: 'scopes: ["articles:read"],\n      body: ArticleChange,',
    part: "roles",
    failure: /^PUT \/api\/articles\/:slug: ann: 403, and prove\.json has allowed/,
  },
  {
    name: "articles are deleted without the scope",
    file: articles,
    text: 'scopes: ["articles:write"],\n      status: 204,',
    replacement: "status: 204,",
    part: "roles",
    failure: /^DELETE \/api\/articles\/:slug: mod: allowed, and prove\.json has 403/,
  },
  {
    name: "authors moderate in place of moderators",
    file: comments,
    text: 'roles: ["moderator"]',
    replacement: 'roles: ["author"]',
    part: "roles",
    failure: /^DELETE \/api\/moderation\/comments\/:id: mod: 403, and prove\.json has allowed/,
  },
  {
    name: "everybody moderates",
    file: comments,
    text: 'controller("moderation", { roles: ["moderator"] })',
    replacement: 'controller("moderation")',
    part: "roles",
    failure:
      /^DELETE \/api\/moderation\/comments\/:id: anonymous: allowed, and prove\.json has 401/,
  },
  {
    name: "a route of moderators is public",
    file: comments,
    text: "params: v.object({ id: Id }), status: 204",
    replacement: "params: v.object({ id: Id }), status: 204, public: true",
    part: "roles",
    failure: /^DELETE \/api\/moderation\/comments\/:id: ann: allowed, and prove\.json has 403/,
  },
  {
    name: "a scope is taken for the role of moderators",
    file: comments,
    text: 'controller("moderation", { roles: ["moderator"] })',
    replacement: 'controller("moderation", { scopes: ["articles:write"] })',
    part: "roles",
    failure: /^DELETE \/api\/moderation\/comments\/:id: bob: allowed, and prove\.json has 403/,
  },
  {
    name: "the feed needs no token",
    file: articles,
    text: '"/feed",\n    { args: { me: Principal },',
    replacement: '"/feed",\n    { args: { me: () => ({ subject: "ann" }) },',
    part: "roles",
    failure: /^GET \/api\/articles\/feed: anonymous: allowed, and prove\.json has 401/,
  },
  {
    name: "comments are written without a token",
    file: comments,
    text: "args: { me: Principal },\n      body: NewComment,",
    replacement: 'args: { me: () => ({ subject: "guest" }) },\n      body: NewComment,',
    part: "roles",
    failure: /^POST \/api\/articles\/:slug\/comments: expired: allowed, and prove\.json has 401/,
  },
  {
    name: "an account is changed without a token",
    file: accounts,
    text: "args: { me: Principal },\n      body: UserChange,",
    replacement: 'args: { me: () => ({ subject: "ann" }) },\n      body: UserChange,',
    part: "roles",
    failure: /^PUT \/api\/user: anonymous: allowed, and prove\.json has 401/,
  },
  {
    name: "profiles need a token",
    file: accounts,
    text: "args: { viewer: viewerOf }, response: Profile },",
    replacement: "args: { viewer: viewerOf, me: Principal }, response: Profile },",
    part: "roles",
    failure: /^GET \/api\/profiles\/:username: anonymous: 401, and prove\.json has allowed/,
  },
  {
    name: "tokens without roles have that of moderators",
    file: app,
    text: ".useAuthn(app.get(JwtService));",
    replacement: '.useOAuth2(app.get(JwtService)).useRoles(({ roles }) => roles ?? ["moderator"]);',
    part: "roles",
    failure:
      /^DELETE \/api\/moderation\/comments\/:id: it needs one of the roles moderator, and ann gets/,
  },
  {
    name: "roles are read from a claim that no token has",
    file: app,
    text: ".useAuthn(app.get(JwtService));",
    replacement: ".useOAuth2(app.get(JwtService)).useRoles(({ groups }) => groups ?? []);",
    part: "roles",
    failure:
      /^DELETE \/api\/moderation\/comments\/:id: it needs one of the roles moderator, and refuses mod/,
  },
  {
    name: "expired tokens are accepted",
    file: app,
    text: ".useAuthn(app.get(JwtService));",
    replacement: `.useAuthn({
      verify: (token) => Promise.resolve({ claims: JSON.parse(atob(token.split(".")[1]!)) }),
    });`,
    part: "roles",
    failure: /^GET \/api\/user: it needs a token, and expired gets 200 instead of 401$/,
  },
  {
    name: "one spelling of a path is guarded",
    file: app,
    text: ".useAuthn(app.get(JwtService));",
    replacement: `.useAuthn(app.get(JwtService)).use(async (c, next) => {
      const isGuarded = new URL(c.req.url).pathname === "/api/tags" && !c.req.header("authorization");
      return isGuarded ? c.json({}, 401) : await next();
    });`,
    part: "roles",
    failure:
      /^GET \/api\/tags: the path with a slash at its end answers 200 to anonymous, and GET 401$/,
  },
  {
    name: "HEAD is not guarded",
    file: app,
    text: ".useAuthn(app.get(JwtService));",
    replacement: `.useAuthn(app.get(JwtService))
    .useGlobalGuards((c) => c.req.method === "HEAD" || c.req.header("x-key") !== undefined);`,
    part: "roles",
    failure: /^GET \/api\/tags: HEAD answers 200 to anonymous, and GET 403$/,
  },
  {
    name: "OPTIONS answers what GET does",
    file: app,
    text: ".useAuthn(app.get(JwtService));",
    replacement: `.useAuthn(app.get(JwtService)).use(async (c, next) =>
      c.req.method === "OPTIONS" ? c.json({ tags: [] }) : await next()
    );`,
    part: "roles",
    failure: /^GET \/api\/tags: OPTIONS answers 200 with a body to anonymous$/,
  },
];

/** Those whose answers are not as documented. */
const ANSWERS: readonly Hole[] = [
  {
    name: "an account is sent with its password",
    file: accounts,
    text: "async ({ me }) => ({ user: await this.#accounts.current(me.subject) }),",
    replacement: "async ({ me }, c) => c.json({ user: await this.#accounts.current(me.subject) }),",
    part: "document",
    failure: /^GET \/api\/user: the body of 200 has user\.password, which is not documented$/,
    isTelling: true,
  },
  {
    name: "any password is right",
    file: accounts,
    text: "if (!user || user.password !== digest(password)) {",
    replacement: "if (!user) {",
    part: "document",
    failure:
      /^POST \/api\/users\/login 200: is reached, or not documented, and prove\.json lists it/,
  },
  {
    name: "an unknown address is not found",
    file: accounts,
    text: 'throw new UnauthorizedException("The address or the password is wrong");',
    replacement: 'throw new NotFoundException("No such user");',
    part: "document",
    failure: /^POST \/api\/users\/login: status 404 is not documented$/,
  },
  {
    name: "valid passwords are refused",
    file: accounts,
    text: "async ({ body: { user } }) => ({ user: await this.#accounts.register(user) }),",
    replacement: `async ({ body: { user } }) => {
      if (!/\\d/.test(user.password)) throw new UnauthorizedException("It needs a digit");
      return { user: await this.#accounts.register(user) };
    },`,
    part: "document",
    failure: /^POST \/api\/users: status 401 is not documented$/,
  },
  {
    name: "a name that is taken is a failure",
    file: accounts,
    text: "await this.#db.user.create({ data: { ...data, password: digest(password) } }),",
    replacement: `await this.#db.user.create({ data: { ...data, password: digest(password) } })
        .catch(() => Promise.reject(new TypeError("It is taken"))),`,
    part: "document",
    failure: /^POST \/api\/users: the server has failed with 500$/,
  },
  {
    name: "an account that is taken is answered",
    file: accounts,
    text: "await this.#db.user.create({ data: { ...data, password: digest(password) } }),",
    replacement: `await this.#db.user.findFirst({ where: { email: data.email } }) ??
        await this.#db.user.findFirst({ where: { username: data.username } }) ??
        await this.#db.user.create({ data: { ...data, password: digest(password) } }),`,
    part: "document",
    failure: /^POST \/api\/users 409: is not reached/,
  },
  {
    name: "a secret is in a header",
    file: accounts,
    text: "async ({ params: { username }, viewer }) => ({",
    replacement:
      'async ({ params: { username }, viewer }, c) => (c.header("x-debug", "conduit-s3cret"), {',
    part: "document",
    failure: /^GET \/api\/profiles\/\{username\}: the answer 200 contains a secret$/,
  },
  {
    name: "anybody removes a comment",
    file: comments,
    text:
      'if (comment.author !== author) throw new ForbiddenException("Another user has written it");',
    replacement: "",
    part: "document",
    failure: /^DELETE \/api\/articles\/\{slug\}\/comments\/\{id\} 403: is not reached/,
  },
  {
    name: "removing nothing succeeds",
    file: comments,
    text: "await this.#db.comment.delete({ where: { id } });\n  }\n\n  async view",
    replacement: "await this.#db.comment.deleteMany({ where: { id } });\n  }\n\n  async view",
    part: "document",
    failure: /^DELETE \/api\/moderation\/comments\/\{id\} 404: is not reached/,
  },
  {
    name: "a removal is answered with a body",
    file: comments,
    text: "({ params: { id } }) => this.#comments.purge(id),",
    replacement:
      "async ({ params: { id } }, c) => (await this.#comments.purge(id), c.json({ ok: true })),",
    part: "document",
    failure: /^DELETE \/api\/moderation\/comments\/\{id\}: status 200 is not documented$/,
  },
  {
    name: "comments are sent as they are stored",
    file: comments,
    text:
      "async ({ params: { slug }, viewer }) => ({ comments: await this.#comments.of(slug, viewer) }),",
    replacement: `async ({ params: { slug }, viewer }, c) => {
      const rows = await this.#comments.of(slug, viewer);
      return c.json({ comments: rows.map((row) => ({ ...row, createdAt: row.createdAt.getTime() })) });
    },`,
    part: "document",
    failure: /^GET \/api\/articles\/\{slug\}\/comments: the body of 200 violates its schema$/,
  },
  {
    name: "a title that is taken is answered",
    file: articles,
    text: "const article = await this.#db.article.create({ data: { ...data, slug, author } });",
    replacement: `const article = await this.#db.article.findUnique({ where: { slug } }) ??
        await this.#db.article.create({ data: { ...data, slug, author } });`,
    part: "document",
    failure: /^POST \/api\/articles 409: is not reached/,
  },
  {
    name: "a new article has no Location",
    file: articles,
    text: 'c.header("Location", `/api/articles/${article.slug}`);',
    replacement: "",
    part: "document",
    failure: /^POST \/api\/articles 201 Location: is not sent/,
  },
  {
    name: "pages are counted from one",
    file: articles,
    text: "skip: offset, take: limit",
    replacement: "skip: offset - 1, take: limit",
    part: "document",
    failure: /^GET \/api\/articles: the server has failed with 500$/,
  },
  {
    name: "an unknown tag is not found",
    file: articles,
    text: "return await this.#list({ where, limit, offset }, viewer);",
    replacement: `if (tag !== undefined && !await this.#db.tag.exists({ where: { name: tag } })) {
      NotFoundException.throw("No such tag");
    }
    return await this.#list({ where, limit, offset }, viewer);`,
    part: "document",
    failure: /^GET \/api\/articles: status 404 is not documented$/,
  },
  {
    name: "no tags are null",
    file: articles,
    text: "async () => ({ tags: [...await this.#articles.tags()] }),",
    replacement: "async (_, c) => c.json({ tags: (await this.#articles.tags())[0] ?? null }),",
    part: "document",
    failure: /^GET \/api\/tags: the body of 200 violates its schema$/,
  },
  {
    name: "invalid articles are created",
    file: articles,
    text: 'controller("articles") {',
    replacement: `controller("articles", {
  filters: [() => Response.json({ articles: [], articlesCount: 0 })],
}) {`,
    part: "document",
    failure: /^GET \/api\/articles: an invalid request is answered with 200$/,
  },
];

/** Those that break clients. */
const CONTRACT: readonly Hole[] = [
  {
    name: "articles lose a number",
    file: articles,
    text: "  favoritesCount: v.pipe(v.number(), v.integer(), v.minValue(0)),\n",
    replacement: "",
    part: "contract",
    failure: /^GET \/api\/articles\/\{slug\}: 200 article lost "favoritesCount" \(breaking\)$/,
    isTelling: true,
  },
  {
    name: "articles have fewer tags",
    file: articles,
    text: "v.maxLength(5)",
    replacement: "v.maxLength(3)",
    part: "contract",
    failure: /^POST \/api\/articles: body article\.tagList .*3.* \(breaking\)$/,
  },
  {
    name: "comments need a title",
    file: comments,
    text: "comment: v.object({ body:",
    replacement: "comment: v.object({ title: v.string(), body:",
    part: "contract",
    failure: /^POST \/api\/articles\/\{slug\}\/comments: body comment .*"title".* \(breaking\)$/,
  },
  {
    name: "an article stays a favorite",
    file: articles,
    text: 'unfavorite = route.delete(\n    "/:slug/favorite"',
    replacement: 'unfavorite = route.delete(\n    "/:slug/favorites"',
    part: "contract",
    failure: /^DELETE \/api\/articles\/\{slug\}\/favorite: is removed \(breaking\)$/,
  },
  {
    name: "tags are shorter in a query",
    file: articles,
    text: "tag: v.optional(TagName),\n    author",
    replacement: "tag: v.optional(v.pipe(TagName, v.maxLength(10))),\n    author",
    part: "contract",
    failure: /^GET \/api\/articles: query "tag" .*10.* \(breaking\)$/,
  },
  {
    name: "pages are longer by default",
    file: articles,
    text: 'limit: v.optional(Whole, "20"),',
    replacement: 'limit: v.optional(Whole, "50"),',
    part: "contract",
    failure: /^GET \/api\/articles: query "limit" has default .*50.* \(breaking\)$/,
  },
  {
    name: "pages have a limit that is required",
    file: articles,
    text: 'limit: v.optional(Whole, "20"),',
    replacement: "limit: Whole,",
    part: "contract",
    failure: /^GET \/api\/articles: query "limit" is required \(breaking\)$/,
  },
  {
    name: "names of users have no digits",
    file: accounts,
    text: "const Username = v.pipe(v.string(), v.regex(/^[a-z0-9]{1,40}$/));",
    replacement: "const Username = v.pipe(v.string(), v.regex(/^[a-z]{2,40}$/));",
    part: "contract",
    failure: /^GET \/api\/profiles\/\{username\}: path "username" .*pattern.* \(breaking\)$/,
  },
  {
    name: "a profile can lack whether it is followed",
    file: accounts,
    text: "following: v.boolean(),",
    replacement: "following: v.optional(v.boolean()),",
    part: "contract",
    failure: /^GET \/api\/profiles\/\{username\}: 200 profile can lack "following" \(breaking\)$/,
  },
  {
    name: "tags are objects",
    file: articles,
    text:
      "response: v.object({ tags: v.array(v.string()) }) },\n    async () => ({ tags: [...await this.#articles.tags()] }),",
    replacement:
      "response: v.object({ tags: v.array(v.object({ name: v.string() })) }) },\n    async () => ({ tags: (await this.#articles.tags()).map((name) => ({ name })) }),",
    part: "contract",
    failure: /^GET \/api\/tags: 200 tags\[\] is object, was string \(breaking\)$/,
  },
  {
    name: "a number becomes a text",
    file: comments,
    text: "  id: v.pipe(v.number(), v.integer()),",
    replacement: "  id: v.pipe(v.number(), v.transform(String), v.string()),",
    part: "contract",
    failure:
      /^GET \/api\/articles\/\{slug\}\/comments: 200 comments\[\]\.id is string, was integer \(breaking\)$/,
  },
  {
    name: "profiles need a token in the document",
    file: accounts,
    text: "args: { viewer: viewerOf }, response: Profile },",
    replacement: "args: { viewer: viewerOf, me: Principal }, response: Profile },",
    part: "contract",
    failure: /^GET \/api\/profiles\/\{username\}: needs bearerAuth, needed nothing \(breaking\)$/,
  },
  {
    name: "articles are created with another status",
    file: articles,
    text: "response: ArticleBody,\n      status: 201,",
    replacement: "response: ArticleBody,\n      status: 202,",
    part: "contract",
    failure: /^POST \/api\/articles: 202 is new.* \(breaking\)$/,
  },
  {
    name: "articles are written as forms",
    file: articles,
    text: "body: ArticleChange,\n      response",
    replacement: 'body: ArticleChange,\n      consumes: ["multipart"],\n      response',
    part: "contract",
    failure: /^PUT \/api\/articles\/\{slug\}: body .*application\/json.* \(breaking\)$/,
  },
];

/** All of them. */
export const REALWORLD_HOLES: readonly Hole[] = [...PROTECTION, ...ANSWERS, ...CONTRACT];
