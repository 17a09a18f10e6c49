import assert from "node:assert/strict";
import { DbOptions } from "../../src/db/mod.ts";
import { testOnEach } from "../db/support/database.ts";
import { page } from "../support/docs.ts";
import { importProgram } from "../support/program.ts";

/** A repository, for rows to begin with. */
interface AnyRepository {
  createMany(options: { readonly data: readonly object[] }): Promise<number>;
}

/** A database of the page. */
type Blog = AsyncDisposable & {
  createTables(): Promise<void>;
  readonly [model: string]: unknown;
};

/** What the page declares. */
interface Cookbook {
  readonly Blog: { open(options: DbOptions): Promise<Blog> };
  readonly cookbook: Readonly<Record<string, (db: Blog) => Promise<unknown>>>;
}

const ADA = { id: 1, email: "ada@example.org", name: "Ada" };
const BOB = { id: 2, email: "bob@example.org", name: "Bob" };
const CY = { id: 3, email: "cy@example.org", name: "Cy" };
const ROWS = {
  user: [ADA, BOB, CY],
  post: [
    { id: 1, author_id: 1, title: "Deno", views: 3 },
    { id: 2, author_id: 1, title: "On Node", views: 4 },
    { id: 3, author_id: 2, title: "denoland", views: 0 },
    { id: 4, author_id: 1, title: "Deno", views: 1 },
  ],
  tag: [{ id: 1, name: "deno" }],
  postTag: [{ post_id: 1, tag_id: 1 }, { post_id: 4, tag_id: 1 }],
};
const [FIRST, SECOND, THIRD, FOURTH] = ROWS.post as [object, object, object, object];
const UNREAD = { ...THIRD, title: "Unread" };

/** The result of each query, one after the other. */
const RESULTS: Readonly<Record<string, unknown>> = {
  newestOfAuthor: [FOURTH, SECOND],
  tagged: [FIRST, FOURTH],
  withoutPosts: [CY],
  alwaysRead: [ADA],
  search: [FIRST, THIRD, FOURTH],
  withNewestPost: { ...ADA, posts: [{ ...FOURTH, tags: ROWS.tag }] },
  countsOfPosts: [
    { ...ADA, _count: { posts: 3 } },
    { ...BOB, _count: { posts: 1 } },
    { ...CY, _count: { posts: 0 } },
  ],
  busiest: ADA,
  byAuthor: ["On Node", "Deno", "Deno", "denoland"].map((title) => ({ title })),
  isTaken: true,
  numberOfAuthors: 2,
  totals: { _count: 4, _sum: { views: 8 }, _avg: { views: 2 } },
  readAuthors: [{ author_id: 1, _sum: { views: 8 } }],
  addViews: 3,
  renameUnread: [UNREAD],
  addTags: 1,
  importUsers: 2,
  takeJob: UNREAD,
  eachTitle: ["Deno", "On Node", "Unread", "Deno"].map((title) => ({ title })),
  repeated: [{ ...FOURTH, views: 2 }],
};

testOnEach("each query of the cookbook is one call", async ({ url }) => {
  const { Blog, cookbook } = await readCookbook();
  assert.equal(Object.keys(cookbook).length, 20);
  await using db = await Blog.open(DbOptions.fromUrl(url));
  await db.createTables();
  for (const [model, data] of Object.entries(ROWS)) {
    await (db[model] as AnyRepository).createMany({ data });
  }
  const results: Record<string, unknown> = {};
  for (const [name, query] of Object.entries(cookbook)) results[name] = await query(db);
  assert.deepEqual(results, RESULTS);
});

/** Imports the program of the page. */
async function readCookbook(): Promise<Cookbook> {
  const code = page("cookbook").block("ts", "# Cookbook");
  return await importProgram(code, ["Blog", "cookbook"]) as Cookbook;
}
