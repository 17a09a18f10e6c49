import type { Blog } from "../support/blog.ts";
import {
  compared,
  type Expected,
  type Operation,
  READ,
  same,
  testStatements,
} from "../support/statements.ts";
import type { Noted } from "../support/noted.ts";

const SELECT = READ.replace(" where", "");
const PAGE = "limit ?";
const UNTITLED = 'not exists (select 1 as "one" from "posts" where ' +
  '"posts"."author_id" = "authors"."id" and "posts"."title" = ?)';
/** With one more statement for what comes after the last row. */
const all = async (rows: AsyncIterable<unknown>) => {
  for await (const _ of rows);
};

const READS: readonly Operation[] = [
  [
    ({ author }) => all(author.stream({ batchSize: 2 })),
    same(
      [`${SELECT} where 1 = 1 order by "id" asc ${PAGE}`, 2],
      [`${SELECT} where (1 = 1 and "id" > ?) order by "id" asc ${PAGE}`, 2, 2],
    ),
  ],
  [
    ({ author }) =>
      all(
        author.scoped({ active: true }).stream({
          where: { id: { gt: 1 } },
          orderBy: { email: "desc" },
          select: { name: true },
          batchSize: 1,
          skip: 1,
          take: 2,
        }),
      ),
    compared(
      [
        'select "id", "email", "name" from "authors" where ("active" = ? and "id" > ?) ' +
        `order by "email" desc, "id" asc ${PAGE} offset ?`,
        true,
        1,
        1,
        1,
      ],
      [
        'select "id", "email", "name" from "authors" where (("active" = ? and "id" > ?) and ' +
        '("email" <= ? and ("email" < ? or ("email" = ? and "id" > ?)))) ' +
        `order by "email" desc, "id" asc ${PAGE}`,
        true,
        1,
        "b",
        "b",
        "b",
        2,
        1,
      ],
      [
        'select "id", "email", "name" from "authors" where (("active" = ? and "id" > ?) and ' +
        '("email" < ? or ("email" = ? and "id" > ?))) ' +
        `order by "email" desc, "id" asc ${PAGE}`,
        ...[true, 1, "b", "b", 2, 1],
      ],
    ),
  ],
  [
    ({ author }) => all(author.stream({ orderBy: { email: "asc" }, batchSize: 3, take: 4 })),
    compared(
      [`${SELECT} where 1 = 1 order by "email" asc, "id" asc ${PAGE}`, 3],
      [
        `${SELECT} where (1 = 1 and ("email", "id") > (?, ?)) ` +
        `order by "email" asc, "id" asc ${PAGE}`,
        "c",
        3,
        1,
      ],
      [
        `${SELECT} where (1 = 1 and ("email" > ? or ("email" = ? and ` +
        `"id" > ?))) order by "email" asc, "id" asc ${PAGE}`,
        ...["c", "c", 3, 1],
      ],
    ),
  ],
  [
    ({ author }) => all(author.stream({ orderBy: { name: "desc" }, batchSize: 2 })),
    nullable(
      [`${SELECT} where 1 = 1 order by "name" desc, "id" asc ${PAGE}`, 2],
      [
        `${SELECT} where (1 = 1 and ("name" < ? or "name" is null or ("name" = ? and ` +
        `"id" > ?))) order by "name" desc, "id" asc ${PAGE}`,
        "n",
        "n",
        3,
        2,
      ],
    ),
  ],
  [
    ({ author }) => all(author.stream({ orderBy: { name: "asc" }, batchSize: 1, take: 2 })),
    nullable(
      [`${SELECT} where 1 = 1 order by "name" asc, "id" asc ${PAGE}`, 1],
      [
        `${SELECT} where (1 = 1 and ("name" is not null or ("name" is null and ` +
        `"id" > ?))) order by "name" asc, "id" asc ${PAGE}`,
        2,
        1,
      ],
    ),
  ],
  [
    ({ author }) =>
      all(author.stream({ where: { posts: { none: { title: "t" } } }, batchSize: 2 })),
    same(
      [`${SELECT} where ${UNTITLED} order by "id" asc ${PAGE}`, "t", 2],
      [`${SELECT} where (${UNTITLED} and "id" > ?) order by "id" asc ${PAGE}`, "t", 2, 2],
    ),
  ],
];

testStatements("Repository streams by these statements", READS, { fill });

async function fill({ author }: Blog): Promise<void> {
  await author.createMany({
    data: [{ email: "a", name: "n" }, { email: "b" }, { email: "c", name: "n" }],
  });
}

/** Where PostgreSQL must be asked to order `null` as the others do. */
function nullable(...statements: readonly Noted[]): Expected {
  const postgres = statements.map(([sql, ...values]): Noted => [
    sql.replace('"name" asc,', '"name" asc nulls first,')
      .replace('"name" desc,', '"name" desc nulls last,'),
    ...values,
  ]);
  return { ...same(...statements), postgres };
}
