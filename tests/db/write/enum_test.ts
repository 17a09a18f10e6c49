import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { dbError, testOnEach } from "../support/database.ts";

const Post = model("posts", {
  id: field.integer().primaryKey(),
  state: field.enum(["draft", "published", "on hold"]).default("draft"),
  slug: field.enum(["a", "b"]).nullable().unique(),
});
class Db extends DbService.with({ post: Post }) {}

/** The same table without its check, as a migration may have made it. */
const Loose = model("posts", {
  id: field.integer().primaryKey(),
  state: field.text(),
  slug: field.text().nullable(),
});

testOnEach("an enum is written, found and ordered as text", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  const { post } = db;
  const first = { id: 1, state: "draft", slug: null } as const;
  assert.deepEqual(await post.create({ data: {} }), first);
  await post.createMany({ data: [{ state: "published", slug: "a" }, { state: "on hold" }] });
  assert.deepEqual(await post.findMany({ where: { state: { in: ["draft", "on hold"] } } }), [
    first,
    { id: 3, state: "on hold", slug: null },
  ]);
  const ordered = await post.findMany({ orderBy: { state: "desc" }, select: { state: true } });
  assert.deepEqual(ordered.map(({ state }) => state), ["published", "on hold", "draft"]);
  assert.deepEqual(await post.aggregate({ _min: { state: true }, _max: { slug: true } }), {
    _min: { state: "draft" },
    _max: { slug: "a" },
  });
  assert.equal((await post.findUnique({ where: { slug: "a" } }))?.id, 2);
  assert.equal(await post.scoped({ state: "on hold" }).count(), 1);
});

testOnEach("a value that is not in the list of an enum is refused", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  const state = "Draft" as "draft";
  const refused = (verb: string, reason = "one of draft, published, on hold") =>
    dbError("CheckViolation", `Cannot ${verb} posts: state takes ${reason}`, ["state"]);
  await assert.rejects(db.post.create({ data: { state } }), refused("create"));
  await assert.rejects(db.post.createMany({ data: [{ state }] }), refused("create"));
  await assert.rejects(db.post.findMany({ where: { state } }), refused("read"));
  await assert.rejects(
    db.post.findMany({ where: { state: { in: [state, "draft"] } } }),
    refused("read"),
  );
  await assert.rejects(
    db.post.findMany({ where: { state: { not: "draft|published" as "draft" } } }),
    refused("read"),
  );
  await assert.rejects(db.post.update({ where: { id: 1 }, data: { state } }), refused("update"));
  await assert.rejects(
    db.post.create({ data: { state: 1 as never } }),
    refused("create", "a string, not number"),
  );
  for (const operator of ["lt", "contains"]) {
    await assert.rejects(db.post.findMany({ where: { state: { [operator]: "draft" } } }), {
      name: "TypeError",
      message: `Cannot read posts: state takes no "${operator}" of string`,
    });
  }
  const raw = () => sql`insert into posts (state) values ('other')`.execute(db.kysely);
  await assert.rejects(raw, { name: "DbError", code: "CheckViolation" });
});

testOnEach("a stored value that is not in the list of an enum cannot be read", async ({ url }) => {
  await using loose = await DbService.with({ post: Loose }).open(DbOptions.fromUrl(url));
  await loose.createTables();
  await loose.post.createMany({ data: [{ state: "draft" }, { state: "other" }] });
  await using db = await DbService.with({
    post: model("posts", { id: field.integer().primaryKey(), state: field.enum(["draft"]) }),
  }).open(DbOptions.fromUrl(url));
  await db.checkTables();
  assert.deepEqual(await db.post.findUnique({ where: { id: 1 } }), { id: 1, state: "draft" });
  const unreadable = (name = "state") =>
    dbError("Database", `Cannot read posts.${name}: it is not a value of the enum`);
  await assert.rejects(db.post.findUnique({ where: { id: 2 } }), unreadable());
  await assert.rejects(db.post.findMany(), unreadable());
  await assert.rejects(db.post.aggregate({ _max: { state: true } }), unreadable("_max.state"));
});

testOnEach("an enum can be one of PostgreSQL", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  for (
    const statement of [
      "create type state as enum ('published', 'on hold', 'draft')",
      "create table posts (id bigserial primary key, state state not null, slug text unique)",
    ]
  ) await sql.raw(statement).execute(db.kysely);
  await db.checkTables();
  await db.post.createMany({ data: [{ slug: "a" }, { state: "published" }] });
  assert.equal(await db.post.count({ where: { state: { in: ["draft", "on hold"] } } }), 1);
  assert.equal(
    await db.post.scoped({ state: "draft" }).count({ where: { state: { not: "on hold" } } }),
    1,
  );
}, { brands: ["postgres"] });

test("field.enum() rejects values that types or SQL cannot represent", () => {
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [[], "it has no value, or one twice"],
    [["a", "b", "a"], "it has no value, or one twice"],
    [["a", ""], '"" is not a value'],
    [["a|b"], '"a|b" is not a value'],
    [["it's"], `"it's" is not a value`],
    [["a\\"], '"a\\\\" is not a value'],
    [["a\0"], '"a\\u0000" is not a value'],
    [["x".repeat(101)], `"${"x".repeat(101)}" is not a value`],
  ];
  for (const [values, reason] of wrong) {
    assert.throws(() => field.enum(values), {
      name: "TypeError",
      message: `Cannot define enum: ${reason}`,
    });
  }
  assert.throws(() => field.enum(["a"]).default("b" as "a"), {
    name: "TypeError",
    message: "Cannot set default: it is not of kind enum",
  });
});
