/** Scripts of SQL are split at the semicolons that end statements. */
import assert from "node:assert/strict";
import { type ScriptBrand, splitScript } from "../../../src/db/migrate/script.ts";
import { test } from "../../support/test.ts";

/** Scripts, which are two statements each: the second is `select 2`. */
const FIRST: Readonly<Record<ScriptBrand, readonly string[]>> = {
  PostgreSQL: [
    "create table meetings (event text, begin timestamptz, procedure text)",
    "create function f(begin atomic) returns int language sql as $$select 1; select 1;$$",
    "create function f() returns int begin atomic select 1; end",
    "create or replace procedure p() begin atomic end",
    "create procedure p() begin atomic; select case when true then 1 end end; select 1; end",
    "create procedure p() begin atomic select begin as case from (select 1 as begin); end",
    "create rule r as on insert to notes do also (select 1; select 2)",
    "select ')', \"(\" /* ( */",
  ],
  SQLite: [
    "create table meetings (event text, begin text, trigger text)",
    "create view trigger as select event, begin from meetings",
    "create trigger t after insert on a begin select 1; end",
    "create temp trigger t after insert on a begin update b set end = 1; select (end); end",
    "create trigger t after insert on a begin select case when end then 1 else 2 end; end",
  ],
  MySQL: [
    "create table meetings (event text, begin datetime, `procedure` text)",
    "create view events as select event , begin from meetings",
    "create definer = a@localhost sql security definer view v as select function , begin from b",
    "create trigger t before insert on a for each row begin set @a = 1; end",
    "create definer = `a b`@'%' procedure p() begin begin select 1; end; select 1; end",
    "create definer = current_user() event e on schedule every 1 day do begin select 1; end",
    "create procedure p(in begin int) begin if true then select case 1 when 1 then 2 end; " +
    "end if; case 1 when 1 then select 1; end case; end",
  ],
};

for (const [brand, scripts] of Object.entries(FIRST)) {
  test(`splitScript() splits statements and routines of ${brand}`, () => {
    for (const script of scripts) {
      const statements = splitScript(`${script};\nselect 2;`, brand as ScriptBrand);
      assert.deepEqual(statements, [script, "select 2"]);
    }
  });
}

test("the time to read a script is proportional to its length", () => {
  const startMs = performance.now();
  for (const brand of ["PostgreSQL", "SQLite", "MySQL"] as const) {
    for (const text of ["[", "'", '"', "`", "/*", "$", "e'", "--", "#", "(", ")", "(;"]) {
      splitScript(text.repeat(50_000), brand);
    }
    splitScript(Array.from({ length: 20_000 }, (_, i) => `$a${i}$`).join(" "), brand);
    splitScript(`create trigger ${";".repeat(50_000)}`, brand);
    splitScript(`create function f() begin atomic ${";".repeat(10_000)}`, brand);
    splitScript(`create definer = ${"a ".repeat(50_000)};`, brand);
  }
  assert.ok(performance.now() - startMs < 15_000); // it was over a minute
}, { slow: true });
