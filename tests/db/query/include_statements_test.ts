import type { Brand } from "../support/database.ts";
import type { Blog } from "../support/blog.ts";
import type { Noted } from "../support/noted.ts";
import {
  type Expected,
  type Operation,
  READ,
  ROW,
  same,
  testStatements,
} from "../support/statements.ts";

const POSTS = '"id", "author_id", "title"';
const TAGS = 'select "~owner", "id", "label" from';
const LINKS = '(select "post_id" as "~owner", "tag_id" as "~owned" from "post_tags" ' +
  'where "post_id" in (?)) as "~rows" inner join "tags" on "~rows"."~owned" = "tags"."id"';

const OWNERS = '(select "id" as "~owner" from "authors" where "id" in (?)) as "~owners"';

const INCLUDES: readonly Operation[] = [
  [
    ({ author }) => author.findMany({ where: { id: 1 }, include: { posts: true } }),
    same(
      [`${READ} "id" = ?`, 1],
      [
        `select "author_id" as "~owner", ${POSTS} from "posts" where "author_id" in (?) ` +
        'and 1 = 1 order by "id" asc',
        1,
      ],
    ),
  ],
  [
    ({ author }) =>
      author.scoped({ active: true }).findMany({
        where: { id: 1 },
        include: { posts: { where: { title: "t" }, orderBy: { title: "desc" }, take: 2, skip: 1 } },
      }),
    paged([`${READ} ("active" = ? and "id" = ?)`, true, 1], {
      sqlite: [
        `select "~owners"."~owner", ${POSTS} from ${OWNERS} inner join "posts" on "posts"."id" in ` +
        '(select "posts"."id" from "posts" where "author_id" = "~owners"."~owner" ' +
        'and "title" = ? order by "title" desc, "id" asc limit ? offset ?) ' +
        'order by "title" desc, "id" asc',
        ...[1, "t", 2, 1],
      ],
      postgres: [
        `select "~owner", ${POSTS} from ${OWNERS} cross join lateral ` +
        `(select ${POSTS} from "posts" where "author_id" = "~owners"."~owner" and "title" = ? ` +
        'order by "author_id" desc, "title" desc, "id" asc limit ? offset ?) as "~rows" ' +
        'order by "title" desc, "id" asc',
        ...[1, "t", 2, 1],
      ],
      mysql: [
        `(select "author_id" as "~owner", ${POSTS} from "posts" where "author_id" = ? ` +
        'and "title" = ? order by "title" desc, "id" asc limit ? offset ?)',
        ...[1, "t", 2, 1],
      ],
    }),
  ],
  [
    ({ post }) => post.findMany({ select: { title: true }, include: { author: true, tags: true } }),
    same(
      [`select ${POSTS} from "posts" where 1 = 1`],
      [
        `select "id" as "~owner", ${ROW} from "authors" where "id" in (?) and 1 = 1 ` +
        'order by "id" asc',
        1,
      ],
      [`${TAGS} ${LINKS} where 1 = 1 order by "id" asc`, 1],
    ),
  ],
  [
    ({ author }) =>
      author.scoped({ active: true }).findMany({
        select: { name: true },
        include: { _count: { posts: { where: { title: "t", tags: { none: {} } } } } },
      }),
    same(
      ['select "id", "name" from "authors" where "active" = ?', true],
      [
        'select "author_id" as "~owner", count(*) as "count" from "posts" ' +
        'where "author_id" in (?) and ("title" = ? and not exists (select 1 as "one" ' +
        'from "post_tags" inner join "tags" on "tags"."id" = "post_tags"."tag_id" ' +
        'where "post_tags"."post_id" = "posts"."id" and 1 = 1)) ' +
        'group by "author_id"',
        1,
        "t",
      ],
    ),
  ],
  [
    ({ post }) => post.findMany({ include: { _count: { tags: true } } }),
    same(
      [`select ${POSTS} from "posts" where 1 = 1`],
      [
        `select "~owner", count(*) as "count" from ${LINKS} where 1 = 1 group by "~owner"`,
        1,
      ],
    ),
  ],
  [
    ({ post }) =>
      post.findMany({
        include: { tags: { select: { label: true }, take: 1, where: { label: { not: "x" } } } },
      }),
    paged([`select ${POSTS} from "posts" where 1 = 1`], {
      sqlite: [
        'select "~owners"."~owner", "label" from (select "id" as "~owner" from "posts" ' +
        'where "id" in (?)) as "~owners" inner join (select "post_id" as "~owner", ' +
        '"tag_id" as "~owned", "id" as "~link" from "post_tags") as "~links" on "~link" in ' +
        '(select "~link" from (select "post_id" as "~owner", "tag_id" as "~owned", ' +
        '"id" as "~link" from "post_tags" where "post_id" = "~owners"."~owner") as "~rows" ' +
        'inner join "tags" on "~rows"."~owned" = "tags"."id" where "label" != ? ' +
        'order by "id" asc limit ?) inner join "tags" ' +
        'on "~links"."~owned" = "tags"."id" order by "id" asc',
        ...[1, "x", 1],
      ],
      postgres: [
        'select "~owner", "label" from (select "id" as "~owner" from "posts" ' +
        'where "id" in (?)) as "~owners" cross join lateral (select "label", "id" from ' +
        '(select "post_id" as "~owner", "tag_id" as "~owned" from "post_tags" ' +
        'where "post_id" = "~owners"."~owner") as "~rows" inner join "tags" ' +
        'on "~rows"."~owned" = "tags"."id" where "label" != ? order by "id" asc ' +
        'limit ?) as "~rows" order by "id" asc',
        ...[1, "x", 1],
      ],
      mysql: [
        '(select "~owner", "label" from (select "post_id" as "~owner", "tag_id" as "~owned" ' +
        'from "post_tags" where "post_id" = ?) as "~rows" inner join "tags" ' +
        'on "~rows"."~owned" = "tags"."id" where "label" != ? order by "id" asc ' +
        "limit ?)",
        ...[1, "x", 1],
      ],
    }),
  ],
];

async function fill({ author, post }: Blog): Promise<void> {
  await author.create({ data: { email: "a" } });
  await post.create({ data: { author_id: 1, title: "t" } });
}

testStatements("Repository includes by these statements, with every value bound", INCLUDES, {
  fill,
});

/** A read, and then that of the first related rows of each, whose SQL differs. */
function paged(
  read: Noted,
  related: Readonly<Record<Brand, Noted>>,
): Expected {
  return {
    sqlite: [read, related.sqlite],
    postgres: [read, related.postgres],
    mysql: [read, related.mysql],
    mysqlItself: [read, related.postgres],
  };
}
