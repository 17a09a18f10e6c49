/** Migrations in workerd, where D1 keeps foreign keys on. */
import assert from "node:assert/strict";
import { test } from "../support/test.ts";
import { bundle } from "./bundle.ts";
import { Worker } from "./worker.ts";

const AUTHORS = "id integer primary key autoincrement, name text not null";
const POSTS = `id integer primary key autoincrement,
  author_id integer not null references authors (id) on delete cascade`;
/** As `fw db diff` creates a table again. */
const REBUILD = `
  create table fw_new_authors (${AUTHORS} check (length(name) <= 100)) strict;
  insert into fw_new_authors (id, name) select id, name from authors;
  drop table "authors";
  alter table fw_new_authors rename to "authors";`;
/** As the documentation of the edge does it. */
const MOVED = `
  create table moved_posts as select * from posts;
  drop table posts;
  ${REBUILD}
  create table posts (${POSTS}) strict;
  insert into posts (id, author_id) select id, author_id from moved_posts;
  drop table moved_posts;`;

const { code } = await bundle(`
import { D1Dialect } from "kysely-d1";
import { sql } from "kysely";
import { DbMigrations, DbOptions } from "./src/db/mod.ts";

export default {
  async fetch(request, { DB: database }) {
    const { migrations, statements = [], steps } = await request.json();
    const options = DbOptions.fromDialect(new D1Dialect({ database })).migrations(migrations);
    await using them = await DbMigrations.open(options);
    const failure = ({ message, cause }) => message + ": " + (cause?.message ?? "");
    const result = await (steps ? them.rollBack({ steps }) : them.migrate()).catch(failure);
    for (const statement of statements) await database.prepare(statement).run();
    const { results } = await database.prepare("select id, author_id from posts").all();
    return Response.json({ result, posts: results });
  },
};
`);

test("migrations drop no table of D1 that rows refer to", async () => {
  await using worker = await Worker.start(code, { databases: ["DB"] });
  const call = async (body: unknown) => {
    const response = await fetch(worker.url, { method: "POST", body: JSON.stringify(body) });
    return await response.json();
  };
  const first = {
    "1_tables": {
      up: `create table authors (${AUTHORS}) strict; create table posts (${POSTS}) strict`,
      down: "drop table if exists main.authors; drop table posts",
    },
    // Without rows, nothing is lost.
    "2_checked": { up: REBUILD, down: "select 1" },
  };
  const statements = [
    "insert into authors (name) values ('Ada')",
    "insert into posts (author_id) values (1), (1)",
  ];
  const posts = [{ id: 1, author_id: 1 }, { id: 2, author_id: 1 }];
  assert.deepEqual(await call({ migrations: first, statements }), {
    result: ["1_tables", "2_checked"],
    posts,
  });
  const reason = "Cannot run script: it drops authors while rows of posts refer to it, and this " +
    "database keeps foreign keys on, so that these rows may be deleted too; first copy posts to " +
    "a table without references, and drop it";
  const refused = { result: `Cannot migrate: 3_longer failed: ${reason}`, posts };
  const renamed = REBUILD.replace('drop table "authors"', "drop table old")
    .replace("drop", "alter table authors rename to [old]; drop");
  for (const script of [REBUILD, renamed]) {
    assert.deepEqual(await call({ migrations: { ...first, "3_longer": script } }), refused);
  }
  const migrations = { ...first, "3_longer": { up: MOVED, down: "select 1" } };
  assert.deepEqual(await call({ migrations }), { result: ["3_longer"], posts });
  assert.deepEqual(await call({ migrations, steps: 3 }), {
    result: `Cannot roll back: 1_tables failed: ${reason}`,
    posts,
  });
});
