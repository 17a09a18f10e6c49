import { HookedBlog } from "../support/blog.ts";
import type { Brand } from "../support/database.ts";
import type { Noted } from "../support/noted.ts";
import {
  type Expected,
  type Operation,
  READ,
  ROW,
  same,
  testStatements,
} from "../support/statements.ts";

const INSERT = 'insert into "authors" ("email", "name", "active") values (?, ?, ?)';
const GENERATED: Noted = [`${READ} "id" = last_insert_id() for update`];
const UPDATE = 'update "authors" set "name" = ? where';
const REMOVE = 'delete from "authors" where';
const BEGIN: Readonly<Record<Brand, string>> = {
  sqlite: "begin immediate",
  postgres: "begin",
  mysql: "begin",
};

const WRITES: readonly Operation[] = [
  [
    ({ author }) => author.create({ data: { email: "a" } }),
    whole({
      ...same([`${INSERT} returning ${ROW}`, "a", null, true]),
      mysql: [[INSERT, "a", null, true], GENERATED],
    }),
  ],
  [
    ({ author }) => author.update({ where: { email: "a" }, data: { name: "A" } }),
    whole({
      ...perLock((lock) => [
        [`${READ} "email" = ?${lock}`, "a"],
        [`${UPDATE} "id" = ? returning ${ROW}`, "A", 1],
      ]),
      mysql: [
        [`${READ} "email" = ? for update`, "a"],
        [`${UPDATE} "id" = ?`, "A", 1],
        [`${READ} "id" = ? for update`, 1],
      ],
    }),
  ],
  [({ author }) => author.update({ where: { id: 1 }, data: {} }), same([`${READ} "id" = ?`, 1])],
  [
    ({ author }) => author.updateMany({ where: { name: "A" }, data: { name: "B" } }),
    whole(perLock((lock) => [
      [`${READ} "name" = ?${lock}`, "A"],
      [`${UPDATE} "id" in (?)`, "B", 1],
      [`${READ} "id" in (?)${lock}`, 1],
    ])),
  ],
  [
    ({ author }) => author.updateMany({ where: { name: "nobody" }, data: { name: "B" } }),
    whole(perLock((lock) => [[`${READ} "name" = ?${lock}`, "nobody"]])),
  ],
  [
    ({ author }) =>
      author.upsert({ where: { email: "b" }, create: { email: "b" }, update: { name: "m" } }),
    {
      sqlite: upserted("sqlite"),
      postgres: upserted("postgres"),
      mysql: [
        ["begin"],
        [`${READ} "email" = ? for update`, "b"],
        ["commit"],
        ["begin"],
        [INSERT, "b", null, true],
        GENERATED,
        ["commit"],
      ],
    },
  ],
  [
    ({ author }) => author.scoped({ active: true }).delete({ where: { id: 1 } }),
    whole({
      ...same([`${REMOVE} ("active" = ? and "id" = ?) returning ${ROW}`, true, 1]),
      mysql: [
        [`${READ} ("active" = ? and "id" = ?) for update`, true, 1],
        [`${REMOVE} ("active" = ? and "id" = ?)`, true, 1],
      ],
    }),
  ],
  [
    ({ author }) => author.deleteMany({ where: { name: null } }),
    whole(perLock((lock) => [[`${READ} "name" is null${lock}`], [`${REMOVE} "id" in (?)`, 2]])),
  ],
];

testStatements("Repository writes rows with hooks by these statements", WRITES, {
  Service: HookedBlog,
});

/** The statements of a transaction. */
function whole(expected: Expected): Expected {
  const inside = (brand: Brand): readonly Noted[] => [
    [BEGIN[brand]],
    ...expected[brand],
    ["commit"],
  ];
  return { sqlite: inside("sqlite"), postgres: inside("postgres"), mysql: inside("mysql") };
}

/** Statements with the lock of each brand. */
function perLock(statements: (lock: string) => readonly Noted[]): Expected {
  return {
    sqlite: statements(""),
    postgres: statements(" for update"),
    mysql: statements(" for update"),
  };
}

function upserted(brand: "sqlite" | "postgres"): readonly Noted[] {
  return [
    [BEGIN[brand]],
    [`${READ} "email" = ?${brand === "sqlite" ? "" : " for update"}`, "b"],
    ["commit"],
    [BEGIN[brand]],
    [`${INSERT} on conflict ("email") do nothing returning ${ROW}`, "b", null, true],
    ["commit"],
  ];
}
