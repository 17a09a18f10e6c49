import type { Noted } from "../support/noted.ts";
import {
  type Expected,
  type Operation,
  READ,
  ROW,
  same,
  testStatements,
} from "../support/statements.ts";

const ALL = Number.MAX_SAFE_INTEGER;

const READS: readonly Operation[] = [
  [
    ({ author }) => author.findUnique({ where: { id: 1, email: { equals: "A" } } }),
    same([`${READ} ("id" = ? and "email" = ?)`, 1, "A"]),
  ],
  [
    ({ author }) => author.scoped({ name: "x", active: true }).findUnique({ where: { id: 1 } }),
    same([`${READ} ("name" == ? and "active" = ? and "id" = ?)`, "x", true, 1]),
  ],
  [
    ({ author }) => author.findFirst({ where: { active: true }, skip: 1 }),
    same([`${READ} "active" = ? order by "id" asc limit ? offset ?`, true, 1, 1]),
  ],
  [({ author }) => author.findMany(), same([`${READ} 1 = 1`])],
  [
    ({ author }) => author.findMany({ select: { name: true, id: true }, skip: 2 }),
    same([
      'select "id", "name" from "authors" where 1 = 1 order by "id" asc limit ? offset ?',
      ALL,
      2,
    ]),
  ],
  [
    ({ author }) => author.findMany({ orderBy: [{ name: "asc" }, { email: "desc" }] }),
    orderedBy('"name" asc, "email" desc', '"name" asc nulls first, "email" desc'),
  ],
  [
    ({ author }) => author.findMany({ orderBy: { name: "desc" } }),
    orderedBy('"name" desc', '"name" desc nulls last'),
  ],
  [
    ({ author }) => author.findMany({ distinct: ["active"], select: { email: true }, take: 3 }),
    same([
      'select "email" from (select "email", "id", ' +
      'row_number() over(partition by "active" order by "id" asc) as "~number" ' +
      'from "authors" where 1 = 1) as "~rows" where "~number" = 1 ' +
      'order by "id" asc limit ?',
      3,
    ]),
  ],
  [
    ({ author }) =>
      author.findMany({
        distinct: ["name", "active"],
        select: { name: true, active: true },
        orderBy: [{ active: "desc" }, { name: "asc" }, { id: "asc" }],
        take: 3,
      }),
    distinctBy('"active" desc, "name" asc', '"active" desc, "name" asc nulls first'),
  ],
  [
    // The order of names that are equal is that of the rows.
    ({ author }) =>
      author.findMany({
        distinct: ["active", "email"],
        select: { active: true, email: true },
        orderBy: { active: "asc" },
      }),
    same([
      'select "email", "active" from (select "email", "active", "id", ' +
      'row_number() over(partition by "active", "email" order by "active" asc, "id" asc) ' +
      'as "~number" from "authors" where 1 = 1) as "~rows" where "~number" = 1 ' +
      'order by "active" asc, "id" asc',
    ]),
  ],
  [
    ({ author }) => author.findMany({ where: { name: { contains: "5%_!" } } }),
    matching("%5!%!_!!%", ['instr("name", ?) > 0', "5%_!"]),
  ],
  [
    ({ author }) => author.findMany({ where: { name: { startsWith: "*" } } }),
    {
      ...matching("*%", ['("name" >= ? and substr("name", 1, length(?)) = ?)', "*", "*", "*"]),
      mysql: [[
        `${READ} ("name" like ? escape '!' and concat("name") like ? escape '!')`,
        "%",
        "*%",
      ]],
    },
  ],
  [
    ({ author }) => author.findMany({ where: { name: { endsWith: "'" } } }),
    matching("%'", ['substr("name", length("name") - length(?) + 1) = ?', "'", "'"]),
  ],
  [
    ({ author }) =>
      author.findMany({
        where: { name: { equals: "\u00c9A", mode: "insensitive" } },
        orderBy: { email: { sort: "desc", mode: "insensitive" } },
      }),
    inLowerCase("$name = ? order by $email desc", "\u00c9a"),
  ],
  [
    ({ author }) => author.findMany({ where: { name: { contains: "5%A", mode: "insensitive" } } }),
    {
      ...inLowerCase("$name like ? escape '!'", "%5!%a%"),
      postgres: [[`${READ} lower("name"::text collate "C")::text like ? escape '!'`, "%5!%a%"]],
      sqlite: [[`${READ} instr(lower("name"), ?) > 0`, "5%a"]],
    },
  ],
  [
    ({ author }) =>
      author.findMany({ where: { AND: [{ id: { in: [1, 2, 3] } }, { NOT: { id: { lte: 2 } } }] } }),
    {
      sqlite: [
        [`${READ} ("id" in (select value from json_each(?)) and not ("id" <= ?))`, "[1,2,3]", 2],
      ],
      postgres: [[`${READ} ("id" = any(?) and not ("id" <= ?))`, "{1,2,3}", 2]],
      mysql: [[`${READ} ("id" in (?, ?, ?, ?) and not ("id" <= ?))`, 1, 2, 3, 3, 2]],
    },
  ],
  [
    ({ author }) => author.findMany({ where: { email: { notIn: ['"\\', "b"] } } }),
    {
      sqlite: [
        [`${READ} "email" not in (select value from json_each(?))`, '["\\"\\\\","b"]'],
      ],
      postgres: [[`${READ} "email" <> all(?)`, '{"\\"\\\\","b"}']],
      mysql: [[`${READ} "email" not in (?, ?)`, '"\\', "b"]],
    },
  ],
  [
    ({ author }) => author.findMany({ where: { id: { in: [7] } } }),
    same([`${READ} "id" in (?)`, 7]),
  ],
  [
    ({ author }) => author.findMany({ where: { id: { in: [], notIn: [] }, AND: [], OR: [] } }),
    same([`${READ} ((1 = 0 and 1 = 1) and 1 = 1 and 1 = 0)`]),
  ],
  [
    ({ author }) =>
      author.findMany({ where: { name: { not: "x", isNull: false }, NOT: { name: null } } }),
    same([`${READ} (("name" != ? and "name" is not null) and not ("name" is null))`, "x"]),
  ],
  [
    ({ author }) => author.count({ where: { name: null, active: true } }),
    same([
      'select count(*) as "count" from "authors" where ("name" is null and "active" = ?)',
      true,
    ]),
  ],
  [
    ({ author }) => author.count({ distinct: ["name", "active"] }),
    same([
      'select count(*) as "count" from ' +
      '(select distinct "name", "active" from "authors" where 1 = 1) as "~rows"',
    ]),
  ],
  [
    ({ author }) => author.scoped({ active: true }).exists({ where: { id: { lt: 2 } } }),
    same(['select 1 as "found" from "authors" where ("active" = ? and "id" < ?) limit 1', true, 2]),
  ],
];

testStatements("Repository reads by these statements, with every value bound", READS);

/** A condition on text, whose SQL differs on each. */
function matching(pattern: string, [sqlite, ...texts]: Noted): Expected {
  return {
    ...same([`${READ} "name" like ? escape '!'`, pattern]),
    postgres: [[`${READ} "name"::text like ? escape '!'`, pattern]],
    sqlite: [[`${READ} ${sqlite}`, ...texts]],
  };
}

/** A condition and an order on `$name` in lower case. */
function inLowerCase(condition: string, ...values: string[]): Expected {
  const noted = (lower: string): Noted => [
    `${READ} ${condition.replaceAll(/\$(\w+)/g, lower)}`,
    ...values,
  ];
  return {
    sqlite: [noted('lower("$1")')],
    postgres: [noted('lower("$1"::text collate "C")')],
    mysql: [noted(
      'convert(cast(lower(convert(cast(convert("$1" using utf8mb4) as binary) using hebrew)) ' +
        `as binary) using utf8mb4) collate utf8mb4_nopad_bin`,
    )],
  };
}

/** An order, in which PostgreSQL needs the place of `null`. */
function orderedBy(order: string, nullsFirst: string): Expected {
  const read = `select ${ROW} from "authors" where 1 = 1 order by`;
  return { ...same([`${read} ${order}`]), postgres: [[`${read} ${nullsFirst}`]] };
}

/** Distinct rows in an order, in which PostgreSQL needs the place of `null`. */
function distinctBy(order: string, nullsFirst: string): Expected {
  const read = (by: string): Noted => [
    `select distinct "name", "active" from "authors" where 1 = 1 order by ${by} limit ?`,
    3,
  ];
  return { ...same(read(order)), postgres: [read(nullsFirst)] };
}
