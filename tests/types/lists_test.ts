import assert from "node:assert/strict";
import { controller, module, route, type SchemaInput, type SchemaOutput } from "../../mod.ts";
import type { ApiOf } from "../../src/client/mod.ts";
import { createClient } from "../../src/client/mod.ts";
import { belongsTo, DbService, field, model, type Page } from "../../src/db/mod.ts";
import { listOf, type ListQuery, pageOf, schemaOf } from "../../src/db/schemas/mod.ts";
import { test, testOn } from "../support/test.ts";
import { messagesOf } from "./error_messages.ts";
import { same } from "./same.ts";

const testMessages = testOn(["deno"], "the compiler does the same on each runtime");

const Author = model("authors", { id: field.integer().primaryKey(), name: field.text() });
const Post = model("posts", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references(Author).nullable(),
  status: field.enum(["draft", "public"]),
  title: field.text(),
  pinned: field.boolean(),
  size: field.bigint(),
  at: field.timestamp(),
  meta: field.json(),
});
const Db = DbService.with({ author: Author, post: Post }, {
  post: { author: belongsTo(Post.author_id) },
});

const List = listOf(Post, {
  filter: ["author_id", "status", "title", "pinned", "size", "at"],
  sort: ["id", "title"],
});
const Numbered = listOf(Post, { page: "offset" });

/** Compiles its body, which never runs. */
function compiles(_: (db: InstanceType<typeof Db>) => unknown): void {}

test("the parameters of a list are those that a client can send", () => {
  type Range<V> = { readonly gt?: V; readonly gte?: V; readonly lt?: V; readonly lte?: V };
  type Ranges<N extends string, V> = { readonly [K in keyof Range<V> as `${N}[${K}]`]?: V };
  type Whole = number | `${number}`;
  type Big = bigint | number | `${bigint}`;
  type Flat<T> = { [K in keyof T]: T[K] };
  type Sort = "id" | "-id" | "title" | "-title";
  same<
    SchemaInput<typeof List>,
    Flat<
      & {
        readonly author_id?: Whole | readonly Whole[];
        readonly "author_id[isNull]"?: boolean | "true" | "false";
        readonly status?: "draft" | "public" | readonly ("draft" | "public")[];
        readonly title?: string | readonly string[];
        readonly pinned?: boolean | "true" | "false" | readonly (boolean | "true" | "false")[];
        readonly size?: Big | readonly Big[];
        readonly at?: string | readonly string[];
        readonly sort?: Sort | `${Sort},${string}`;
        readonly limit?: Whole;
        readonly cursor?: string;
      }
      & Ranges<"size", Big>
      & Ranges<"at", string>
    >
  >();
  same<
    SchemaInput<typeof Numbered>,
    { readonly limit?: Whole; readonly offset?: Whole }
  >();
  same<SchemaOutput<typeof List>, ListQuery<typeof Post>>();
});

test("a page has the rows that a find has", () => {
  compiles(async ({ post }) => {
    const query = {} as SchemaOutput<typeof List>;
    const whole = await post.page(query);
    same<typeof whole, Page<Awaited<ReturnType<typeof post.findMany>>[number]>>();
    const { rows, next, total } = await post.scoped({ status: "draft" }).page(query, {
      where: { author: { name: "Ada" } },
      select: { title: true },
      include: { author: { select: { name: true } } },
    });
    same<typeof next, string | null>();
    same<typeof total, number | undefined>();
    same<typeof rows, { title: string; author: { name: string } | null }[]>();
    await post.page({ take: 1, where: { author: { name: "Ada" } }, orderBy: { title: "asc" } });
    // @ts-expect-error: the size of a page is missing
    await post.page({});
    // @ts-expect-error: a page has no order by related rows
    await post.page({ take: 1, orderBy: { author: { name: "asc" } } });
  });
});

class PostsController extends controller("posts") {
  list = route.get("/", {
    query: List,
    response: pageOf(schemaOf(Post, { pick: ["id", "at"] })),
  }, () => ({ rows: [{ id: 1, at: new Date() }], next: null }));
}
const PostsModule = module({ controllers: [PostsController] });
interface Api extends ApiOf<typeof PostsModule> {}

test("a typed client has the parameters and the page", () => {
  compiles(async () => {
    const api = createClient<Api>("http://localhost");
    const page = await api.get("/posts", {
      query: { "size[gte]": 10, sort: "-id", status: ["draft"], title: ["a", 1], pinned: true },
    });
    same<typeof page, Page<{ id: number; at: string }>>();
    await api.get("/posts");
    await api.get("/posts", {
      query: { author_id: 7, "author_id[isNull]": false, sort: "id,-title" },
    });
  });
});

const MISTAKES: readonly (readonly [mistake: string, part: string])[] = [
  [`listOf(Post, { filter: ["nope"] });`, `'"nope"' is not assignable`],
  [`listOf(Post, { filter: ["meta"] });`, `'"meta"' is not assignable`],
  [`listOf(Post, { sort: ["meta"] });`, `'"meta"' is not assignable`],
  [`listOf(Post, { page: "pages" });`, `'"pages"' is not assignable`],
  [`listOf(Post, { maxx: 1 });`, "'maxx' does not exist"],
  [`api.get("/posts", { query: { status: "gone" } });`, `'"gone"' is not assignable`],
  [`api.get("/posts", { query: { sort: "size" } });`, `'"size"' is not assignable`],
  [`api.get("/posts", { query: { "author_id[gte]": 1 } });`, "does not exist"],
  [`api.get("/posts", { query: { "size[gte]": true } });`, "'true' is not assignable"],
];

testMessages("each wrong use of a list is one error, with a short message", () => {
  const found = messagesOf(
    `
import { controller, module, route } from "../../mod.ts";
import { type ApiOf, createClient } from "../../src/client/mod.ts";
import { field, model } from "../../src/db/mod.ts";
import { listOf } from "../../src/db/schemas/mod.ts";
const Post = model("posts", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references("self").nullable(),
  status: field.enum(["draft", "public"]),
  size: field.integer(),
  meta: field.json(),
});
class PostsController extends controller("posts") {
  list = route.get("/", {
    query: listOf(Post, { filter: ["status", "size", "author_id"], sort: ["id"] }),
  }, () => []);
}
const PostsModule = module({ controllers: [PostsController] });
interface Api extends ApiOf<typeof PostsModule> {}
const api = createClient<Api>("http://localhost");
export {};
`,
    MISTAKES.map(([mistake]) => mistake),
  );
  const wrong = found.flatMap(({ text, related }, i) => {
    const [mistake, part] = MISTAKES[i]!;
    const { length } = [text, ...related].join("\n");
    return text.includes(part) && length <= 500 ? [] : [{ mistake, length, text }];
  });
  assert.deepEqual(wrong, []);
});
