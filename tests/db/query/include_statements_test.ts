import type { Blog } from "../support/blog.ts";
import { type Operation, READ, ROW, same, testStatements } from "../support/statements.ts";

const POSTS = '"id", "author_id", "title"';
const TAGS = 'select "~owner", "id", "label" from';
const LINKS = '(select "post_id" as "~owner", "tag_id" as "~owned" from "post_tags" ' +
  'where "post_id" in (?)) as "~rows" inner join "tags" on "~rows"."~owned" = "tags"."id"';

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
    same(
      [`${READ} ("active" = ? and "id" = ?)`, true, 1],
      [
        `select "~owner", ${POSTS} from (select "author_id" as "~owner", ${POSTS}, ` +
        'row_number() over(partition by "author_id" order by "title" desc, "id" asc) as "~number" ' +
        'from "posts" where "author_id" in (?) and "title" = ?) as "~numbered" ' +
        'where "~number" > ? and "~number" <= ? order by "~number"',
        ...[1, "t", 1, 3],
      ],
    ),
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
    ({ post }) => post.findMany({ include: { tags: { take: 1, where: { label: { not: "x" } } } } }),
    same([`select ${POSTS} from "posts" where 1 = 1`], [
      `${TAGS} (select "~owner", "id", "label", ` +
      'row_number() over(partition by "~owner" order by "id" asc) as "~number" ' +
      `from ${LINKS} where "label" != ?) as "~numbered" ` +
      'where "~number" > ? and "~number" <= ? order by "~number"',
      ...[1, "x", 0, 1],
    ]),
  ],
];

async function fill({ author, post }: Blog): Promise<void> {
  await author.create({ data: { email: "a" } });
  await post.create({ data: { author_id: 1, title: "t" } });
}

testStatements("Repository includes by these statements, with every value bound", INCLUDES, fill);
