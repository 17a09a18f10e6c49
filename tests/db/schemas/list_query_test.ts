import assert from "node:assert/strict";
import type { AnySchema } from "../../../mod.ts";
import { field, model } from "../../../src/db/mod.ts";
import { listOf } from "../../../src/db/schemas/mod.ts";
import { test } from "../../support/test.ts";

const Author = model("authors", { id: field.integer().primaryKey() });
const Post = model("posts", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references(Author).nullable(),
  status: field.enum(["draft", "public"]),
  title: field.text(),
  views: field.integer(),
  size: field.bigint().nullable(),
  score: field.real(),
  price: field.decimal({ precision: 8, scale: 2 }),
  pinned: field.boolean(),
  created_at: field.timestamp(),
  day: field.date(),
  hour: field.time(),
  code: field.uuid(),
  limit: field.integer(),
  meta: field.json(),
  tags: field.text().array(),
  image: field.blob(),
});
const Seen = model("seen", { id: field.integer() }, { primaryKey: false });

const ALL = listOf(Post, {
  filter: [
    ...["author_id", "status", "title", "views", "size", "score", "price", "pinned"] as const,
    ...["created_at", "day", "hour", "code"] as const,
  ],
  sort: ["id", "title", "created_at"],
});
const OFFSET = listOf(Post, {
  page: "offset",
  max: 10,
  defaultLimit: 5,
  sort: ["id"],
  defaultSort: "-created_at,id",
});

/** What a schema makes of a query; the fields and messages of its issues if it refuses it. */
function read(schema: AnySchema, query: unknown): unknown {
  const result = schema["~standard"].validate(query);
  if (result instanceof Promise) throw new Error("it is asynchronous");
  return result.issues?.map(({ path = [], message }) => `${path.join(".")}: ${message}`) ??
    (result as { readonly value: unknown }).value;
}

const REST = { where: {}, orderBy: [], take: 20, withTotal: false };
const CODE = "0f0f0f0f-0000-4000-8000-000000000000";

const QUERIES: readonly (readonly [query: object, where: object])[] = [
  [{}, {}],
  [{ status: "draft" }, { status: { equals: "draft" } }],
  [{ status: ["public", "draft", "draft"] }, { status: { in: ["draft", "public"] } }],
  [{ status: ["draft", "draft"] }, { status: { equals: "draft" } }],
  [{ author_id: "7", "author_id[isNull]": "false" }, { author_id: { equals: 7, isNull: false } }],
  [{ "author_id[isNull]": "true" }, { author_id: { isNull: true } }],
  [{ title: "" }, { title: { equals: "" } }],
  [{ title: "a,b" }, { title: { equals: "a,b" } }],
  [{ "views[gte]": "10", "views[lt]": "20" }, { views: { gte: 10, lt: 20 } }],
  [{ "views[lt]": 20, views: ["1", "-2"] }, { views: { in: [-2, 1], lt: 20 } }],
  [{ size: "9223372036854775807" }, { size: { equals: 9223372036854775807n } }],
  [{ "size[gt]": 5n, "size[isNull]": false }, { size: { gt: 5n, isNull: false } }],
  [{ score: "-0.5" }, { score: { equals: -0.5 } }],
  [{ "price[lte]": "9.99" }, { price: { lte: "9.99" } }],
  [{ pinned: "true" }, { pinned: { equals: true } }],
  [{ pinned: false }, { pinned: { equals: false } }],
  [
    { "created_at[gte]": "2026-11-27T09:30:00.5+02:00" },
    { created_at: { gte: new Date("2026-11-27T07:30:00.500Z") } },
  ],
  [{ "day[lt]": "2024-02-29", hour: "12:30:00" }, {
    day: { lt: "2024-02-29" },
    hour: { equals: "12:30:00" },
  }],
  [{ code: CODE }, { code: { equals: CODE } }],
  [{ title: undefined }, {}],
];

test("listOf() reads the conditions of a query", () => {
  for (const [query, where] of QUERIES) {
    assert.deepEqual(read(ALL, query), { ...REST, where }, JSON.stringify(Object.keys(query)));
  }
  // Equal conditions have the same form.
  assert.equal(
    JSON.stringify(read(ALL, { status: ["public", "draft"], title: "a", "views[lt]": "1" })),
    JSON.stringify(read(ALL, { "views[lt]": "1", title: "a", status: ["draft", "public"] })),
  );
});

test("listOf() reads the order and the page of a query", () => {
  const rest = { ...REST, take: 5, withTotal: true, skip: 0 };
  const byDefault = [{ created_at: "desc" }, { id: "asc" }];
  const reads: readonly (readonly [unknown, unknown])[] = [
    [read(ALL, { sort: "-created_at,id" }), { ...REST, orderBy: byDefault }],
    [read(ALL, { sort: "title", limit: "100" }), {
      ...REST,
      orderBy: [{ title: "asc" }],
      take: 100,
    }],
    [read(ALL, { limit: 1, cursor: "abc" }), { ...REST, take: 1, cursor: "abc" }],
    [read(OFFSET, {}), { ...rest, orderBy: byDefault }],
    [read(OFFSET, { sort: "-id", offset: "40", limit: "10" }), {
      ...rest,
      orderBy: [{ id: "desc" }],
      skip: 40,
      take: 10,
    }],
    [read(listOf(Post), {}), REST],
    [read(listOf(Post, { total: true, max: 3 }), {}), { ...REST, take: 3, withTotal: true }],
    [read(listOf(Post, { page: "offset", total: false }), {}), { ...REST, skip: 0 }],
    [read(listOf(Seen, { page: "offset" }), {}), { ...REST, skip: 0, withTotal: true }],
  ];
  for (const [query, expected] of reads) assert.deepEqual(query, expected);
});

const SORTED = 'Expected id, title, created_at, each once, "-" before it if it is descending';

const REFUSED: readonly (readonly [query: unknown, issues: readonly string[]])[] = [
  [{ nope: "1", "title[gte]": "a" }, ["nope: Unknown parameter", "title[gte]: Unknown parameter"]],
  [{ "status[isNull]": "true" }, ["status[isNull]: Unknown parameter"]],
  [{ "author_id[gte]": "1" }, ["author_id[gte]: Unknown parameter"]],
  [{ offset: "1", toString: "1" }, ["offset: Unknown parameter", "toString: Unknown parameter"]],
  [{ status: "gone" }, [
    'status: Invalid type: Expected ("draft" | "public") but received "gone"',
  ]],
  [{ views: "1.5" }, ["views: Expected a whole number"]],
  [{ views: ["1", ""] }, ["views: Expected a whole number"]],
  [{ views: {} }, ["views: Expected one value"]],
  [{ views: [] }, ["views: Expected 1 to 100 values"]],
  [{ views: Array(101).fill("1") }, ["views: Expected 1 to 100 values"]],
  [{ "views[gte]": ["1", "2"] }, [
    "views[gte]: Expected one value",
  ]],
  [{ "author_id[isNull]": "yes" }, ["author_id[isNull]: Expected true or false"]],
  [{ title: "\0" }, ["title: Expected well-formed text without U+0000"]],
  [{ "day[gt]": "2026-02-30" }, [
    "day[gt]: Expected a date that exists, of the years 1000 to 9999",
  ]],
  [{ "created_at[gt]": "2026-01-01T00:00:00" }, [
    "created_at[gt]: Expected a time such as 2026-11-27T09:30:00Z",
  ]],
  ...["", ",", "nope", "--id", "id,", "id,-id", " id", "-", "toString", ["id"]].map((sort) =>
    [{ sort }, [`sort: ${SORTED}`]] as const
  ),
  ...["0", "101", "-1", "1.5", "", "1e1", ["1"], "99999999999999999"].map((limit) =>
    [{ limit }, ["limit: Expected a whole number from 1 to 100"]] as const
  ),
  [{ cursor: ["a", "b"] }, ["cursor: Expected one cursor"]],
  [[], [": Invalid type: Expected Object"]],
  ["?", [": Invalid type: Expected Object"]],
];

test("listOf() refuses what it does not name, and values of other types", () => {
  for (const [query, issues] of REFUSED) {
    assert.deepEqual(read(ALL, query), issues, JSON.stringify(query));
  }
  for (const offset of ["-1", "x", "1.5", ["1", "2"], "9007199254740993"]) {
    const issues = ["offset: Expected a whole number of 0 or more"];
    assert.deepEqual(read(OFFSET, { offset }), issues);
  }
});

test("listOf() refuses lists that no query can ask for", () => {
  const mistakes: readonly (readonly [options: object, reason: string])[] = [
    [{ filter: ["nope"] }, 'there is no column "nope"'],
    [{ filter: ["toString"] }, 'there is no column "toString"'],
    [{ sort: ["nope"] }, 'there is no column "nope"'],
    [{ filter: ["meta"] }, "meta is of kind json"],
    [{ filter: ["tags"] }, "tags is of kind array"],
    [{ sort: ["image"] }, "image is of kind blob"],
    [{ filter: ["limit"] }, "limit is the name of another parameter"],
    [{ defaultSort: "nope" }, "defaultSort is not an order of its columns"],
    [{ defaultSort: "meta" }, "meta is of kind json"],
    [{ page: "pages" }, "page is not cursor or offset"],
    [{ max: 0 }, "max is not a whole number of 1 or more"],
    [{ max: 10, defaultLimit: 11 }, "defaultLimit is over max"],
    [{ filters: [] }, "filters is not an option"],
  ];
  for (const [options, reason] of mistakes) {
    const message = `Cannot list posts: ${reason}`;
    assert.throws(() => listOf(Post, options as Record<never, never>), {
      name: "TypeError",
      message,
    });
  }
  const message = "Cannot list seen: the model has no key, so that its pages need an offset";
  assert.throws(() => listOf(Seen), { name: "TypeError", message });
});
