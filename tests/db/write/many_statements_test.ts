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
const COUNT = "(@fw_refused := @fw_refused + 1)";
const REFUSE = ` on duplicate key update "email" = if(false or ${COUNT}, "authors"."email", ` +
  '"authors"."email")';
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
    ({ author }) =>
      author.upsertMany({ by: "email", ...created("c", "e"), update: ["name", "active"] }),
    {
      sqlite: [adding(values("c", "e"), conflict("1 = 1"))],
      postgres: [adding(records("c", "e"), conflict("1 = 1"))],
      mysql: whole(
        ["set @fw_refused = 0"],
        adding(lists("c", "e"), overwrite("1 = 1")),
        ["select @fw_refused"],
      ),
    },
  ],
  [
    ({ author }) =>
      author.scoped({ active: true })
        .upsertMany({ by: "email", ...created("c", "f"), update: ["name"] }),
    {
      sqlite: [
        ["begin immediate"],
        adding(values("c", "f"), conflict('"authors"."active" = ?', ["name"]), true),
        ["commit"],
      ],
      postgres: whole(
        adding(records("c", "f"), conflict('"authors"."active" = ?', ["name"]), true),
      ),
      mysql: whole(
        ["set @fw_refused = 0"],
        adding(lists("c", "f"), overwrite('"authors"."active" = ?', ["name"]), true, true),
        ["select @fw_refused"],
      ),
    },
  ],
  [
    ({ author }) => author.updateManyAndReturn({ where: { email: "b" }, data: {} }),
    same([`${READ} "email" = ?`, "b"]),
  ],
];

testStatements("Repository writes many rows by these statements", WRITES);

function adding([sql, ...values]: Noted, clause: string, ...more: unknown[]): Noted {
  return [sql + clause, ...values, ...more];
}

function created(...emails: string[]) {
  return { create: data(...emails).data };
}

/** The clause of an upsert, in the scope of a condition. */
function conflict(scope: string, columns = ["name", "active"]): string {
  const set = columns.map((name) => `"${name}" = "excluded"."${name}"`).join(", ");
  return ` on conflict ("email") do update set ${set} where ${scope}`;
}

/** The clause of an upsert on MySQL, whose unique columns are all the same to it. */
function overwrite(scope: string, columns = ["name", "active"]): string {
  const accepted = `("authors"."email" = values("email") and ${scope})`;
  const set = columns.map((name) =>
    `"${name}" = if(${accepted}, values("${name}"), "authors"."${name}")`
  );
  return ` on duplicate key update "email" = if(${accepted} or ${COUNT}, "authors"."email", ` +
    `"authors"."email"), ${set.join(", ")}`;
}

function whole(...statements: readonly Noted[]): Expected["mysql"] {
  return [["begin"], ...statements, ["commit"]];
}
