import type { Blog } from "../support/blog.ts";
import type { Brand } from "../support/database.ts";
import type { Noted } from "../support/noted.ts";
import {
  type Expected,
  type Operation,
  READ,
  same,
  testStatements,
} from "../support/statements.ts";

const PAGE: Noted = [`${READ} "active" = ? order by "id" asc limit ?`, true, 2];

const LOCKS: readonly Operation[] = [
  [
    inside(({ author }) =>
      author.findMany({
        where: { active: true },
        orderBy: { id: "asc" },
        take: 2,
        lock: "update",
        skipLocked: true,
      })
    ),
    locked(PAGE, "for update skip locked"),
  ],
  [
    inside(({ author }) => author.findFirst({ where: { id: 1 }, lock: "update", noWait: true })),
    locked([`${READ} "id" = ? order by "id" asc limit ?`, 1, 1], "for update nowait"),
  ],
  [
    inside(({ author }) => author.findUnique({ where: { id: 1 }, lock: "update" })),
    locked([`${READ} "id" = ?`, 1], "for update"),
  ],
  [
    inside(({ author }) =>
      author.findUnique({ where: { id: 1 }, lock: "update", skipLocked: false, noWait: false })
    ),
    locked([`${READ} "id" = ?`, 1], "for update"),
  ],
  [
    inside(({ author }) => author.findUnique({ where: { id: 1 }, lock: "share" })),
    locked([`${READ} "id" = ?`, 1], ["for share", "lock in share mode"]),
  ],
  [
    // This is how MariaDB writes it; the test of the grammar has that of MySQL.
    inside(({ author }) => author.findMany({ lock: "share", skipLocked: true })),
    locked([`${READ} 1 = 1`], ["for share skip locked", "lock in share mode skip locked"]),
  ],
  [
    inside(({ author }) => author.findUnique({ where: { id: 1 } })),
    locked([`${READ} "id" = ?`, 1], ""),
  ],
  [
    inside((db) => db.author.scoped({ active: true }).findMany({ lock: "update" })),
    locked([`${READ} "active" = ?`, true], "for update"),
  ],
  [
    inside(({ author }) => author.findMany({ lock: "update", include: { posts: true } })),
    locked([`${READ} 1 = 1`], "for update", [[
      'select "author_id" as "~owner", "id", "author_id", "title" from "posts" ' +
      'where "author_id" in (?) and 1 = 1 order by "id" asc',
      7,
    ]]),
  ],
];

testStatements(
  "Repository locks the rows of the model by these statements",
  LOCKS,
  { fill: (db) => db.author.create({ data: { id: 7, email: "a" } }) },
);

function inside(run: (db: Blog) => Promise<unknown>): (db: Blog) => Promise<unknown> {
  return (db) => db.transaction(() => run(db));
}

/** A transaction with a read, at the end of which the servers have their clause. */
function locked(
  [sql, ...values]: Noted,
  clauses: string | readonly [ofPostgres: string, ofMysql: string],
  others: readonly Noted[] = [],
): Expected {
  const [ofPostgres, ofMysql] = typeof clauses === "string" ? [clauses, clauses] : clauses;
  const on = (brand: Brand, clause: string, begin = "begin"): readonly Noted[] => [
    [begin],
    ...same([`${sql} ${clause}`.trim(), ...values], ...others)[brand],
    ["commit"],
  ];
  return {
    sqlite: on("sqlite", "", "begin immediate"),
    postgres: on("postgres", ofPostgres),
    mysql: on("mysql", ofMysql),
  };
}
