import assert from "node:assert/strict";
import { field, model } from "../../../../src/db/mod.ts";
import { testOnEach } from "../../support/database.ts";
import { Author, Post, Project } from "./diffed_project.ts";

testOnEach("diffSchema() writes the tables of new models, and what drops them", async ({ url }) => {
  const project = new Project(url);
  const { changes, losses, migrations } = await project.become({ author: Author, post: Post });
  assert.deepEqual(changes, ["create table authors", "create table posts"]);
  assert.deepEqual([losses, migrations.length], [[], 1]);
  assert.match(migrations[0]?.down ?? "", /^drop table .posts.;\ndrop table .authors.;\n$/);
  await project.rollBack(1);
});

testOnEach("diffSchema() keeps rows through changes and back", async ({ url }) => {
  const project = await Project.begin(
    url,
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
}, { slow: ["postgres"] });

testOnEach("diffSchema() compares the space in the values of an enum", async ({ url }) => {
  const project = new Project(url);
  const thing = (...values: readonly string[]) =>
    model("things", { id: field.integer().primaryKey(), state: field.enum(values) });
  await project.become({ thing: thing("x y", "z") });
  const { changes } = await project.become({ thing: thing("x  y", "z") });
  assert.deepEqual(changes, ["drop check of things.state", "add check of things.state"]);
  await project.run("insert into things (state) values ('x  y')");
});

testOnEach("diffSchema() changes a table that others refer to, and keeps their rows", async (
  { brand, url },
) => {
  const project = await Project.begin(
    url,
    "insert into authors (name) values ('Ada'), ('Bob')",
    "insert into posts (author_id, title) values (1, 'One')",
    "delete from authors where name = 'Bob'",
  );
  const Renamed = model("authors", {
    id: field.integer().primaryKey(),
    name: field.text({ min: 1 }).nullable(),
  });
  const { migrations } = await project.become({ author: Renamed, post: Post });
  const warning = /^-- If foreign keys are on, .* refer to authors\.\ndrop table "authors";$/m;
  for (const script of [migrations[0]?.up, migrations[0]?.down]) {
    assert.equal(warning.test(script ?? ""), brand === "sqlite");
  }
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
    const project = await Project.begin(
      url,
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
    const project = await Project.begin(
      url,
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
  { slow: ["postgres"] },
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

testOnEach("diffSchema() fills a new column from others of its row", async ({ url }) => {
  const project = new Project(url);
  await project.become({ author: Author });
  await project.run("insert into authors (name) values ('Ada'), ('Grace')");
  const Sized = model("authors", {
    id: field.integer().primaryKey(),
    title: field.text(),
    size: field.integer(),
  });
  const { migrations } = await project.become({ author: Sized }, {
    renames: ["authors.name:title"],
    fills: { "authors.size": "id * 10 + length(title)" },
  });
  const sizes = async () => (await project.rows("authors")).map(({ size }) => Number(size));
  assert.deepEqual(await sizes(), [13, 25]);
  await assert.rejects(project.run("insert into authors (title) values ('Eve')"));
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
}, { slow: ["postgres"] });
