import assert from "node:assert/strict";
import { type Db, dbError, mistake, testDbOnEach, User } from "./support/database.ts";

const MINE = { id: 1, tenant_id: "mine", email: "me@example.org", name: "Me", active: true };
const OTHER = { id: 2, tenant_id: "other", email: "you@example.org", name: "You", active: true };

async function fillTenants(db: Db): Promise<void> {
  await db.user.create({ data: MINE });
  await db.user.create({ data: OTHER });
}

testDbOnEach("Repository.scoped() reads the rows of its scope, whatever is asked", async (db) => {
  await fillTenants(db);
  const users = db.user.scoped({ tenant_id: "mine" });
  const other = { tenant_id: "other" };
  for (
    const where of [
      {},
      { id: { gt: 0 } },
      { OR: [{ id: 1 }, { id: 2 }, other] },
      { OR: [other, {}] },
      { NOT: { tenant_id: "nobody" } },
      { NOT: { OR: [] } },
      { AND: [{ OR: [{}, other] }] },
      { tenant_id: { in: ["mine", "other"] } },
      { tenant_id: { not: "nobody" } },
    ]
  ) {
    assert.deepEqual(await users.findMany({ where }), [MINE], JSON.stringify(where));
    assert.equal(await users.count({ where }), 1);
  }
  for (const where of [other, { id: 2 }, { OR: [other, { id: 2 }] }, { NOT: { id: 1 } }]) {
    assert.deepEqual(await users.findMany({ where }), [], JSON.stringify(where));
    assert.equal(await users.findFirst({ where }), null);
    assert.equal(await users.count({ where }), 0);
    assert.equal(await users.exists({ where }), false);
  }
  assert.equal(await users.findUnique({ where: { id: 2 } }), null);
  assert.equal(await users.findUnique({ where: { email: OTHER.email } }), null);
  assert.equal(await users.findUnique({ where: User.email.equals(OTHER.email) }), null);
  assert.deepEqual(await users.findUnique({ where: { id: 1 } }), MINE);
});

testDbOnEach("Repository.scoped() writes the rows of its scope only", async (db) => {
  await fillTenants(db);
  const users = db.user.scoped({ tenant_id: "mine" });
  const missing = (verb: string) =>
    dbError("RowNotFound", `Cannot ${verb} users: there is no such row`);
  for (const where of [{ id: 2 }, { email: OTHER.email }, { id: 2, email: OTHER.email }]) {
    await assert.rejects(users.update({ where, data: { name: "taken" } }), missing("update"));
    await assert.rejects(users.update({ where, data: {} }), missing("update"));
    await assert.rejects(users.delete({ where }), missing("delete"));
  }
  const set = { name: "TypeError", message: "Cannot update users: the scope sets tenant_id" };
  for (const tenant_id of ["other", "mine", undefined, null]) {
    const data = { name: "x", tenant_id } as { name: string };
    await assert.rejects(users.update({ where: { id: 1 }, data }), set);
  }
  await assert.rejects(
    users.update({ where: { id: 1, tenant_id: "other" } as { id: number }, data: {} }),
    { name: "TypeError", message: "Cannot update users: tenant_id is not unique" },
  );
  assert.deepEqual(await db.user.findMany(), [MINE, OTHER]);
  const renamed = { ...MINE, name: "Still me" };
  assert.deepEqual(await users.update({ where: { id: 1 }, data: { name: "Still me" } }), renamed);
  assert.deepEqual(await users.delete({ where: { id: 1 } }), renamed);
  assert.deepEqual(await db.user.findMany(), [OTHER]);
});

testDbOnEach("Repository.scoped() creates rows in its scope only", async (db) => {
  await fillTenants(db);
  const users = db.user.scoped({ tenant_id: "mine" });
  const data = { email: "new@example.org", name: "New" };
  assert.deepEqual(await users.create({ data }), {
    id: 3,
    tenant_id: "mine",
    ...data,
    active: true,
  });
  for (const tenant_id of ["other", "mine", undefined, null]) {
    await assert.rejects(users.create({ data: { ...data, tenant_id } as typeof data }), {
      name: "TypeError",
      message: "Cannot create users: the scope sets tenant_id",
    });
  }
  assert.equal(await db.user.count(), 3);
});

testDbOnEach("Repository.scoped() narrows a scope and never replaces it", async (db) => {
  await fillTenants(db);
  const mine = db.user.scoped({ tenant_id: "mine" });
  assert.deepEqual(await mine.scoped({ active: true }).findMany(), [MINE]);
  assert.deepEqual(await mine.scoped({ active: false }).findMany(), []);
  assert.deepEqual(await mine.findMany(), [MINE]);
  const scoped = mine.scoped.bind(mine) as (values: unknown) => unknown;
  const table: readonly (readonly [unknown, string])[] = [
    [{ tenant_id: "other" }, "tenant_id is scoped already"],
    [{}, "no column is given"],
    [{ name: undefined }, "name takes a string, not undefined"],
    [{ name: null }, "name takes a string, not null"],
    [{ name: { not: "" } }, "name takes a string, not object"],
    [{ nope: 1 }, 'there is no column "nope"'],
  ];
  for (const [values, reason] of table) {
    assert.throws(() => scoped(values), mistake(`Cannot scope users: ${reason}`));
  }
});

testDbOnEach("Repository.scoped() keeps to its scope when its values change later", async (db) => {
  await fillTenants(db);
  const values = { tenant_id: "mine" };
  const users = db.user.scoped(values);
  values.tenant_id = "other";
  assert.deepEqual(await users.findMany(), [MINE]);
});
