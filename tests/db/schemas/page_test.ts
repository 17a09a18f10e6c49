/** Lists over HTTP: pages, their headers, and what a document describes. */
import assert from "node:assert/strict";
import * as v from "valibot";
import { controller, FwFactory, inject, module, route, validatedQuery } from "../../../mod.ts";
import { createClient } from "../../../src/client/mod.ts";
import type { ApiOf } from "../../../src/client/mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { listOf, pageOf, schemaOf } from "../../../src/db/schemas/mod.ts";
import { test } from "../../support/test.ts";

const Post = model("posts", {
  id: field.integer().primaryKey(),
  status: field.enum(["draft", "public"]),
  title: field.text(),
  views: field.integer(),
  author_id: field.integer().nullable(),
  created_at: field.timestamp(),
});
class Db extends DbService.with({ post: Post }) {}

const ROWS = 25;
const PostRow = schemaOf(Post, { pick: ["id", "title"] });
const List = listOf(Post, {
  filter: ["status", "title", "views", "author_id"],
  sort: ["id", "title", "created_at"],
  max: 10,
  total: true,
});
const Numbered = listOf(Post, { filter: ["status"], sort: ["id"], page: "offset", max: 10 });
const select = { id: true, title: true } as const;

class PostsController extends controller("posts", { version: "v1" }) {
  readonly #posts = inject(Db).post;
  list = route.get(
    "/",
    { query: List, response: pageOf(PostRow) },
    ({ query }) => this.#posts.page(query, { where: { views: { gte: 0 } }, select }),
  );
  numbered = route.get(
    "/numbered",
    { query: Numbered, response: pageOf(PostRow) },
    ({ query }) => this.#posts.page(query, { select }),
  );
  deprecated = route.get("/deprecated", {
    query: List,
    response: pageOf(PostRow),
    openapi: { deprecated: { link: "https://example.org/new" } },
  }, ({ query }) => this.#posts.page(query));
  byHand = route.get("/by-hand", { response: pageOf(v.number()) }, () => ({
    rows: [1],
    next: 'a b&<>"\r\nc',
  }));
  extracted = route.get("/extracted", {
    args: { list: validatedQuery(List) },
    response: pageOf(PostRow),
  }, ({ list }) => this.#posts.page(list));
  wrong = route.get("/wrong", { query: List, response: pageOf(v.string()) }, async ({ query }) => {
    const { rows, ...page } = await this.#posts.page(query);
    return { rows: rows.map(({ id }) => id as unknown as string), ...page };
  });
}
const PostsModule = module({
  imports: [DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:"))],
  controllers: [PostsController],
});
interface Api extends ApiOf<typeof PostsModule> {}

async function open() {
  const app = await FwFactory.create(PostsModule);
  const db = await app.get(Db);
  await db.createTables();
  await db.post.createMany({
    data: Array.from({ length: ROWS }, (_, n) => ({
      status: n % 5 === 0 ? "public" as const : "draft" as const,
      title: `t${n % 3}`,
      views: n,
      author_id: n % 2 === 0 ? null : n,
      created_at: new Date(n),
    })),
  });
  app.enableUriVersioning().setGlobalPrefix("api").enableOpenApi();
  const get = async (path: string, init?: RequestInit) => {
    const response = await app.request(`http://host/api/v1/posts${path}`, init);
    const { status, headers } = response;
    const text = await response.text();
    return {
      status,
      link: headers.get("link"),
      total: headers.get("x-total-count"),
      body: text === "" ? undefined : JSON.parse(text),
    };
  };
  return { app, get, [Symbol.asyncDispose]: () => app.close() };
}

/** Returns the targets of links by their relations, as a client would find them. */
function linksIn(link: string | null, base: string): Readonly<Record<string, string>> {
  const links = [...(link ?? "").matchAll(/<([^>]*)>; rel="(\w+)"/g)];
  return Object.fromEntries(
    links.map(([, target = "", relation]) => [relation, new URL(target, base).href]),
  );
}

test("pageOf() links the pages by a cursor", async () => {
  await using site = await open();
  const query = "?limit=10&status=draft&views[gte]=1&sort=-title";
  const first = await site.get(query);
  assert.equal(first.status, 200);
  assert.equal(first.total, "20");
  const { rows, next, ...rest } = first.body;
  assert.equal(rows.length, 10);
  assert.deepEqual(rest, { total: 20 });
  const kept = "limit=10&status=draft&views%5Bgte%5D=1&sort=-title";
  assert.equal(first.link, `<?${kept}&cursor=${next}>; rel="next", <?${kept}>; rel="first"`);
  const links = linksIn(first.link, "http://host/api/v1/posts");
  assert.equal(links.next, `http://host/api/v1/posts?${kept}&cursor=${next}`);
  const second = await site.get(new URL(links.next!).search);
  assert.deepEqual([second.body.next, second.total], [null, "20"]);
  assert.equal(second.link, `<?${kept}>; rel="first"`);
  const all = [...rows, ...second.body.rows];
  assert.equal(new Set(all.map(({ id }) => id)).size, 20);
  assert.deepEqual(Object.keys(all[0]), ["id", "title"]);
});

test("pageOf() links the pages by an offset", async () => {
  await using site = await open();
  const pages: readonly (readonly [query: string, links: string])[] = [
    [
      "?limit=10",
      '<?limit=10&offset=10>; rel="next", <?limit=10>; rel="first", <?limit=10&offset=20>; rel="last"',
    ],
    [
      "?offset=20&limit=10",
      '<?limit=10&offset=10>; rel="prev", <?limit=10>; rel="first", <?limit=10&offset=20>; rel="last"',
    ],
    [
      "?offset=3&limit=10",
      '<?limit=10&offset=13>; rel="next", <?limit=10&offset=0>; rel="prev", <?limit=10>; rel="first", <?limit=10&offset=20>; rel="last"',
    ],
    ["?status=public", '<?status=public>; rel="first", <?status=public&offset=0>; rel="last"'],
    ["", '<?offset=10>; rel="next", <?>; rel="first", <?offset=20>; rel="last"'],
    ["?offset=900", '<?offset=20>; rel="prev", <?>; rel="first", <?offset=20>; rel="last"'],
  ];
  for (const [query, links] of pages) {
    const { link, total, body } = await site.get(`/numbered${query}`);
    assert.equal(link, links);
    assert.equal(total, query === "?status=public" ? "5" : String(ROWS));
    assert.equal(body.total, Number(total));
  }
  const { body } = await site.get("/numbered?offset=20&limit=10");
  assert.deepEqual(body.rows.map(({ id }: { id: number }) => id), [21, 22, 23, 24, 25]);
});

test("pageOf() sets its headers for HEAD, and beside other links", async () => {
  await using site = await open();
  const got = await site.get("/numbered?limit=10");
  const head = await site.get("/numbered?limit=10", { method: "HEAD" });
  assert.deepEqual(head, { ...got, body: undefined });
  const { link } = await site.get("/deprecated?limit=10&status=public");
  assert.equal(
    link,
    '<?limit=10&status=public>; rel="first", <https://example.org/new>; rel="deprecation"',
  );
  const extracted = await site.get("/extracted?limit=10&status=public");
  assert.equal(extracted.link, '<?limit=10&status=public>; rel="first"');
});

test("pageOf() escapes what it links, and omits links that are too long", async () => {
  await using site = await open();
  const byHand = await site.get("/by-hand?a=%22%3E&b=%0D%0A");
  assert.equal(
    byHand.link,
    '<?a=%22%3E&b=%0D%0A&cursor=a+b%26%3C%3E%22%0D%0Ac>; rel="next", <?a=%22%3E&b=%0D%0A>; rel="first"',
  );
  const title = "x".repeat(4080);
  assert.equal((await site.get(`?title=${title}`)).link, null);
  assert.equal((await site.get(`?title=${title.slice(100)}`)).link?.length, 4002);
});

test("an error has no headers of a page", async () => {
  await using site = await open();
  const cursor = (await site.get("?limit=1")).body.next;
  const invalid = await site.get(`?limit=1&sort=title&cursor=${cursor}`);
  assert.deepEqual(invalid, {
    status: 400,
    link: null,
    total: null,
    body: {
      type: "about:blank",
      title: "Bad Request",
      status: 400,
      detail: "Cannot list posts: the cursor is invalid, or that of another query",
      instance: "/api/v1/posts",
    },
  });
  const refused = await site.get("?limit=11&nope=1&status=secret");
  assert.deepEqual([refused.status, refused.link, refused.body.errors], [422, null, [
    { in: "query", field: "nope", message: "Unknown parameter" },
    { in: "query", field: "status", message: 'Invalid type: Expected ("draft" | "public")' },
    { in: "query", field: "limit", message: "Expected a whole number from 1 to 10" },
  ]]);
  const wrong = await site.get("/wrong?limit=1");
  assert.deepEqual([wrong.status, wrong.link, wrong.total], [500, null, null]);
});

test("the document describes the parameters of a list, and the headers of its pages", async () => {
  await using site = await open();
  const { paths } = await (await site.app.request("/openapi.json")).json();
  const { parameters, responses } = paths["/api/v1/posts"].get;
  const inQuery = (name: string, description: string, schema: object) => ({
    name,
    in: "query",
    required: false,
    description,
    schema,
  });
  const [minimum, maximum] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  const whole = { type: "integer", minimum, maximum };
  const range = (operator: string, comparison: string) =>
    inQuery(`views[${operator}]`, `Is ${comparison}`, whole);
  const several = (name: string, items: object) =>
    inQuery(name, "Is the value, or one of several", { type: "array", items, maxItems: 100 });
  const ofAuthor = (operator: string, comparison: string) => ({
    ...range(operator, comparison),
    name: `author_id[${operator}]`,
  });
  const limit = { type: "integer", minimum: 1, maximum: 10, default: 10 };
  assert.deepEqual(parameters, [
    several("status", { type: "string", enum: ["draft", "public"] }),
    several("title", { type: "string" }),
    several("views", whole),
    range("gt", "greater"),
    range("gte", "greater or equal"),
    range("lt", "less"),
    range("lte", "less or equal"),
    several("author_id", whole),
    ofAuthor("gt", "greater"),
    ofAuthor("gte", "greater or equal"),
    ofAuthor("lt", "less"),
    ofAuthor("lte", "less or equal"),
    inQuery("author_id[isNull]", "Whether it is null", { type: "boolean" }),
    inQuery("sort", "The order: columns, each once, with `-` before it if it is descending", {
      type: "string",
      pattern: "^-?(?:id|title|created_at)(?:,-?(?:id|title|created_at))*$",
      not: { pattern: "(?:^|,)-?([^,-][^,]*),(?:.*,)?-?\\1(?:,|$)" },
    }),
    inQuery("limit", "How many rows at most", limit),
    inQuery("cursor", "Where the page begins: `next` of the page before it", {
      type: "string",
      maxLength: 4096,
    }),
  ]);
  assert.deepEqual(Object.keys(responses), ["200", "400", "422"]);
  assert.deepEqual(responses[200].headers, {
    "Link": {
      description: "The URLs of other pages, relative to that of the request (RFC 8288)",
      schema: { type: "string" },
    },
    "X-Total-Count": {
      description: "The number of rows on all pages, if they were counted",
      schema: { type: "integer", minimum: 0 },
    },
  });
  const numbered = paths["/api/v1/posts/numbered"].get;
  assert.deepEqual(Object.keys(numbered.responses), ["200", "422"]);
  assert.deepEqual(
    numbered.parameters.at(-1),
    inQuery("offset", "How many rows to leave out first", {
      type: "integer",
      minimum: 0,
      default: 0,
    }),
  );
  const { properties, required } = responses[200].content["application/json"].schema;
  assert.deepEqual(required, ["rows", "next"]);
  assert.deepEqual(Object.keys(properties), ["rows", "next", "total"]);
});

test("a typed client asks for lists, and walks their pages", async () => {
  await using site = await open();
  const api = createClient<Api>("http://host/api", {
    fetch: (request) => site.app.fetch(request),
  });
  const query = { "views[gte]": 3, status: ["draft", "public"], sort: "-created_at,id" } as const;
  const titles: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { rows: { title: string }[]; next: string | null } = await api.get("/v1/posts", {
      query: { ...query, limit: 10, ...cursor !== null && { cursor } },
    });
    titles.push(...page.rows.map(({ title }) => title));
    cursor = page.next;
  } while (cursor !== null);
  assert.equal(titles.length, ROWS - 3);
  assert.equal(titles[0], "t0");
});
