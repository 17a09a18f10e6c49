import type { Noted } from "../support/noted.ts";
import { type Operation, same, testStatements } from "../support/statements.ts";

const TRANSACTIONS: readonly Operation[] = [
  [
    (db) => db.transaction(() => db.transaction(() => db.tag.count())),
    {
      ...same(...nested("begin")),
      sqlite: nested("begin immediate"),
    },
  ],
  [
    (db) => db.transaction(() => db.ping(), { isolation: "serializable" }),
    {
      sqlite: [["begin immediate"], ["select 1"], ["commit"]],
      postgres: [
        ["start transaction isolation level serializable"],
        ["select 1"],
        ["commit"],
      ],
      mysql: [
        ["set transaction isolation level serializable"],
        ["begin"],
        ["select 1"],
        ["commit"],
      ],
    },
  ],
];

testStatements("DbService.transaction() runs these statements", TRANSACTIONS);

function nested(begin: string): readonly Noted[] {
  const count = 'select count(*) as "count" from "tags" where 1 = 1';
  return [[begin], ["savepoint fw_1"], [count], ["release savepoint fw_1"], ["commit"]];
}
