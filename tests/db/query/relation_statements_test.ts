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
const LINK = 'select 1 as "one" from "post_tags" where "post_tags"."post_id" = "posts"."id" and';
const TAG = 'select 1 as "one" from "tags" where "tags"."id" = "post_tags"."tag_id" and';

const FILTERS: readonly Operation[] = [
  [
    ({ author }) => author.findMany({ where: { posts: { some: { title: "t" } } } }),
    same([`${READ} exists (${OF_AUTHOR} "title" = ?)`, "t"]),
  ],
  [
    ({ author }) =>
      author.findMany({ where: { id: 1, posts: { none: {}, every: { title: { not: "t" } } } } }),
    same([
      `${READ} ("id" = ? and (not exists (${OF_AUTHOR} 1 = 1) and ` +
      `not exists (${OF_AUTHOR} ("title" != ?) is not true)))`,
      1,
      "t",
    ]),
  ],
  [
    ({ post }) => post.findMany({ where: { author: { name: "n", isNot: { active: false } } } }),
    same([
      `${POSTS} (not exists (${AUTHOR} "active" = ?) and exists (${AUTHOR} "name" = ?))`,
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
    same([`${POSTS} (exists (${LINK} exists (${TAG} "label" = ?)) and "title" = ?)`, "l", "t"]),
  ],
  [
    // The posts of the subquery and those around it have different names.
    ({ author }) =>
      author.scoped({ active: true }).findMany({
        where: { posts: { some: { author: { posts: { some: { title: "t" } } } } } },
      }),
    same([
      `${READ} ("active" = ? and exists (${OF_AUTHOR} exists (select 1 as "one" ` +
      'from "authors" as "~2" where "~2"."id" = "posts"."author_id" and ("active" = ? and ' +
      'exists (select 1 as "one" from "posts" as "~3" where "~3"."author_id" = "~2"."id" ' +
      'and "title" = ?)))))',
      true,
      true,
      "t",
    ]),
  ],
  [
    ({ author }) => author.deleteMany({ where: { posts: { some: { title: "t" } } } }),
    same([`delete from "authors" where exists (${OF_AUTHOR} "title" = ?)`, "t"]),
  ],
  [
    ({ post }) =>
      post.updateMany({
        where: { author: { posts: { some: { title: "t" } } } },
        data: { title: "u" },
      }),
    target(
      `exists (${AUTHOR} exists (select 1 as "one" from "posts" as "~2" ` +
        'where "~2"."author_id" = "authors"."id" and "title" = ?))',
    ),
  ],
];

testStatements("Repository finds related rows by these statements", FILTERS);

/** An update of posts, whose table MySQL cannot read in the condition. */
function target(condition: string): Expected {
  const update = (where: string) =>
    same([`update "posts" set "title" = ? where ${where}`, "u", "t"]);
  const found = `(select distinct "id" from "posts" where ${condition}) as "~rows"`;
  return { ...update(condition), mysql: update(`"id" in (select "id" from ${found})`).mysql };
}
