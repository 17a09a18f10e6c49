import type { Brand } from "../support/database.ts";
import type { Noted } from "../support/noted.ts";
import { type Expected, type Operation, READ, testStatements } from "../support/statements.ts";

const POST = '"id", "author_id", "title"';

const WRITES: readonly Operation[] = [
  [
    ({ post }) => post.create({ data: { title: "t", author: { connect: { email: "a" } } } }),
    whole((end) => [`${READ} "email" = ?${end.share}`, "a"], "t"),
  ],
  [
    ({ author }) =>
      author.update({ where: { id: 1 }, data: { posts: { create: [{ title: "u" }] } } }),
    whole((end) => [`${READ} "id" = ?${end.update}`, 1], "u"),
  ],
];

testStatements("Repository writes related rows by these statements", WRITES, {
  fill: ({ author }) => author.create({ data: { email: "a" } }),
});

/** How a read ends that locks its rows. */
interface Locks {
  readonly share: string;
  readonly update: string;
}

/** A transaction of a read, and of the insertion of a post of the row. */
function whole(read: (locks: Locks) => Noted, title: string): Expected {
  const insert = 'insert into "posts" ("author_id", "title") values (?, ?)';
  const statements = (brand: Brand, locks: Locks): readonly Noted[] => [
    [brand === "sqlite" ? "begin immediate" : "begin"],
    read(locks),
    ...brand === "mysql"
      ? [
        [insert, 1, title] as const,
        [`select ${POST} from "posts" where "id" = last_insert_id() for update`] as const,
      ]
      : [[`${insert} returning ${POST}`, 1, title] as const],
    ["commit"],
  ];
  return {
    sqlite: statements("sqlite", { share: "", update: "" }),
    postgres: statements("postgres", { share: "", update: " for update" }),
    mysql: statements("mysql", { share: " lock in share mode", update: " for update" }),
  };
}
