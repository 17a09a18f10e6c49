import type { Noted } from "../support/noted.ts";
import {
  type Expected,
  type Operation,
  READ,
  same,
  testStatements,
} from "../support/statements.ts";

const POSTS = 'select "id", "author_id", "title" from "posts" where';
const OF_AUTHOR = 'select 1 as "one" from "posts" where "posts"."author_id" = "authors"."id" and';
const AUTHOR = 'select 1 as "one" from "authors" where "authors"."id" = "posts"."author_id" and';
const TAG = 'select 1 as "one" from "post_tags" inner join "tags" on "tags"."id" = ' +
  '"post_tags"."tag_id" where "post_tags"."post_id" = "posts"."id" and';
const UPDATE = 'update "posts" set "title" = ? where';
const TITLED = `exists (${AUTHOR} exists (select 1 as "one" from "posts" as "~2" ` +
  'where "~2"."author_id" = "authors"."id" and "~2"."title" = ?))';

const FILTERS: readonly Operation[] = [
  [
    ({ author }) => author.findMany({ where: { posts: { some: { title: "t" } } } }),
    same([`${READ} exists (${OF_AUTHOR} "posts"."title" = ?)`, "t"]),
  ],
  [
    ({ author }) =>
      author.findMany({ where: { id: 1, posts: { none: {}, every: { title: { not: "t" } } } } }),
    same([
      `${READ} ("id" = ? and (not exists (${OF_AUTHOR} 1 = 1) and ` +
      `not exists (${OF_AUTHOR} ("posts"."title" != ?) is not true)))`,
      1,
      "t",
    ]),
  ],
  [
    ({ post }) => post.findMany({ where: { author: { name: "n", isNot: { active: false } } } }),
    same([
      `${POSTS} (not exists (${AUTHOR} "authors"."active" = ?) and exists (${AUTHOR} "authors"."name" = ?))`,
      false,
      "n",
    ]),
  ],
  [
    ({ post }) => post.findMany({ where: { OR: [{ author: null }, { author: { isNot: null } }] } }),
    same([`${POSTS} (not exists (${AUTHOR} 1 = 1) or exists (${AUTHOR} 1 = 1))`]),
  ],
  [
    ({ post }) => post.findMany({ where: { tags: { some: { label: "l" } }, title: "t" } }),
    same([`${POSTS} (exists (${TAG} "tags"."label" = ?) and "title" = ?)`, "l", "t"]),
  ],
  [
    // The posts of the subquery and those around it have different names.
    ({ author }) =>
      author.scoped({ active: true }).findMany({
        where: { posts: { some: { author: { posts: { some: { title: "t" } } } } } },
      }),
    same([
      `${READ} ("active" = ? and exists (${OF_AUTHOR} exists (select 1 as "one" ` +
      'from "authors" as "~2" where "~2"."id" = "posts"."author_id" and ("~2"."active" = ? and ' +
      'exists (select 1 as "one" from "posts" as "~3" where "~3"."author_id" = "~2"."id" ' +
      'and "~3"."title" = ?)))))',
      true,
      true,
      "t",
    ]),
  ],
  [
    ({ author }) => author.deleteMany({ where: { posts: { some: { title: "t" } } } }),
    same([`delete from "authors" where exists (${OF_AUTHOR} "posts"."title" = ?)`, "t"]),
  ],
  [
    ({ post }) =>
      post.updateMany({
        where: { author: { posts: { some: { title: "t" } } } },
        data: { title: "u" },
      }),
    target({ write: UPDATE, condition: TITLED, values: ["u", "t"] }),
  ],
  [
    ({ post }) => post.deleteMany({ where: { author: { posts: { some: { title: "t" } } } } }),
    target({ write: 'delete from "posts" where', condition: TITLED, values: ["t"] }),
  ],
  [
    ({ post }) =>
      post.updateManyAndReturn({
        where: { author: { posts: { some: { title: "t" } } } },
        data: { title: "u" },
      }),
    {
      ...same([`${UPDATE} ${TITLED} returning "id", "author_id", "title"`, "u", "t"]),
      mysql: [["begin"], [`${POSTS} ${TITLED} for update`, "t"], ["commit"]],
    },
  ],
  [
    // A function may read any table.
    ({ post }) =>
      post.updateMany({
        where: { AND: [(eb) => eb("posts.title", "=", "t")] },
        data: { title: "u" },
      }),
    target({ write: UPDATE, condition: '("posts"."title" = ?)', values: ["u", "t"] }),
  ],
];

testStatements("Repository finds rows by related rows by these statements", FILTERS);

const BY_TAG = `exists (${TAG} "tags"."label" = ?)`;
const TAGGED = 'select "post_tags"."post_id" as "~key" from "post_tags" inner join "tags" on ' +
  '"tags"."id" = "post_tags"."tag_id" where "tags"."label" = ?';
const OF_NAMED = 'select "authors"."id" as "~key" from "authors" where "authors"."name" = ?';
const FOUND_OF_NAMED = `select 1 as "one" from (${OF_NAMED}) as "~keys" inner join "posts" ` +
  'on "~keys"."~key" = "posts"."author_id"';

const PAGES: readonly Operation[] = [
  [
    ({ post }) => post.findMany({ where: { tags: { some: { label: "l" } } }, take: 5, skip: 2 }),
    pageOf({ condition: BY_TAG, column: "id", keys: TAGGED, found: TAGGED, value: "l" }),
  ],
  [
    ({ post }) => post.findMany({ where: { author: { name: "n" } }, take: 5, skip: 2 }),
    pageOf({
      condition: `exists (${AUTHOR} "authors"."name" = ?)`,
      column: "author_id",
      keys: OF_NAMED,
      found: FOUND_OF_NAMED,
      value: "n",
    }),
  ],
];

testStatements("Repository finds pages of rows by related rows by these statements", PAGES);

const COUNT = '(select count(*) as "count" from "posts" where ' +
  '"posts"."author_id" = "authors"."id" and 1 = 1)';
const NAME =
  '(select "authors"."name" from "authors" where "authors"."id" = "posts"."author_id" and 1 = 1)';
const NUMBERED = 'row_number() over(partition by "title" order by';

const ORDERS: readonly Operation[] = [
  [
    ({ author }) => author.findMany({ orderBy: { posts: { _count: "desc" } }, take: 5 }),
    same([`${READ} 1 = 1 order by ${COUNT} desc, "id" asc limit ? offset ?`, 5, 0]),
  ],
  [
    ({ author }) =>
      author.scoped({ active: true }).findMany({ orderBy: { posts: { _count: "asc" } } }),
    same([`${READ} "active" = ? order by ${COUNT} asc`, true]),
  ],
  [
    ({ post }) => post.findMany({ orderBy: [{ author: { name: "asc" } }, { title: "desc" }] }),
    orderedBy(({ first }) => `${POSTS} 1 = 1 order by ${NAME} asc${first}, "title" desc`),
  ],
  [
    ({ post }) => post.findMany({ distinct: ["title"], orderBy: { author: { name: "desc" } } }),
    orderedBy(({ last }) =>
      `select "id", "author_id", "title" from (select "id", "author_id", "title", ${NAME} as "~0", ` +
      `${NUMBERED} ${NAME} desc${last}, "id" asc) as "~number" from "posts" where 1 = 1) ` +
      `as "~rows" where "~number" = 1 order by "~0" desc${last}, "id" asc`
    ),
  ],
];

testStatements("Repository orders rows by related rows by these statements", ORDERS);

/** A read, in which PostgreSQL needs the place of `null`. */
function orderedBy(read: (nulls: Readonly<Record<"first" | "last", string>>) => string): Expected {
  return {
    ...same([read({ first: "", last: "" })]),
    postgres: [[read({ first: " nulls first", last: " nulls last" })]],
  };
}

/** A write of posts, whose table MySQL cannot read in the condition. */
function target(
  { write, condition, values }: {
    readonly write: string;
    readonly condition: string;
    readonly values: readonly string[];
  },
): Expected {
  const found = `(select distinct "id" from "posts" where ${condition}) as "~rows"`;
  return {
    ...same([`${write} ${condition}`, ...values]),
    mysql: [[`${write} "id" in (select "id" from ${found})`, ...values]],
  };
}

/** A page of rows that are found by one condition on related rows; MySQL decides how. */
function pageOf({ condition, column, keys, found, value }: {
  readonly condition: string;
  readonly column: string;
  /** The values of the column that such rows have. */
  readonly keys: string;
  /** The rows that are counted. */
  readonly found: string;
  readonly value: string;
}): Expected {
  const half = (rows: string, isMany: number) =>
    `select * from (${rows} order by "id" asc limit case when (select case when count(*) > 1000 ` +
    `then 1 else 0 end as "many" from (${found} limit 1001) as "~found") = ${isMany} ` +
    'then cast(? as bigint) + cast(? as bigint) else 0 end) as "~found"';
  const closed = condition.replace(/\)$/, " limit 1 offset 0)");
  const read = (among: string): Noted => [
    'select "id", "author_id", "title" from (' +
    half(
      `select * from (${POSTS} ${condition} and "posts"."${column}" ${among} limit 1000) as "~found"`,
      0,
    ) +
    ` union all ${half(`${POSTS} ${closed}`, 1)}) as "~rows" order by "id" asc limit ? offset ?`,
    ...[value, value, value, 5, 2, value, value, 5, 2, 5, 2],
  ];
  return {
    sqlite: [read(`in (${keys})`)],
    postgres: [read(`= any(array((${keys})))`)],
    mysql: [[`${POSTS} ${condition} order by "id" asc limit ? offset ?`, value, 5, 2]],
  };
}
