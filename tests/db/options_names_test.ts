import assert from "node:assert/strict";
import { testDbOnEach } from "./support/database.ts";

testDbOnEach("Repository rejects unknown options, and missing options", async (db) => {
  await db.user.create({ data: { tenant_id: "a", email: "a", name: "Ada" } });
  const users = db.user as unknown as Readonly<
    Record<string, (options: unknown) => Promise<unknown>>
  >;
  const table: readonly (readonly [string, string, unknown, string])[] = [
    ["findMany", "read", { wher: { name: "x" } }, 'it takes no "wher"'],
    ["findMany", "read", { limit: 1 }, 'it takes no "limit"'],
    ["findFirst", "read", { take: 1 }, 'it takes no "take"'],
    ["findUnique", "read", { where: { id: 1 }, orderBy: { id: "asc" } }, 'it takes no "orderBy"'],
    ["count", "count", { were: {} }, 'it takes no "were"'],
    ["exists", "look up", { were: {} }, 'it takes no "were"'],
    ["create", "create", { values: {} }, 'it takes no "values"'],
    ["createMany", "create", { data: [], skip: true }, 'it takes no "skip"'],
    [
      "createManyAndReturn",
      "create",
      { data: [], skipDuplicates: true },
      'it takes no "skipDuplicates"',
    ],
    ["updateManyAndReturn", "update", { all: true, data: {}, take: 1 }, 'it takes no "take"'],
    ["upsertMany", "upsert", { by: "email", data: [] }, 'it takes no "data"'],
    ["aggregate", "aggregate", { _count: true, take: 1 }, 'it takes no "take"'],
    ["groupBy", "group", { by: ["name"], distinct: ["name"] }, 'it takes no "distinct"'],
    ["upsertMany", "upsert", undefined, "its options are not a plain object"],
    ["aggregate", "aggregate", undefined, "its options are not a plain object"],
    ["groupBy", "group", null, "its options are not a plain object"],
    ["update", "update", { where: { id: 1 }, set: {} }, 'it takes no "set"'],
    ["updateMany", "update", { where: { id: 1 }, data: {}, take: 1 }, 'it takes no "take"'],
    ["deleteMany", "delete", { where: { id: 1 }, take: 1 }, 'it takes no "take"'],
    ["delete", "delete", { id: 1 }, 'it takes no "id"'],
    ["deleteMany", "delete", undefined, "its options are not a plain object"],
    ["delete", "delete", undefined, "its options are not a plain object"],
    ["upsert", "upsert", null, "its options are not a plain object"],
    ["create", "create", undefined, "its options are not a plain object"],
    ["findMany", "read", "name = 'x'", "its options are not a plain object"],
  ];
  for (const [method, verb, options, reason] of table) {
    const run = async () => await users[method]?.call(db.user, options);
    await assert.rejects(run(), { name: "TypeError", message: `Cannot ${verb} users: ${reason}` });
  }
  assert.equal(await db.user.count(), 1);
});
