import assert from "node:assert/strict";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { HttpException } from "../../../mod.ts";
import { DbError, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { dbError, testOnEach } from "../support/database.ts";

const Settings = v.object({
  theme: v.optional(v.picklist(["light", "dark"]), "light"),
  size: v.pipe(v.string(), v.transform(Number), v.number()),
  tags: v.optional(v.array(v.string())),
});
const User = model("users", {
  id: field.integer().primaryKey(),
  settings: field.json(Settings).default(() => ({ size: "10" })),
  plan: field.json(z.object({ seats: z.number().int() })).nullable(),
  place: field.json(type({ city: "string" })).default({ city: "Oslo" }),
});
class Db extends DbService.with({ user: User }) {}

async function open(url: string): Promise<Db> {
  const db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  return db;
}

testOnEach("JSON is stored as the output of its schema", async ({ url }) => {
  await using db = await open(url);
  const city = { city: "Oslo" };
  const first = { id: 1, settings: { theme: "light", size: 10 }, plan: null, place: city };
  assert.deepEqual(await db.user.create({ data: {} }), first);
  await db.user.createMany({
    data: [{ settings: { size: "2", theme: "dark", tags: ["a"] }, plan: { seats: 3 } }],
  });
  const second = { theme: "dark", size: 2, tags: ["a"] };
  assert.deepEqual(
    await db.user.findMany({ where: { settings: { path: ["size"], lt: 10 } } }),
    [{ id: 2, settings: second, plan: { seats: 3 }, place: city }],
  );
  const data = { settings: { size: "3" }, plan: null };
  const updated = { id: 2, settings: { theme: "light", size: 3 }, plan: null, place: city };
  assert.deepEqual(await db.user.update({ where: { id: 2 }, data }), updated);
  const create = { id: 3, settings: { size: "4" } };
  const upserted = await db.user.upsert({ where: { id: 3 }, create, update: data });
  assert.deepEqual(upserted.settings, { theme: "light", size: 4 });
  const again = await db.user.upsert({ where: { id: 3 }, create, update: data });
  assert.deepEqual(again.settings, { theme: "light", size: 3 });
  await db.user.upsertMany({ by: "id", create: [create], update: ["settings"] });
  assert.deepEqual((await db.user.findUnique({ where: { id: 3 } }))?.settings.size, 4);
});

testOnEach("a value that a schema refuses is not stored", async ({ url }) => {
  await using db = await open(url);
  const refused = (verb: string, place: string) => {
    const [name = ""] = place.split(".");
    const reason = `${place} does not satisfy the schema of ${name}`;
    return (error: unknown) => {
      dbError("CheckViolation", `Cannot ${verb} users: ${reason}`, [name])(error);
      assert.equal(HttpException.from(error).status, 422);
      return true;
    };
  };
  const secret = "secret@example.org";
  const wrong: readonly (readonly [object, string])[] = [
    [{ settings: { size: secret, tags: "a" } }, "settings.size"],
    [{ settings: { size: "1", tags: ["a", 1] } }, "settings.tags.1"],
    [{ settings: "text" }, "settings"],
    [{ plan: { seats: 1.5 } }, "plan.seats"],
    [{ place: {} }, "place.city"],
  ];
  for (const [data, place] of wrong) {
    await assert.rejects(db.user.create({ data }), refused("create", place));
    await assert.rejects(db.user.createMany({ data: [data] }), refused("create", place));
    await assert.rejects(
      db.user.update({ where: { id: 1 }, data }),
      refused("update", place),
    );
  }
  await assert.rejects(db.user.create({ data: { settings: { size: secret } } }), (error) => {
    assert.ok(error instanceof DbError && error.cause instanceof TypeError);
    assert.ok(!error.message.includes(secret));
    return true;
  });
  await assert.rejects(
    db.user.create({ data: { settings: null as never } }),
    dbError("NotNullViolation", "Cannot create users: the value of settings is missing", [
      "settings",
    ]),
  );
  assert.equal(await db.user.count(), 0);
});

testOnEach("an output that is not JSON is refused, and so is an asynchronous schema", async (
  { url },
) => {
  class Other extends DbService.with({
    user: model("users", {
      id: field.integer().primaryKey(),
      day: field.json(v.pipe(v.string(), v.transform((text) => new Date(text)))).nullable(),
      late: field.json(v.pipeAsync(v.string(), v.checkAsync(() => Promise.resolve(true))))
        .nullable(),
    }),
  }) {}
  await using db = await Other.open(DbOptions.fromUrl(url));
  await db.createTables();
  await assert.rejects(
    db.user.create({ data: { day: "2026-11-26" } }),
    dbError("CheckViolation", "Cannot create users: day takes JSON, not object", ["day"]),
  );
  await assert.rejects(db.user.create({ data: { late: "a" } }), {
    name: "TypeError",
    message: "Cannot create users: the schema of late is asynchronous",
  });
}, { brands: ["sqlite"] });
