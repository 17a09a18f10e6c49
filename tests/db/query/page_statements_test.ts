import type { Blog } from "../support/blog.ts";
import { compared, type Operation, READ, same, testStatements } from "../support/statements.ts";

const SELECT = READ.replace(" where", "");
const PAGE = "limit ?";
type Query = Parameters<Blog["author"]["page"]>[0];

/** Reads the first page, and the one after it. */
const two = (query: Query) => async ({ author }: Blog) => {
  const { next } = await author.page(query);
  await author.page({ ...query, cursor: next });
};

const READS: readonly Operation[] = [
  [
    two({ take: 1 }),
    same(
      [`${SELECT} where 1 = 1 order by "id" asc ${PAGE}`, 2],
      [`${SELECT} where (1 = 1 and "id" > ?) order by "id" asc ${PAGE}`, 1, 2],
    ),
  ],
  [
    two({ where: { active: true }, orderBy: { email: "desc" }, take: 1 }),
    compared(
      [
        `${SELECT} where (1 = 1 and "active" = ?) order by "email" desc, "id" desc ${PAGE}`,
        true,
        2,
      ],
      [
        `${SELECT} where (1 = 1 and "active" = ? and ("email", "id") < (?, ?)) ` +
        `order by "email" desc, "id" desc ${PAGE}`,
        ...[true, "c", 3, 2],
      ],
      [
        `${SELECT} where (1 = 1 and "active" = ? and ("email" < ? or ("email" = ? and ` +
        `"id" < ?))) order by "email" desc, "id" desc ${PAGE}`,
        ...[true, "c", "c", 3, 2],
      ],
    ),
  ],
  [
    ({ author }) => author.page({ orderBy: { email: "asc" }, take: 2, withTotal: true }),
    same(
      [`${SELECT} where 1 = 1 order by "email" asc, "id" asc ${PAGE}`, 3],
      ['select count(*) as "count" from "authors" where 1 = 1'],
    ),
  ],
  [
    // The last page shows how many there are.
    ({ author }) => author.page({ take: 2, skip: 2, withTotal: true }),
    same([`${SELECT} where 1 = 1 order by "id" asc ${PAGE} offset ?`, 3, 2]),
  ],
];

testStatements("Repository reads pages by these statements", READS, {
  fill: ({ author }) =>
    author.createMany({ data: [{ email: "a", name: "n" }, { email: "b" }, { email: "c" }] }),
});
