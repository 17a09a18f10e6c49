import assert from "node:assert/strict";
import { sql } from "kysely";
import {
  DbMigrations,
  DbOptions,
  DbService,
  diffSchema,
  field,
  type Migrations,
  model,
} from "../../../../src/db/mod.ts";
import type { Models } from "../../../../src/db/service.ts";
import type { SchemaDiffOptions } from "../../../../src/db/mod.ts";
import { type Brand, testOnEach } from "../../support/database.ts";
import { test } from "../../../support/test.ts";
import { administer, createDatabase, SERVERS } from "../../support/servers.ts";

const Author = model("authors", { id: field.integer().primaryKey(), name: field.text() });
const Post = model("posts", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references(Author, { onDelete: "cascade" }),
  title: field.text(),
  state: field.enum(["draft", "published"]).default("draft"),
});

/** A project: its models change, and each difference is a migration. */
class Project {
  readonly options: DbOptions;
  migrations: Record<string, Migrations[string]> = {};

  constructor(url: string) {
    this.options = DbOptions.fromUrl(url);
  }

  get current(): DbOptions {
    return Object.keys(this.migrations).length > 0
      ? this.options.migrations(this.migrations)
      : this.options;
  }

  diff(models: Models, how: SchemaDiffOptions = {}) {
    const none: Migrations = { "0000_none": "select 1" };
    const options = this.options.migrations({ ...none, ...this.migrations });
    return diffSchema(DbService.with(models), options, how);
  }

  /** Writes the migrations of models, runs them, and checks the tables. */
  async become(models: Models, how: SchemaDiffOptions = {}) {
    const diff = await this.diff(models, how);
    for (const { up, down } of diff.migrations) {
      const number = String(Object.keys(this.migrations).length + 1).padStart(4, "0");
      this.migrations[`${number}_change`] = { up, down };
    }
    await using db = await DbService.with(models).open(this.current);
    await db.checkTables();
    const { externalTables = [] } = how;
    assert.deepEqual((await this.diff(models, { externalTables })).changes, []);
    return diff;
  }

  async rollBack(steps: number): Promise<void> {
    await using migrations = await DbMigrations.open(this.current);
    await migrations.rollBack({ steps });
  }

  async rows(table: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    await using db = await DbService.with({}).open(this.options);
    const { rows } = await sql<Record<string, unknown>>`select * from ${
      sql.table(table)
    } order by 1`.execute(db.kysely);
    return rows.map((row) => ({ ...row }));
  }

  async run(...statements: readonly string[]): Promise<void> {
    await using db = await DbService.with({}).open(this.options);
    for (const statement of statements) await sql.raw(statement).execute(db.kysely);
  }
}

testOnEach("diffSchema() writes the tables of new models, and what drops them", async ({ url }) => {
  const project = new Project(url);
  const { changes, losses, migrations } = await project.become({ author: Author, post: Post });
  assert.deepEqual(changes, ["create table authors", "create table posts"]);
  assert.deepEqual([losses, migrations.length], [[], 1]);
  assert.match(migrations[0]?.down ?? "", /^drop table .posts.;\ndrop table .authors.;\n$/);
  await project.rollBack(1);
});

testOnEach("diffSchema() keeps rows through changes and back", async ({ url }) => {
  const project = new Project(url);
  await project.become({ author: Author, post: Post });
  await project.run(
    "insert into authors (name) values ('Ada'), ('Bob')",
    "insert into posts (author_id, title) values (1, 'One'), (2, 'Two')",
  );
  const before = await project.rows("posts");
  const Wider = model("posts", {
    id: field.integer().primaryKey(),
    author_id: field.integer().references(Author, { onDelete: "restrict" }),
    title: field.text({ max: 80 }).unique(),
    state: field.enum(["draft", "published", "gone"]).default("draft"),
    likes: field.integer({ min: 0 }).default(0),
    editor_id: field.integer().nullable().references(Author),
  }, { index: [["state", "title"]] });
  const { migrations, losses } = await project.become({ author: Author, post: Wider });
  assert.deepEqual(losses, []);
  const after = await project.rows("posts");
  assert.deepEqual(after, before.map((row) => ({ ...row, likes: 0, editor_id: null })));
  await project.rollBack(migrations.length);
  assert.deepEqual(await project.rows("posts"), before);
});

testOnEach("diffSchema() changes a table that others refer to, and keeps their rows", async (
  { url },
) => {
  const project = new Project(url);
  await project.become({ author: Author, post: Post });
  await project.run(
    "insert into authors (name) values ('Ada'), ('Bob')",
    "insert into posts (author_id, title) values (1, 'One')",
    "delete from authors where name = 'Bob'",
  );
  const Renamed = model("authors", {
    id: field.integer().primaryKey(),
    name: field.text({ min: 1 }).nullable(),
  });
  const { migrations } = await project.become({ author: Renamed, post: Post });
  assert.equal((await project.rows("posts")).length, 1);
  // A key that was used is not used again.
  await project.run("insert into authors (name) values ('Cid')");
  assert.deepEqual(await project.rows("authors"), [
    { id: 1, name: "Ada" },
    { id: 3, name: "Cid" },
  ]);
  await assert.rejects(project.run("insert into posts (author_id, title) values (9, 'None')"));
  await project.rollBack(migrations.length);
  assert.equal((await project.rows("posts")).length, 1);
});

testOnEach(
  "diffSchema() changes the kind of a key with that of its references",
  async ({ url }) => {
    const project = new Project(url);
    await project.become({ author: Author, post: Post });
    await project.run(
      "insert into authors (name) values ('Ada')",
      "insert into posts (author_id, title) values (1, 'One')",
    );
    const Coded = model("authors", { id: field.text().primaryKey(), name: field.text() });
    const Article = model("posts", {
      id: field.integer().primaryKey(),
      author_id: field.text().references(Coded, { onDelete: "cascade" }),
      title: field.text(),
      state: field.enum(["draft", "published"]).default("draft"),
    });
    const { losses, migrations } = await project.become({ author: Coded, post: Article });
    assert.deepEqual(losses, []);
    assert.deepEqual(await project.rows("authors"), [{ id: "1", name: "Ada" }]);
    const [post] = await project.rows("posts");
    assert.equal(post?.["author_id"], "1");
    await assert.rejects(project.run("insert into posts (author_id, title) values ('2', 'Two')"));
    await project.rollBack(migrations.length);
    await project.run("insert into authors (name) values ('Bob')");
    assert.deepEqual(await project.rows("authors"), [
      { id: 1, name: "Ada" },
      { id: 2, name: "Bob" },
    ]);
  },
);

testOnEach(
  "diffSchema() renames tables and columns, and keeps their rows",
  async ({ url }) => {
    const project = new Project(url);
    await project.become({ author: Author, post: Post });
    await project.run(
      "insert into authors (name) values ('Ada')",
      "insert into posts (author_id, title) values (1, 'One')",
    );
    const Writer = model("writers", { id: field.integer().primaryKey(), full_name: field.text() });
    const Text = model("posts", {
      id: field.integer().primaryKey(),
      writer_id: field.integer().references(Writer, { onDelete: "cascade" }),
      title: field.text(),
      state: field.enum(["draft", "published"]).default("draft"),
    });
    const models = { writer: Writer, post: Text };
    const plain = await project.diff(models);
    assert.deepEqual(plain.candidates, ["posts.author_id:writer_id"]);
    assert.ok(plain.losses.includes("drop table authors"));
    const renames = ["authors:writers", "authors.name:full_name", "posts.author_id:writer_id"];
    const { losses, migrations } = await project.become(models, { renames });
    assert.deepEqual(losses, []);
    assert.deepEqual(await project.rows("writers"), [{ id: 1, full_name: "Ada" }]);
    // The names of the parts are free again.
    const AuthorToo = model("authors", {
      id: field.integer().primaryKey(),
      name: field.text().unique(),
    });
    await project.become({ ...models, author: AuthorToo });
    await project.rollBack(migrations.length + 1);
    assert.deepEqual(await project.rows("authors"), [{ id: 1, name: "Ada" }]);
  },
);

testOnEach("diffSchema() fills new columns, and says which have no value", async ({ url }) => {
  const project = new Project(url);
  await project.become({ author: Author });
  await project.run("insert into authors (name) values ('Ada')");
  const Aged = model("authors", {
    id: field.integer().primaryKey(),
    name: field.text(),
    age: field.integer(),
  });
  const { unfilled, migrations: [migration] } = await project.diff({ author: Aged });
  assert.deepEqual(unfilled, ["authors.age"]);
  assert.match(migration?.up ?? "", /^-- This fails if a row has no value for authors\.age/);
  await assert.rejects(
    new Project(url).options.migrations({ ...project.migrations, "0002_age": migration! }).open(),
    /0002_age failed/,
  );
  await assert.rejects(project.diff({ author: Aged }, { fills: { "authors.name": "1" } }), {
    name: "TypeError",
    message: "Cannot fill authors.name: it is no column that rows need a value for",
  });
});

testOnEach("diffSchema() fills new columns of rows, and those that were null", async ({ url }) => {
  const project = new Project(url);
  const Nullable = model("authors", {
    id: field.integer().primaryKey(),
    name: field.text().nullable(),
  });
  await project.become({ author: Nullable });
  await project.run("insert into authors (name) values (null)");
  const Aged = model("authors", {
    id: field.integer().primaryKey(),
    name: field.text(),
    age: field.integer(),
  });
  const fills = { "authors.age": "20 + 1", "authors.name": "'nobody'" };
  const { unfilled, migrations } = await project.become({ author: Aged }, { fills });
  assert.deepEqual(unfilled, []);
  const [row] = await project.rows("authors");
  assert.deepEqual([row?.["name"], Number(row?.["age"])], ["nobody", 21]);
  await project.rollBack(migrations.length);
});

testOnEach("diffSchema() names what loses data", async ({ url }) => {
  const project = new Project(url);
  const Wide = model("authors", {
    id: field.integer().primaryKey(),
    name: field.text(),
    photo: field.blob().nullable(),
    old: field.text().nullable(),
  });
  await project.become({ author: Wide, post: model("notes", { id: field.uuid().primaryKey() }) });
  const Narrow = model("authors", {
    id: field.integer().primaryKey(),
    name: field.text(),
    photo: field.integer().nullable(),
  });
  const { losses } = await project.diff({ author: Narrow });
  assert.deepEqual(losses.map((text) => text.replace(/, whose .+/, "")), [
    "drop table notes",
    "drop column authors.photo",
    "drop column authors.old",
  ]);
  await project.become({ author: Narrow });
});

testOnEach("diffSchema() neither compares nor drops what models cannot declare", async (
  { url, brand },
) => {
  const project = new Project(url);
  const type = brand === "mysql" ? "varchar(50)" : "text";
  project.migrations["0001_hand"] = [
    `create table authors (id ${KEYS[brand]}, name ${type} not null, nick ${type},
      constraint names_differ check (name <> nick))`,
    "create view named as select name from authors where nick is null",
    "create table jobs (id integer)",
    brand === "mysql"
      ? "create index backwards on authors (name(3))"
      : "create index without_nick on authors (name) where nick is null",
    ...brand === "sqlite"
      ? [
        "create trigger calm after insert on authors begin update authors set nick = 'x' where nick = 'y'; end",
      ]
      : [],
  ].join(";\n") + ";";
  const Wide = model("authors", {
    id: field.integer().primaryKey(),
    name: field.text(),
    nick: field.text().nullable(),
    age: field.integer({ min: 1 }).nullable().unique(),
  });
  const { notCompared, migrations } = await project.become({ author: Wide }, {
    externalTables: ["job*"],
  });
  assert.ok(notCompared.includes("view named"));
  assert.ok(notCompared.includes("table jobs"));
  assert.ok(
    notCompared.some((text) => /names_differ|name <> nick/.test(text)),
    String(notCompared),
  );
  assert.ok(notCompared.some((text) => /^index (?:backwards|without_nick) of authors$/.test(text)));
  await project.run("insert into authors (name, nick) values ('Ada', 'y')");
  await assert.rejects(project.run("insert into authors (name, nick) values ('Bob', 'Bob')"));
  const [row] = await project.rows("named").then((rows) => [rows.length]);
  assert.equal(row, 0);
  if (brand === "sqlite") {
    assert.deepEqual((await project.rows("authors")).map((it) => (it as { nick: string }).nick), [
      "x",
    ]);
  }
  await project.rollBack(migrations.length);
});

testOnEach(
  "diffSchema() keeps triggers and views of SQLite, but for those of dropped tables",
  async (
    { url },
  ) => {
    const project = new Project(url);
    await project.become({ author: Author });
    const trigger = (table: string) =>
      `create trigger on_${table} after insert on ${table} begin delete from authors where name = 'x'; end`;
    project.migrations["0002_hand"] = [
      "create table jobs (id integer)",
      ...["authors", "jobs"].map(trigger),
      "create view named as select name from authors",
    ].join(";\n") + ";";
    const Checked = model("authors", {
      id: field.integer().primaryKey(),
      full_name: field.text({ min: 1 }),
    });
    await assert.rejects(
      project.diff({ author: Checked }, { renames: ["authors.name:full_name"] }),
      {
        name: "TypeError",
        message: "Cannot rename name: the migration also creates trigger on_authors of authors " +
          "again, whose SQL has that name; rename it in a migration before this one",
      },
    );
    const Writer = model("writers", {
      id: field.integer().primaryKey(),
      name: field.text({ min: 1 }),
    });
    await assert.rejects(
      project.diff({ author: Writer }, { renames: ["authors:writers"] }),
      /^TypeError: Cannot rename authors: /,
    );
    const Short = model("authors", {
      id: field.integer().primaryKey(),
      name: field.text({ max: 9 }),
    });
    await project.become({ author: Short });
    const parts = async () =>
      (await project.rows("sqlite_master")).map(({ name }) => String(name))
        .filter((name) => name.startsWith("on_") || name === "named");
    assert.deepEqual((await parts()).toSorted(), ["named", "on_authors"]);
    await project.rollBack(1);
    assert.deepEqual((await parts()).toSorted(), ["named", "on_authors", "on_jobs"]);
    await project.run("insert into authors (name) values ('x')");
    assert.deepEqual(await project.rows("named"), []);
  },
  { brands: ["sqlite"] },
);

testOnEach("diffSchema() drops tables that refer to each other, and creates them again", async (
  { url, brand },
) => {
  const project = new Project(url);
  const key = KEYS[brand];
  project.migrations["0001_hand"] = brand === "sqlite"
    ? `create table hens (id ${key}, egg bigint references eggs (id));
      create table eggs (id ${key}, hen bigint references hens (id));`
    : `create table hens (id ${key}, egg bigint);
      create table eggs (id ${key}, hen bigint, constraint laid foreign key (hen) references hens (id));
      alter table hens add constraint hatched foreign key (egg) references eggs (id);`;
  const { losses } = await project.become({ author: Author });
  assert.deepEqual(losses.toSorted(), ["drop table eggs", "drop table hens"]);
  await project.rollBack(1);
  for (const table of ["hens (egg)", "eggs (hen)"]) {
    await assert.rejects(project.run(`insert into ${table} values (9)`));
  }
});

testOnEach("diffSchema() compares with the tables of a database", async ({ url }) => {
  const project = new Project(url);
  await using db = await DbService.with({ author: Author }).open(project.options);
  await db.createTables();
  const same = await project.diff({ author: Author }, { against: "database" });
  assert.deepEqual([same.changes, same.migrations], [[], []]);
  const other = await project.diff({ author: Author, post: Post }, { against: "database" });
  assert.deepEqual(other.changes, ["create table posts"]);
  const missing = await project.diff({ author: Author });
  assert.deepEqual(missing.changes, ["create table authors"]);
});

testOnEach("diffSchema() knows the functions and schemas of the migrations", async ({ url }) => {
  const project = new Project(url);
  project.migrations["0001_code"] =
    "create function next_code() returns bigint language sql as 'select 7'; create schema audit;";
  const Log = model("logs", {
    id: field.integer().primaryKey(),
    code: field.integer().defaultSql("next_code()"),
  }, { schema: "audit" });
  const Wider = model("logs", {
    id: field.integer().primaryKey(),
    code: field.integer().defaultSql("next_code()"),
    next: field.integer().nullable().references("self").unique(),
  }, { schema: "audit", index: [["code", "next"]] });
  assert.deepEqual((await project.become({ log: Log })).changes, ["create table audit.logs"]);
  const { migrations } = await project.become({ log: Wider });
  assert.equal(migrations.length, 2);
  await project.run("insert into audit.logs (next) values (null)");
  await project.rollBack(3);
}, { brands: ["postgres"] });

testOnEach("diffSchema() renames a table of another schema, with its columns", async ({ url }) => {
  const project = new Project(url);
  const fields = { id: field.integer().primaryKey(), name: field.text().unique() };
  await project.become({ log: model("logs", fields, { schema: "audit" }) });
  await project.run("insert into audit.logs (name) values ('started')");
  const Record = model("records", fields, { schema: "audit" });
  const { candidates } = await project.diff({ record: Record });
  assert.deepEqual(candidates, ["audit.logs:audit.records"]);
  const { migrations } = await project.become({ record: Record }, { renames: candidates });
  const titled = { id: field.integer().primaryKey(), title: field.text().unique() };
  const Titled = model("entries", titled, { schema: "audit" });
  const { losses } = await project.become({ entry: Titled }, {
    renames: ["audit.records:audit.entries", "audit.records.name:title"],
  });
  assert.deepEqual(losses, []);
  assert.deepEqual(await project.rows("audit.entries"), [{ id: 1, title: "started" }]);
  await project.rollBack(migrations.length + 1);
  assert.equal((await project.rows("audit.logs")).length, 1);
  const other = model("others", { id: field.uuid().primaryKey() }, { schema: "audit" });
  const moved = { entry: model("entries", titled), other };
  assert.deepEqual((await project.diff(moved)).candidates, []);
  await assert.rejects(project.diff(moved, { renames: ["audit.entries:entries"] }), {
    name: "TypeError",
    message: "Cannot rename audit.entries: entries is of another schema",
  });
}, { brands: ["postgres"] });

// Not among the tests that run through a pooler, which does not know the role.
test(
  "diffSchema() needs no database of its own to compare with the tables of PostgreSQL",
  async () => {
    await using database = await createDatabase("postgres");
    const { url } = database;
    const role = `fw_role_${crypto.randomUUID().replaceAll("-", "")}`;
    const { pathname, host } = new URL(url);
    await administer("postgres", `create role ${role} login`);
    try {
      await administer("postgres", `grant create on database ${pathname.slice(1)} to ${role}`);
      const project = new Project(url);
      await project.become({ author: Author });
      await project.run(`alter table authors owner to ${role}`);
      const limited = new Project(`postgres://${role}@${host}${pathname}`);
      limited.migrations = project.migrations;
      await assert.rejects(limited.diff({ author: Author }), {
        name: "DbError",
        message: "Cannot create temporary database: permission denied to create database; " +
          "alter role NAME createdb allows it, and --against-database needs none",
      });
      const how = { against: "database" } as const;
      assert.deepEqual((await limited.diff({ author: Author }, how)).changes, []);
      const { changes } = await limited.diff({ author: Author, post: Post }, how);
      assert.deepEqual(changes, ["create table posts"]);
      await project.run(`drop owned by ${role} cascade`);
    } finally {
      await administer("postgres", `drop role ${role}`);
    }
  },
  { skip: SERVERS.postgres.skip },
);

const KEYS: Readonly<Record<Brand, string>> = {
  postgres: "bigint generated by default as identity primary key",
  mysql: "bigint auto_increment primary key",
  sqlite: "integer primary key",
};
