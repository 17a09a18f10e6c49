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

/** What the related rows have the values of. */
const KEYS_OF_AUTHORS =
  'select "posts"."author_id" as "~key" from "posts" where "posts"."title" = ?';
const TAGGED = 'select "post_tags"."post_id" as "~key" from "post_tags" inner join "tags" on ' +
  '"tags"."id" = "post_tags"."tag_id" where "tags"."label" = ?';
const OF_NAMED = 'select "authors"."id" as "~key" from "authors" where "authors"."name" = ?';
const FOUND_OF_NAMED = foundBy(OF_NAMED);
const OF_ACTIVE = 'exists (select 1 as "one" from "authors" as "~2" where "~2"."id" = ' +
  '"posts"."author_id" and ("~2"."active" = ? and exists (select 1 as "one" from "posts" as "~3" ' +
  'where "~3"."author_id" = "~2"."id" and "~3"."title" = ?)))';
const OF_TITLED =
  'select "authors"."id" as "~key" from "authors" where exists (select 1 as "one" ' +
  'from "posts" as "~2" where "~2"."author_id" = "authors"."id" and "~2"."title" = ?)';

const FILTERS: readonly Operation[] = [
  [
    ({ author }) => author.findMany({ where: { posts: { some: { title: "t" } } } }),
    drivenBy({ column: '"authors"."id"', keys: KEYS_OF_AUTHORS, values: ["t"] }, {
      read: READ,
      condition: `exists (${OF_AUTHOR} "posts"."title" = ?)`,
    }),
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
    drivenBy(
      {
        column: '"posts"."author_id"',
        keys: OF_NAMED,
        counted: FOUND_OF_NAMED,
        values: ["n"],
      },
      {
        read: POSTS,
        condition: `(not exists (${AUTHOR} "authors"."active" = ?) and ` +
          `exists (${AUTHOR} "authors"."name" = ?))`,
        values: [false, "n"],
      },
    ),
  ],
  [
    ({ post }) => post.findMany({ where: { OR: [{ author: null }, { author: { isNot: null } }] } }),
    same([`${POSTS} (not exists (${AUTHOR} 1 = 1) or exists (${AUTHOR} 1 = 1))`]),
  ],
  [
    ({ post }) => post.findMany({ where: { tags: { some: { label: "l" } }, title: "t" } }),
    drivenBy({ column: '"posts"."id"', keys: TAGGED, values: ["l"] }, {
      read: POSTS,
      condition: `(exists (${TAG} "tags"."label" = ?) and "title" = ?)`,
      values: ["l", "t"],
    }),
  ],
  [
    // The posts of the subquery and those around it have different names.
    ({ author }) =>
      author.scoped({ active: true }).findMany({
        where: { posts: { some: { author: { posts: { some: { title: "t" } } } } } },
      }),
    drivenBy(
      {
        column: '"authors"."id"',
        keys: `select "posts"."author_id" as "~key" from "posts" where ${OF_ACTIVE}`,
        values: [true, "t"],
      },
      {
        read: READ,
        condition: `("active" = ? and exists (${OF_AUTHOR} ${OF_ACTIVE}))`,
        values: [true, true, "t"],
      },
    ),
  ],
  [
    ({ author }) => author.deleteMany({ where: { posts: { some: { title: "t" } } } }),
    drivenBy({ column: '"authors"."id"', keys: KEYS_OF_AUTHORS, values: ["t"] }, {
      read: 'delete from "authors" where',
      condition: `exists (${OF_AUTHOR} "posts"."title" = ?)`,
    }),
  ],
  [
    ({ post }) =>
      post.updateMany({
        where: { author: { posts: { some: { title: "t" } } } },
        data: { title: "u" },
      }),
    {
      ...target({ write: UPDATE, condition: TITLED, values: ["u", "t"] }),
      sqlite: ofTitled({ read: UPDATE, before: ["u"] }),
    },
  ],
  [
    ({ post }) => post.deleteMany({ where: { author: { posts: { some: { title: "t" } } } } }),
    {
      ...target({ write: 'delete from "posts" where', condition: TITLED, values: ["t"] }),
      sqlite: ofTitled({ read: 'delete from "posts" where' }),
    },
  ],
  [
    ({ post }) =>
      post.updateManyAndReturn({
        where: { author: { posts: { some: { title: "t" } } } },
        data: { title: "u" },
      }),
    {
      ...same([`${UPDATE} ${TITLED} returning "id", "author_id", "title"`, "u", "t"]),
      sqlite: ofTitled({
        read: UPDATE,
        before: ["u"],
        after: ' returning "id", "author_id", "title"',
      }),
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

const PAGES: readonly Operation[] = [
  [
    ({ post }) => post.findMany({ where: { tags: { some: { label: "l" } } }, take: 5, skip: 2 }),
    pageOf({ condition: BY_TAG, column: "id", keys: TAGGED, value: "l" }),
  ],
  [
    ({ post }) => post.findMany({ where: { author: { name: "n" } }, take: 5, skip: 2 }),
    pageOf({
      condition: `exists (${AUTHOR} "authors"."name" = ?)`,
      column: "author_id",
      keys: OF_NAMED,
      counted: FOUND_OF_NAMED,
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
    same([`${READ} 1 = 1 order by ${COUNT} desc, "id" asc limit ?`, 5]),
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

/** How a condition on related rows finds rows. */
interface Driving {
  /** The column. */
  readonly column: string;
  /** The values of the column that such rows have. */
  readonly keys: string;
  /** The rows that are counted, if they are not the related ones. */
  readonly counted?: string;
  readonly values: readonly unknown[];
}

/** A statement with a condition. */
interface Conditional {
  readonly read: string;
  readonly condition: string;
  /** Its values, if they are not those of the keys. */
  readonly values?: readonly unknown[];
}

/** A statement whose rows SQLite finds from related ones: there are few. */
function drivenBy(driving: Driving, { read, condition, values = driving.values }: Conditional) {
  const { column, keys } = driving;
  return {
    ...same([`${read} ${condition}`, ...values]),
    sqlite: [
      countOf(driving, 10_001),
      [`${read} (${column} in (${keys}) and ${condition})`, ...driving.values, ...values],
    ],
  } satisfies Expected;
}

/** A statement of SQLite of the posts of authors who have posts of a title. */
function ofTitled({ read, before = [], after = "" }: {
  readonly read: string;
  readonly before?: readonly string[];
  readonly after?: string;
}): readonly Noted[] {
  const driving = { keys: OF_TITLED, counted: foundBy(OF_TITLED), values: ["t"] };
  const condition = `("posts"."author_id" in (${OF_TITLED}) and ${TITLED})`;
  return [
    countOf({ ...driving, column: "" }, 10_001),
    [`${read} ${condition}${after}`, ...before, "t", "t"],
  ];
}

/** The posts whose authors have keys. */
function foundBy(keys: string): string {
  return `select 1 as "one" from (${keys}) as "~keys" inner join "posts" ` +
    'on "~keys"."~key" = "posts"."author_id"';
}

/** Counts rows, up to a limit. */
function countOf({ keys, counted = keys, values }: Driving, limit: number): Noted {
  const found = `(${counted} limit ${limit}) as "~found"`;
  return [`select (select count(*) as "count" from ${found}) as "~0"`, ...values];
}

/** A page of few rows that are found by one condition on related rows; MySQL decides how. */
function pageOf({ condition, column, keys, counted = keys, value }: {
  readonly condition: string;
  readonly column: string;
  readonly keys: string;
  readonly counted?: string;
  readonly value: string;
}): Expected {
  const closed = condition.replace(/\)$/, " limit 1 offset 0)");
  const read = (among: string): readonly Noted[] => [
    countOf({ column, keys, counted, values: [value] }, 1001),
    [
      `select "id", "author_id", "title" from (${POSTS} ("posts"."${column}" ${among} and ` +
      `${closed}) limit 9007199254740991 offset 0) as "~found" ` +
      'order by "id" asc limit ? offset ?',
      ...[value, value, 5, 2],
    ],
  ];
  return {
    sqlite: read(`in (${keys})`),
    postgres: read(`= any(array((${keys})))`),
    mysql: [[`${POSTS} ${condition} order by "id" asc limit ? offset ?`, value, 5, 2]],
  };
}
