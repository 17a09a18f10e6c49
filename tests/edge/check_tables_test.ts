/** `checkTables()` in workerd, where D1 restricts the reading of its catalogue. */
import assert from "node:assert/strict";
import { test } from "../support/test.ts";
import { bundle } from "./bundle.ts";
import { Worker } from "./worker.ts";

const { code } = await bundle(`
import { D1Dialect } from "kysely-d1";
import { DbOptions, DbService, field, model } from "./src/db/mod.ts";

const id = field.integer().primaryKey();
const User = model("users", { id, email: field.text().unique() });
const Post = model("posts", { id, user: field.integer().references(User), text: field.text() });
const Other = model("posts", { id, user: field.integer().references(User), text: field.json() });

export default {
  async fetch(_, { DB: database }) {
    const open = () => DbOptions.fromDialect(new D1Dialect({ database })).open();
    const db = new DbService(await open(), { user: User, post: Post });
    await db.createTables();
    await db.checkTables();
    const tag = model("tags", { id });
    const other = new DbService(await open(), { post: Other, tag });
    return new Response(await other.checkTables().catch(({ message }) => message));
  },
};
`);

test("DbService.checkTables() reads the catalogue of D1", async () => {
  await using worker = await Worker.start(code, { databases: ["DB"] });
  assert.equal(
    await (await fetch(worker.url)).text(),
    "Cannot use tables: they differ from the models in 1 place\n  tags: the table is missing",
  );
});
