import {
  type Expected,
  type Operation,
  READ,
  ROW,
  same,
  testStatements,
} from "../support/statements.ts";
import type { Noted } from "../support/noted.ts";

const INSERT = 'insert into "authors" ("email", "name", "active")';
const author = (email: string, name: string | null = null) => ({ email, name, active: true });
const values = (...emails: string[]): Noted => [
  `${INSERT} values ${emails.map(() => "(?, ?, ?)").join(", ")}`,
  ...emails.flatMap((email) => [email, null, true]),
];
const records = (...emails: string[]): Noted => [
  `${INSERT} select "email", "name", "active" ` +
  'from jsonb_populate_recordset((select "~row" from "authors" "~row" limit 0), ?::text::jsonb)',
  JSON.stringify(emails.map((email) => author(email))),
];
const lists = (...emails: string[]): Noted => [
  `${INSERT} values ?`,
  emails.map((email) => [email, null, true]),
];
const data = (...emails: string[]) => ({ data: emails.map((email) => ({ email })) });
const RETURNING = ` returning ${ROW}`;
const SKIP = " on conflict do nothing";
const REFUSE = ' on duplicate key update "id" = if(@fw_refused := @fw_refused + 1, ' +
  '"authors"."id", "authors"."id")';
const CREATED: Noted = [
  `${READ} "id" >= last_insert_id() and "id" < last_insert_id() + ? * @@auto_increment_increment ` +
  'and ("id" - last_insert_id()) % @@auto_increment_increment = 0',
  2,
];
const UPDATE = 'update "authors" set "name" = ? where';

const WRITES: readonly Operation[] = [
  [
    ({ author }) => author.createMany({ ...data("a", "b"), skipDuplicates: true }),
    {
      sqlite: [adding(values("a", "b"), SKIP)],
      postgres: [adding(records("a", "b"), SKIP)],
      mysql: whole(["set @fw_refused = 0"], adding(lists("a", "b"), REFUSE), [
        "select @fw_refused",
      ]),
    },
  ],
  [
    ({ author }) => author.createManyAndReturn(data("c", "d")),
    {
      sqlite: [adding(values("c", "d"), RETURNING)],
      postgres: [adding(records("c", "d"), RETURNING)],
      mysql: whole(lists("c", "d"), CREATED),
    },
  ],
  [
    ({ author }) =>
      author.scoped({ active: true }).updateManyAndReturn({
        where: { email: "b" },
        data: { name: "n" },
      }),
    {
      ...same([`${UPDATE} ("active" = ? and "email" = ?)${RETURNING}`, "n", true, "b"]),
      mysql: whole(
        [`${READ} ("active" = ? and "email" = ?) for update`, true, "b"],
        [`${UPDATE} "id" in (?)`, "n", 2],
        [`${READ} "id" in (?) for update`, 2],
      ),
    },
  ],
  [
    ({ author }) => author.updateManyAndReturn({ where: { email: "b" }, data: {} }),
    same([`${READ} "email" = ?`, "b"]),
  ],
];

testStatements("Repository writes many rows by these statements", WRITES);

function adding([sql, ...values]: Noted, clause: string): Noted {
  return [sql + clause, ...values];
}

function whole(...statements: readonly Noted[]): Expected["mysql"] {
  return [["begin"], ...statements, ["commit"]];
}
