/** Scripts of SQLite that drop tables while foreign keys are on. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions, DbService } from "../../../src/db/mod.ts";
import { refuseCascades } from "../../../src/db/migrate/dropped_tables.ts";
import { test } from "../../support/test.ts";

const TABLES = [
  'create table "a""b" (id integer primary key)',
  'create table [some children] (id integer primary key, "of" references "a""b" on delete cascade)',
  "create table tree (id integer primary key, parent integer references tree on delete set null)",
  "create table empty (id integer primary key, tree_id integer references tree)",
  "create table plain (id integer primary key)",
  'insert into "a""b" values (1)',
  "insert into [some children] values (1, 1)",
  "insert into tree values (1, null), (2, 1)",
];

/** Scripts, and the table and the rows that the error names. */
const CASES: Readonly<Record<string, readonly [table: string, child: string] | undefined>> = {
  'drop table "a""b"': ['a"b', "some children"],
  'DROP TABLE IF EXISTS main."A""B"': ['a"b', "some children"],
  'alter table "a""b" rename to c; alter table c rename to `d`; drop table \'d\'': [
    'a"b',
    "some children",
  ],
  'drop table "some children"; drop table "a""b"': undefined,
  'alter table [some children] rename to e; drop table e; drop table "a""b"': undefined,
  'create table n (id integer); drop table "some children"; alter table n rename to "some children"; drop table "a""b"':
    ['a"b', "some children"],
  'drop table "some children"; create table if not exists "some children" (id integer); drop table "a""b"':
    ['a"b', "some children"],
  'create table n (id integer); drop table "some children"; drop table "a""b"': undefined,
  "drop table tree": ["tree", "tree"],
  "drop table empty; drop table if exists nothing; drop table plain": undefined,
  'alter table "a""b" rename column id to c; drop index i; drop view v': undefined,
  'insert into plain values (\'drop table "a""b"\'); -- drop table tree': undefined,
};

test("refuseCascades() names the first table that rows refer to when it is dropped", async () => {
  await using db = await DbService.with({}).open(DbOptions.fromUrl("sqlite::memory:"));
  for (const statement of TABLES) await sql.raw(statement).execute(db.kysely);
  const outcome = (script: string) =>
    refuseCascades(script, db.kysely).then(() => undefined, ({ name, message }) => {
      assert.equal(name, "TypeError");
      return /it drops (.+) while rows of (.+) refer to it/.exec(message)?.slice(1);
    });
  for (const [script, expected] of Object.entries(CASES)) {
    assert.deepEqual(await outcome(script), expected, script);
  }
  await sql`pragma foreign_keys = off`.execute(db.kysely);
  for (const script of Object.keys(CASES)) assert.equal(await outcome(script), undefined);
});
