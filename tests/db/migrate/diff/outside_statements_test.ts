/** What counts as a statement that acts outside its database. */
import assert from "node:assert/strict";
import { outsideStatementIn } from "../../../../src/db/migrate/diff/outside_statements.ts";
import type { ScriptBrand } from "../../../../src/db/migrate/script.ts";
import { test } from "../../../support/test.ts";

const others = new Set(["shop", "mysql"]);

/** Scripts that act outside, and how they are named. */
const OUTSIDE: Readonly<Record<ScriptBrand, Readonly<Record<string, string>>>> = {
  MySQL: {
    "-- a dump\nUSE `shop`;\ndrop table if exists `people`": "use",
    "/*!40000 DROP DATABASE IF EXISTS `shop`*/;": "drop database",
    "create /* a */ database /*!32312 IF NOT EXISTS*/ `shop`": "create database",
    "drop schema shop": "drop schema",
    "alter database shop character set utf8mb4": "alter database",
    "create table a (id int); update shop.accounts set cents = cents * 100": "shop.accounts",
    "update `SHOP` . `accounts` set cents = 1": "shop.accounts",
    'insert into "shop"."accounts" values (1)': "shop.accounts",
    "create table people (shop int, foreign key (a) references shop.a (id))": "shop.a",
    "insert into shop.shop select * from shop": "shop.shop",
    "drop table a, shop.b": "shop.b",
    "call shop.pay()": "shop.pay",
    "create trigger t before insert on people for each row begin set @a = 1; delete from shop.b; end":
      "shop.b",
    "create procedure p() drop user app": "drop user",
    "create user app identified by 'secret'": "create user",
    "alter user app@'%' identified by 'secret'": "alter user",
    "create or replace role app": "create or",
    "rename user a to b": "rename user",
    "grant all on *.* to app": "grant",
    "revoke all on *.* from app": "revoke",
    "set password for app = 'secret'": "set password",
    "set global max_connections = 5": "set global",
    "SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ 'abc:1'": "set global",
    "set @a = 1, @@persist.b := 2": "set a",
    "flush privileges": "flush privileges",
    "select 1 into outfile '/tmp/x'": "select into",
    "set @s = concat('drop database ', 'x'); prepare s from @s; execute s": "drop database",
    'prepare s from "delete from shop.people"; execute s': "shop.people",
  },
  PostgreSQL: {
    "create role app": "create role",
    "alter role app password 'secret'": "alter role",
    "drop user if exists app": "drop user",
    "alter system set wal_level = logical": "alter system",
    "create database shop": "create database",
    "alter database shop set search_path = a": "alter database",
    "comment on database shop is 'x'": "comment on",
    "grant admin to app": "grant",
    "revoke admin from app; grant select on people to app": "revoke",
    "grant connect on database shop to app": "grant",
    "reassign owned by a to b": "reassign owned",
    "create subscription s connection '' publication p": "create subscription",
    "create server s foreign data wrapper postgres_fdw": "create server",
    "copy people to program 'cat'": "copy",
    "copy (select 1) to '/tmp/x'": "copy",
    "do $$ begin if not exists (select from pg_roles) then create role app; end if; end $$":
      "create role",
    "do $a$ begin execute 'alter role app password ''x'''; end $a$": "alter role",
    "do 'begin drop role app; end'": "drop role",
    "do language plpgsql $b$ begin drop role app; end $b$": "drop role",
    "create function f() returns int as 'begin drop role app; return 1; end' language plpgsql":
      "drop role",
  },
  SQLite: {
    "create table a (id int); attach 'data.sqlite' as other": "attach",
    "ATTACH DATABASE 'data.sqlite' AS other": "attach",
    "vacuum into 'copy.sqlite'": "vacuum",
    "vacuum main into 'copy.sqlite'": "vacuum",
  },
};

/** Scripts that act on their database only. */
const INSIDE: Readonly<Record<ScriptBrand, readonly string[]>> = {
  MySQL: [
    "-- use shop;\ninsert into notes values ('use shop; drop database shop', \"shop.people\")",
    "alter table sessions drop user, add role text, drop role",
    "create table shop (id int); update shop join a on shop.id = a.id set shop.total = 1",
    "create view v as select `shop`.`id` AS `id` from `shop`",
    "select shop.id from shops shop; select shop.id from shops as shop",
    "select count(*) from information_schema.columns where table_schema = database()",
    "alter database character set utf8mb4",
    "/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */",
    "set @a = concat(@@global.sql_mode, 'x'), session foreign_key_checks = 0",
    "update t set `global` = 1, global = 2",
    "select case when a then reset else flush end from t use index (i)",
    "set @s = if(1, 'alter table people add a int', 'select 1'); prepare s from @s; execute s",
    "create trigger t before insert on people for each row set new.a = 1",
    "insert into a values (1.5, 'it\\'s')",
  ],
  PostgreSQL: [
    "copy courses (id, program) from stdin",
    "grant select on people to app; revoke all on schema public from public",
    "alter default privileges in schema a grant select on tables to app",
    "alter table members drop role; alter table members alter user set default 'x'",
    "create user mapping for app server s",
    "insert into notes values ('create role app', $$drop role app, or not$$)",
    "create trigger t before insert on people for each row execute function f()",
    "do $$ begin raise notice 'adding'; execute 'alter table a add b int'; end $$",
    "create extension if not exists citext; set role app; vacuum",
    "copy people from '/tmp/x'",
  ],
  SQLite: [
    "insert into notes values ('attach x as y'); vacuum",
    "create table t (attach text, [vacuum] text); select attach as a from t",
  ],
};

for (const brand of ["MySQL", "PostgreSQL", "SQLite"] as const) {
  test(`outsideStatementIn() finds what acts outside a database of ${brand}, and nothing else`, () => {
    for (const [script, expected] of Object.entries(OUTSIDE[brand])) {
      assert.equal(outsideStatementIn(script, { brand, others }), expected, script);
    }
    for (const script of INSIDE[brand]) {
      assert.equal(outsideStatementIn(script, { brand, others }), undefined, script);
    }
  });
}
