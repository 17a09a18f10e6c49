import {
  type Expected,
  type Operation,
  READ,
  ROW,
  same,
  testStatements,
} from "../support/statements.ts";
import type { Noted } from "../support/noted.ts";

const INSERT = 'insert into "authors" ("email", "name", "active") values (?, ?, ?)';
const INSERT_KEY = 'insert into "authors" ("id", "email", "name", "active") values (?, ?, ?, ?)';
const passKey = (key: number) =>
  `do $fw$ declare s regclass := pg_get_serial_sequence('"authors"', 'id'); begin ` +
  "if s is null or not has_sequence_privilege(s, 'select, update') " +
  `or ${key} <= coalesce(pg_sequence_last_value(s), 0) then return; end if; ` +
  "perform pg_advisory_xact_lock(s::oid::int8); " +
  `if ${key} > coalesce(pg_sequence_last_value(s), 0) then perform setval(s, ${key}); end if; ` +
  "raise exception using errcode = 'FW001'; exception when sqlstate 'FW001' then null; end $fw$";
const TWO: Noted = [`${INSERT}, (?, ?, ?)`, "c", null, true, "d", null, false];
const records = (...rows: Record<string, unknown>[]): Noted => {
  const columns = Object.keys(rows[0] ?? {}).map((name) => `"${name}"`).join(", ");
  return [
    `insert into "authors" (${columns}) select ${columns} ` +
    'from jsonb_populate_recordset((select "~row" from "authors" "~row" limit 0), ?::text::jsonb)',
    JSON.stringify(rows),
  ];
};
const values = (columns: string, ...rows: unknown[][]): Noted => [
  `insert into "authors" (${columns.replaceAll(/\w+/g, '"$&"')}) values ?`,
  rows,
];
const GENERATED: Noted = ['"id" = last_insert_id()'];
const author = (email: string, active = true) => ({ email, name: null, active });
const KEYED: Noted = [INSERT_KEY, 20, "e", null, true];
const REMOVE = 'delete from "authors" where';
const MIXED: readonly Noted[] = [
  [INSERT, "i", null, true],
  [INSERT_KEY, 30, "j", null, true],
  [INSERT, "k", null, true],
];
const CREATE_KEYED = written([INSERT_KEY, 7, "b", "'", true], ['"id" = ?', 7]);

const WRITES: readonly Operation[] = [
  [
    ({ author }) => author.create({ data: { email: "a" } }),
    written([INSERT, "a", null, true], GENERATED),
  ],
  [
    ({ author }) => author.create({ data: { id: 7, email: "b", name: "'" } }),
    { ...CREATE_KEYED, postgres: [[passKey(7)], ...CREATE_KEYED.postgres] },
  ],
  [
    ({ author }) =>
      author.createMany({
        data: [{ email: "c" }, { email: "d", active: false }, { id: 20, email: "e" }],
      }),
    {
      sqlite: [["begin immediate"], TWO, KEYED, ["commit"]],
      postgres: [
        ["begin"],
        records(author("c"), author("d", false)),
        [passKey(20)],
        KEYED,
        ["commit"],
      ],
      mysql: [
        ["begin"],
        values("email, name, active", ["c", null, true], ["d", null, false]),
        KEYED,
        ["commit"],
      ],
    },
  ],
  [
    ({ author }) => author.createMany({ data: [{ email: "f" }] }),
    same([INSERT, "f", null, true]),
  ],
  [
    ({ author }) => author.scoped({ active: false }).create({ data: { email: "g", name: "%" } }),
    written([INSERT, "g", "%", false], GENERATED),
  ],
  [
    ({ author }) =>
      author.upsert({ where: { email: "a" }, create: { email: "a" }, update: { name: "m" } }),
    upserted([INSERT, "a", null, true, "m"], { set: '"name" = ?', scope: "1 = 1" }, [
      ["begin"],
      ['update "authors" set "name" = ? where "email" = ?', "m", "a"],
      [`${READ} "email" = ? for update`, "a"],
      ["commit"],
    ]),
  ],
  [
    ({ author }) => author.upsert({ where: { email: "h" }, create: { email: "h" }, update: {} }),
    {
      ...same(
        [`${READ} "email" = ?`, "h"],
        [`${INSERT} on conflict ("email") do nothing returning ${ROW}`, "h", null, true],
      ),
      mysql: [
        [`${READ} "email" = ?`, "h"],
        ["begin"],
        [INSERT, "h", null, true],
        [`${READ} ${GENERATED[0]} for update`],
        ["commit"],
      ],
    },
  ],
  [
    ({ author }) => author.upsert({ where: { email: "h" }, create: { email: "h" }, update: {} }),
    same([`${READ} "email" = ?`, "h"]),
  ],
  [
    ({ author }) =>
      author.scoped({ active: true })
        .upsert({ where: { email: "h" }, create: { email: "h" }, update: { name: "n" } }),
    upserted([INSERT, "h", null, true, "n", true], {
      set: '"name" = ?',
      scope: '"authors"."active" = ?',
    }, [
      ["begin"],
      ['update "authors" set "name" = ? where ("active" = ? and "email" = ?)', "n", true, "h"],
      [`${READ} ("active" = ? and "email" = ?) for update`, true, "h"],
      ["commit"],
    ]),
  ],
  [
    ({ author }) => author.update({ where: { email: "a" }, data: { email: "A", name: null } }),
    {
      ...same([
        `update "authors" set "email" = ?, "name" = ? where "email" = ? returning ${ROW}`,
        "A",
        null,
        "a",
      ]),
      // It could not be found again by the updated column.
      mysql: [
        ["begin"],
        [`${READ} "email" = ? for update`, "a"],
        ['update "authors" set "email" = ?, "name" = ? where "id" = ?', "A", null, 1],
        [`${READ} "id" = ? for update`, 1],
        ["commit"],
      ],
    },
  ],
  [
    ({ author }) =>
      author.scoped({ active: true }).update({ where: { id: 1 }, data: { name: "x" } }),
    written(['update "authors" set "name" = ? where ("active" = ? and "id" = ?)', "x", true, 1], [
      '("active" = ? and "id" = ?)',
      true,
      1,
    ]),
  ],
  [
    ({ author }) => author.update({ where: { id: 1 }, data: {} }),
    same([`${READ} "id" = ?`, 1]),
  ],
  [
    ({ author }) => author.updateMany({ where: { id: { gt: 20 } }, data: { active: false } }),
    same(['update "authors" set "active" = ? where "id" > ?', false, 20]),
  ],
  [
    ({ author }) => author.scoped({ name: "n" }).updateMany({ all: true, data: { active: true } }),
    same(['update "authors" set "active" = ? where "name" == ?', true, "n"]),
  ],
  [
    ({ author }) => author.scoped({ active: false }).delete({ where: { id: 22 } }),
    {
      ...same([`${REMOVE} ("active" = ? and "id" = ?) returning ${ROW}`, false, 22]),
      mysql: [
        ["begin"],
        [`${READ} ("active" = ? and "id" = ?) for update`, false, 22],
        [`${REMOVE} ("active" = ? and "id" = ?)`, false, 22],
        ["commit"],
      ],
    },
  ],
  [
    ({ author }) => author.deleteMany({ where: { OR: [{ id: 8 }, { name: "'" }] } }),
    same([`${REMOVE} ("id" = ? or "name" = ?)`, 8, "'"]),
  ],
  [
    ({ author }) => author.scoped({ active: false }).deleteMany({ all: true }),
    same([`${REMOVE} "active" = ?`, false]),
  ],
  [({ post }) => post.createMany({ data: [] }), same()],
  [
    ({ post }) => post.createMany({ data: [{ author_id: 1, title: "t" }] }),
    same(['insert into "posts" ("author_id", "title") values (?, ?)', 1, "t"]),
  ],
  [
    ({ author }) =>
      author.createMany({ data: [{ email: "i" }, { id: 30, email: "j" }, { email: "k" }] }),
    {
      sqlite: [["begin immediate"], ...MIXED, ["commit"]],
      postgres: [
        ["begin"],
        MIXED[0]!,
        [passKey(30)],
        MIXED[1]!,
        MIXED[2]!,
        ["commit"],
      ],
      mysql: [["begin"], ...MIXED, ["commit"]],
    },
  ],
];

testStatements("Repository writes by these statements, with every value bound", WRITES);

/** A write that returns the row; on MySQL, it is read in the same transaction. */
function written([sql, ...values]: Noted, [where, ...keys]: Noted): Expected {
  const returning = same([`${sql} returning ${ROW}`, ...values]);
  const read: Noted = [`${READ} ${where} for update`, ...keys];
  return { ...returning, mysql: [["begin"], [sql, ...values], read, ["commit"]] };
}

/** An upsert that updates the row; on MySQL, without ON CONFLICT. */
function upserted(
  insert: Noted,
  { set, scope }: { readonly set: string; readonly scope: string },
  mysql: readonly Noted[],
): Expected {
  const [sql, ...values] = insert;
  const conflict = `on conflict ("email") do update set ${set} where ${scope} returning ${ROW}`;
  return { ...same([`${sql} ${conflict}`, ...values]), mysql };
}
