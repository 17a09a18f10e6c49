/** Names and types of a database that would be SQL or code if they were not quoted. */
import assert from "node:assert/strict";
import { DbOptions, field, introspectModels, model } from "../../../../src/db/mod.ts";
import { type Brand, testOnEach } from "../../support/database.ts";
import { Project } from "./diffed_project.ts";

const Victim = model("victims", { id: field.integer().primaryKey() });

/** Names that end a quotation, a statement or a comment, or mean something to `replaceAll`. */
const NAMES = ["$'", "$&x", 'quo"te', "back`tick", "a.b", "k not null", "*/ end", "semi;colon"];
const DROP = "drop table victims; --";

function statementsFor(brand: Brand): readonly string[] {
  const quote = (name: string) =>
    brand === "mysql" ? `\`${name.replaceAll("`", "``")}\`` : `"${name.replaceAll('"', '""')}"`;
  const text = brand === "mysql" ? "varchar(50)" : "text";
  const close = brand === "mysql" ? "`" : '"';
  const checked = NAMES.map((name) =>
    `${quote(name)} ${text} check (${quote(name)} in ('a${close}); ${DROP}', 'b'))`
  );
  return [
    `create table hostile (id integer not null primary key, ${checked.join(", ")},
      refers ${brand === "mysql" ? "bigint" : "integer"} references victims (id), unique (${
      quote("a.b")
    }))`,
    `create index ${quote("in.dex")} on hostile (${quote("$'")})`,
    `create table keyed (${quote("k not null")} ${text} not null primary key)`,
    ...brand === "postgres"
      ? [`create type "t.y""pe" as enum ('x')`, `create table typed (v "t.y""pe" default 'x')`]
      : [],
    ...brand === "mysql"
      ? [String.raw`create table typed (v enum('a'',''b', 'c\\', 'd') default 'd')`]
      : [],
    ...brand === "sqlite"
      ? [
        `create table typed (v "text); ${DROP}", w "text primary key", x "int/*", y varchar ( 5 ),
          z unsigned big int, t text collate nocase)`,
        'create table [br"ack;et] ([a"b] text check ([a"b] in (\'x\')), "c""d" text)',
        "create table computed (a text, b text as (a || ' stored ') virtual)",
        `create table later (a integer references victims (id) on delete cascade deferrable
          initially deferred, "b" integer references victims (id) not deferrable initially deferred,
          c text check (c in ('deferrable initially deferred', 'x')), [d] integer,
          foreign key ([d]) references victims (id) deferrable initially deferred)`,
        'create view odd as select * from [br"ack;et]',
      ]
      : [],
  ];
}

testOnEach("diffSchema() quotes names and types of tables that it drops and creates again", async (
  { url, brand },
) => {
  const project = await new Project(url);
  await project.become({ victim: Victim });
  project.migrations["0002_hostile"] = statementsFor(brand).join(";\n");
  const before = await project.diff({});
  const { migrations } = await project.become({ victim: Victim });
  await project.rollBack(migrations.length);
  await project.rows("victims");
  const again = await project.diff({}, { against: "database" });
  const scripts = (diff: typeof before) => diff.migrations.map(({ down }) => down);
  assert.deepEqual(scripts(again), scripts(before));
});

testOnEach("diffSchema() leaves tables of PostgreSQL whose names have a dot as they are", async (
  { url, brand },
) => {
  if (brand !== "postgres") return;
  const project = new Project(url);
  await project.run(
    "create schema audit",
    "create table audit.logs (id integer primary key)",
    `create table "audit.logs" (id integer primary key)`,
    `create table jobs (log integer references "audit.logs" (id))`,
  );
  const { changes, notCompared } = await project.diff({}, { against: "database" });
  assert.deepEqual(changes, ["drop table jobs"]);
  assert.deepEqual(notCompared, ["table audit.logs, whose name has a dot"]);
});

testOnEach("introspectModels() writes identifiers only, and each name once", async (
  { url, brand },
) => {
  const project = new Project(url);
  await project.run(
    `create table victims (id ${brand === "mysql" ? "bigint" : "integer"} primary key)`,
    ...statementsFor(brand),
    brand === "mysql" ? "create table `x.y` (id integer)" : `create table "x.y" (id integer)`,
  );
  if (brand === "postgres") {
    await project.run(
      `create schema "au""dit"`,
      `create table "au""dit".logs (id integer primary key)`,
      "create schema jobs",
      "create table jobs.done (id integer primary key)",
      "create table jobs_done (id integer primary key)",
      'create table jobs."1st" (id integer primary key)',
    );
  }
  const schemas = ["jobs", 'au"dit', "x') or true --"];
  const models = await introspectModels(
    DbOptions.fromUrl(url),
    brand === "postgres" ? { schemas } : {},
  );
  const names = models.map(({ name }) => name);
  assert.ok(names.includes("hostile"));
  for (const name of ["x_y", "y", "jobs_1st"]) assert.ok(!names.includes(name), name);
  assert.equal(new Set(names).size, names.length, names.join());
  for (const { name, fields } of models) {
    for (const word of [name, ...fields.map((it) => it.name)]) assert.match(word, /^\w+$/);
  }
  if (brand !== "postgres") return;
  const options = Object.fromEntries(models.map((it) => [it.name, it.options]));
  assert.equal(options["jobs_done"], "");
  assert.equal(options["jobs_done_2"], '{ table: "done", schema: "jobs" }');
});
