import type { Brand } from "../support/database.ts";
import { type Expected, type Operation, same, testStatements } from "../support/statements.ts";

const FROM = 'from "posts"';
const sumOf = (column: string): Readonly<Record<Brand, string>> => ({
  sqlite: `case when count(${column}) > 0 then printf('%019d%010d', ` +
    `sum(${column} >> 32) + (sum(${column} & 4294967295) >> 32) + 4611686018427387904, ` +
    `sum(${column} & 4294967295) & 4294967295) end`,
  postgres: `sum(${column})`,
  mysql: `sum(${column})`,
});
const averageOf = (column: string): Readonly<Record<Brand, string>> => ({
  sqlite: `(sum(${column} >> 32) * 4294967296.0 + sum(${column} & 4294967295)) / ` +
    `count(${column}) / 1e0`,
  postgres: `(sum(${column}) * 1)::float8 / count(${column}) / 1e0`,
  mysql: `(sum(${column}) * 1 + 0e0) / count(${column}) / 1e0`,
});
const SUM = sumOf('"id"');
const AVERAGE = averageOf('"id"');

const HAS_ACTIVE = 'exists (select 1 as "one" from "authors" as "~2" ' +
  'where "~2"."id" = "posts"."author_id" and ("~2"."active" = ? and "~2"."active" = ?))';
const OF_ACTIVE = '("active" = ? and exists (select 1 as "one" from "posts" where ' +
  `"posts"."author_id" = "authors"."id" and ${HAS_ACTIVE}))`;
const KEYS = `select "posts"."author_id" as "~key" from "posts" where ${HAS_ACTIVE}`;

const READS: readonly Operation[] = [
  [
    ({ post }) =>
      post.aggregate({
        where: { title: "t" },
        _count: true,
        _sum: { id: true },
        _avg: { id: true },
      }),
    each((brand) => [
      'select "_count~_all", "_sum~id", "_avg~id" from (select count(*) as "_count~_all", ' +
      `${SUM[brand]} as "_sum~id", ${AVERAGE[brand]} as "_avg~id" ${FROM} where "title" = ?) ` +
      'as "~groups"',
      "t",
    ]),
  ],
  [
    ({ author }) => author.scoped({ active: true }).aggregate({ _max: { active: true, id: true } }),
    each((brand) => [
      'select "_max~active", "_max~id" from (select ' +
      `${brand === "postgres" ? "bool_or" : "max"}("active") as "_max~active", ` +
      'max("id") as "_max~id" from "authors" where "active" = ?) as "~groups"',
      true,
    ]),
  ],
  [
    ({ post }) =>
      post.groupBy({
        by: ["author_id"],
        where: { title: { gt: "a" } },
        having: { id: { _count: { gt: 1 }, _min: 5 } },
        orderBy: [{ _max: { title: "desc" } }, { author_id: "asc" }],
        take: 3,
        skip: 1,
        _count: { title: true },
      }),
    each((brand) => [
      'select "author_id", "_count~title" from (select "author_id", count("title") as ' +
      '"_count~title", count("id") as "_count~id", min("id") as "_min~id", ' +
      `max("title") as "_max~title" ${FROM} where "title" > ? group by "author_id") as "~groups" ` +
      'where ("_count~id" > ? and "_min~id" = ?) order by "_max~title" desc' +
      `${brand === "postgres" ? " nulls last" : ""}, "author_id" asc limit ? offset ?`,
      "a",
      1,
      5,
      3,
      1,
    ]),
  ],
  [
    ({ author }) =>
      author.scoped({ active: true }).groupBy({
        by: ["name"],
        where: { posts: { some: { author: { active: true } } } },
        having: { id: { _max: { gt: 2 } } },
      }),
    {
      ...same([...ofGroups(OF_ACTIVE), true, true, true, 2]),
      sqlite: [
        [
          `select (select count(*) as "count" from (${KEYS} limit 10001) as "~found") as "~0"`,
          true,
          true,
        ],
        [
          ...ofGroups(`("authors"."id" in (${KEYS}) and ${OF_ACTIVE})`),
          true,
          true,
          true,
          true,
          true,
          2,
        ],
      ],
    },
  ],
  [
    ({ post }) => post.groupBy({ by: ["author_id"] }),
    same([
      `select "author_id" from (select "author_id" ${FROM} where 1 = 1 group by "author_id") ` +
      'as "~groups"',
    ]),
  ],
];

testStatements("Repository aggregates by these statements", READS);

/** The groups of names of the authors that meet a condition. */
function ofGroups(condition: string): readonly [sql: string] {
  return [
    `select "name" from (select "name", max("id") as "_max~id" from "authors" where ${condition} ` +
    'group by "name") as "~groups" where "_max~id" > ?',
  ];
}

function each(statement: (brand: Brand) => Expected["mysql"][number]): Expected {
  return {
    sqlite: [statement("sqlite")],
    postgres: [statement("postgres")],
    mysql: [statement("mysql")],
  };
}
