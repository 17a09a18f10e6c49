import assert from "node:assert/strict";
import { DbOptions, DbService, field, model } from "../../src/db/mod.ts";
import { dbError, mistake, testDbOnEach, testOnEach } from "./support/database.ts";

const ADA = { tenant_id: "a", email: "ada@example.org", name: "Ada" };

testDbOnEach("Repository creates, finds, updates and deletes a row", async (db) => {
  const row = { id: 1, ...ADA, active: true };
  assert.deepEqual(await db.user.create({ data: ADA }), row);
  assert.deepEqual(await db.user.findUnique({ where: { id: 1 } }), row);
  assert.deepEqual(await db.user.findUnique({ where: { email: ADA.email } }), row);
  assert.deepEqual(await db.user.findUnique({ where: { id: 1, email: "other" } }), null);
  assert.deepEqual(await db.user.findFirst({ where: { name: "Ada" } }), row);
  assert.deepEqual(await db.user.findMany(), [row]);
  assert.equal(await db.user.count(), 1);
  assert.equal(await db.user.exists({ where: { name: "Ada" } }), true);

  const changed = { ...row, name: "Lovelace", active: false };
  const data = { name: "Lovelace", active: false };
  assert.deepEqual(await db.user.update({ where: { id: 1 }, data }), changed);
  assert.deepEqual(await db.user.findUnique({ where: { id: 1 } }), changed);

  assert.deepEqual(await db.user.delete({ where: { id: 1 } }), changed);
  assert.equal(await db.user.findUnique({ where: { id: 1 } }), null);
  assert.equal(await db.user.findFirst(), null);
  assert.equal(await db.user.count(), 0);
  assert.equal(await db.user.exists(), false);
});

testDbOnEach("Repository returns new plain objects", async (db) => {
  const first = await db.user.create({ data: ADA });
  first.name = "changed";
  const second = await db.user.findUnique({ where: { id: 1 } });
  assert.equal(second?.name, "Ada");
  assert.equal(Object.getPrototypeOf(second), Object.prototype);
});

testDbOnEach("Repository.update() and delete() touch one row only", async (db) => {
  for (const email of ["a", "b", "c"]) await db.user.create({ data: { ...ADA, email } });
  await db.user.update({ where: { id: 2 }, data: { name: "Bea" } });
  await db.user.delete({ where: { id: 3 } });
  assert.deepEqual((await db.user.findMany()).map(({ name }) => name), ["Ada", "Bea"]);
});

testDbOnEach(
  "Repository.update() and delete() of a missing row fail with RowNotFound",
  async (db) => {
    const where = { id: 7 };
    const missing = (verb: string) =>
      dbError("RowNotFound", `Cannot ${verb} users: there is no such row`);
    await assert.rejects(db.user.update({ where, data: { name: "x" } }), missing("update"));
    await assert.rejects(db.user.update({ where, data: {} }), missing("update"));
    await assert.rejects(db.user.delete({ where }), missing("delete"));
  },
);

testDbOnEach("Repository.update() without columns to set returns the unchanged row", async (db) => {
  const row = await db.user.create({ data: ADA });
  assert.deepEqual(await db.user.update({ where: { id: 1 }, data: {} }), row);
  const data = { name: undefined, active: undefined };
  assert.deepEqual(await db.user.update({ where: { id: 1 }, data }), row);
});

testDbOnEach(
  "Repository.create() gives each row a new id, even after the last row was deleted",
  async (db) => {
    const { id } = await db.user.create({ data: ADA });
    await db.user.delete({ where: { id } });
    assert.equal((await db.user.create({ data: ADA })).id, id + 1);
  },
);

testDbOnEach("Repository.create() takes an id, and undefined as not given", async (db) => {
  const data = { ...ADA, id: undefined, active: undefined };
  assert.deepEqual(await db.user.create({ data }), { id: 1, ...ADA, active: true });
  const other = { ...ADA, id: 40, email: "b", active: false };
  assert.deepEqual(await db.user.create({ data: other }), other);
});

class Counters extends DbService.with({
  counter: model("counter", { id: field.integer().primaryKey() }),
}) {}

testOnEach("Repository.create() makes a row of nothing but a generated key", async ({ url }) => {
  await using db = await Counters.open(DbOptions.fromUrl(url));
  await db.createTables();
  assert.deepEqual(await db.counter.create({ data: {} }), { id: 1 });
  assert.equal(await db.counter.createMany({ data: [{}, {}, { id: 9 }, {}] }), 4);
  assert.deepEqual(await db.counter.findMany({ orderBy: { id: "asc" } }), [
    { id: 1 },
    { id: 2 },
    { id: 3 },
    { id: 9 },
    { id: 10 },
  ]);
});

const NOTHING = {
  integer: null,
  bigint: null,
  text: null,
  boolean: null,
  real: null,
  decimal: null,
  json: null,
  timestamp: null,
  uuid: null,
  blob: null,
};

testDbOnEach("Repository keeps a value of each kind as it is", async (db) => {
  const rows = [
    { integer: 0, text: "", boolean: false, real: 0 },
    { integer: Number.MAX_SAFE_INTEGER, text: "quote ' \" ` ; -- /*", boolean: true, real: 0.1 },
    { integer: Number.MIN_SAFE_INTEGER, text: "%_*?[]\\", boolean: true, real: -1.5e308 },
    { integer: -1, text: "日本語 😀 e\u0301 \r\n\t\u202e", boolean: false, real: 5e-324 },
    { integer: 1, text: "x".repeat(100_000), boolean: false, real: 3 },
    { bigint: 2n ** 63n - 1n, decimal: "12345678901234.5678", json: "a string of JSON" },
    { bigint: -(2n ** 63n), decimal: "-0.0001", json: { "": [null, true, -1.5e300, "\\'\""] } },
    { bigint: 0n, decimal: "0.0000", json: [] },
    { json: { toJSON: 1, a: [{ toJSON: null }, { toJSON: { toJSON: "a" } }] } },
    { timestamp: new Date("1000-01-01T00:00:00.000Z"), blob: new Uint8Array() },
    { timestamp: new Date("2038-01-19T03:14:08.001Z"), blob: new Uint8Array(70_000).fill(39) },
    { timestamp: new Date("9999-12-31T23:59:59.999Z"), blob: new Uint8Array([0, 92, 255]) },
    { uuid: "00000000-0000-0000-0000-000000000000" },
    { uuid: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11" },
    NOTHING,
  ].map((row, index) => ({ ...NOTHING, ...row, select: `row ${String.fromCharCode(97 + index)}` }));
  for (const row of rows) {
    assert.deepEqual(await db.sample.create({ data: row }), row);
    assert.deepEqual(await db.sample.findUnique({ where: { select: row.select } }), row);
    const { select: _, ...data } = row;
    assert.deepEqual(await db.sample.update({ where: { select: row.select }, data }), row);
  }
  assert.deepEqual(await db.sample.findMany({ orderBy: { select: "asc" } }), rows);
});

testDbOnEach("Repository rejects values that not every database stores unchanged", async (db) => {
  const wrong = [
    ["integer", 2 ** 53],
    ["integer", 1.5],
    ["integer", NaN],
    ["real", Infinity],
    ["real", NaN],
    ["text", "admin\0"],
    ["text", "\ud800"],
    ["bigint", 2n ** 63n],
    ["decimal", "1.23456"],
    ["decimal", "123456789012345"],
    ["decimal", "1e3"],
    ["decimal", ""],
    ["timestamp", new Date(NaN)],
    ["timestamp", new Date("0999-12-31T23:59:59.999Z")],
    ["timestamp", new Date("+010000-01-01T00:00:00.000Z")],
    ["uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1"],
  ] as const;
  for (const [name, value] of wrong) {
    const refused = (verb: string) =>
      dbError("CheckViolation", `Cannot ${verb} order: the value of ${name} is not allowed`, [
        name,
      ]);
    await assert.rejects(
      db.sample.create({ data: { select: "a", [name]: value } }),
      refused("create"),
    );
    await assert.rejects(db.sample.count({ where: { [name]: value } }), refused("count"));
    await assert.rejects(
      db.sample.update({ where: { select: "a" }, data: { [name]: value } }),
      refused("update"),
    );
  }
  assert.equal(await db.sample.count(), 0);
});

testDbOnEach("Repository rejects values of another type with a CheckViolation", async (db) => {
  const wrong: readonly (readonly [string, unknown, string])[] = [
    ["integer", "1", "a number, not string"],
    ["integer", 1n, "a number, not bigint"],
    ["text", 1, "a string, not number"],
    ["text", { toString: () => "x" }, "a string, not object"],
    ["text", ["x"], "a string, not object"],
    ["boolean", 1, "a boolean, not number"],
    ["real", new Date(0), "a number, not object"],
    ["bigint", 1, "a bigint, not number"],
    ["decimal", 1.5, "a string, not number"],
    ["timestamp", "2026-01-01", "a Date, not string"],
    ["json", new Date(0), "JSON, not object"],
    ["json", [undefined], "JSON, not object"],
    ["json", { a: 1n }, "JSON, not object"],
    ["json", { a: { toJSON: () => 1 } }, "JSON, not object"],
    ["uuid", 1, "a string, not number"],
    ["blob", [1], "a Uint8Array, not object"],
  ];
  for (const [name, value, reason] of wrong) {
    await assert.rejects(
      db.sample.create({ data: { select: "a", [name]: value } as never }),
      mistake(`Cannot create order: ${name} takes ${reason}`),
    );
  }
});

testDbOnEach("Repository rejects null and missing values where a value is required", async (db) => {
  await db.user.create({ data: ADA });
  await assert.rejects(
    db.user.create({ data: { tenant_id: "a", email: null } as never }),
    dbError("NotNullViolation", "Cannot create users: the value of email, name is missing", [
      "email",
      "name",
    ]),
  );
  await assert.rejects(
    db.user.update({ where: { id: 1 }, data: { name: null } as never }),
    dbError("NotNullViolation", "Cannot update users: the value of name is missing", ["name"]),
  );
});

testDbOnEach("Repository rejects data other than columns of the model", async (db) => {
  await db.user.create({ data: ADA });
  const injected = 'name" = (select 1), "x';
  const wrong: readonly (readonly [unknown, string])[] = [
    [{ nope: 1 }, 'there is no column "nope"'],
    [{ nope: undefined }, 'there is no column "nope"'],
    [{ [injected]: "x" }, `there is no column ${JSON.stringify(injected)}`],
    [{ constructor: "x" }, 'there is no column "constructor"'],
    [JSON.parse('{"__proto__":{"name":"x"}}'), 'there is no column "__proto__"'],
    [null, "data is not a plain object"],
    [[], "data is not a plain object"],
    [new Map(), "data is not a plain object"],
    ["name", "data is not a plain object"],
  ];
  for (const [data, reason] of wrong) {
    const is = (verb: string) => mistake(`Cannot ${verb} users: ${reason}`);
    await assert.rejects(db.user.create({ data: data as never }), is("create"));
    await assert.rejects(db.user.update({ where: { id: 1 }, data: data as never }), is("update"));
  }
  await assert.rejects(db.user.update({ where: { id: 1 }, data: { id: 2 } as never }), {
    name: "TypeError",
    message: "Cannot update users: id is the primary key",
  });
  assert.deepEqual(await db.user.findMany(), [{ id: 1, ...ADA, active: true }]);
});

testDbOnEach("Repository.create() lets one of many racing rows have a unique value", async (db) => {
  const results = await Promise.allSettled(
    Array.from({ length: 50 }, () => db.user.create({ data: ADA })),
  );
  const errors = results.flatMap((it) => it.status === "rejected" ? [it.reason] : []);
  assert.equal(errors.length, 49);
  const taken = dbError(
    "UniqueViolation",
    "Cannot create users: the value of email is already taken",
    ["email"],
  );
  assert.ok(errors.every(taken));
  assert.equal(await db.user.count(), 1);
});

testDbOnEach("Repository.update() rejects a unique value of another row", async (db) => {
  await db.user.create({ data: ADA });
  await db.user.create({ data: { ...ADA, email: "b" } });
  await assert.rejects(
    db.user.update({ where: { email: "b" }, data: { email: ADA.email } }),
    dbError("UniqueViolation", "Cannot update users: the value of email is already taken", [
      "email",
    ]),
  );
});

testDbOnEach("a row that violates two unique columns names one of them", async ({ user }) => {
  const row = { id: 1, tenant_id: "a", email: "ada@example.org", name: "Ada" };
  await user.create({ data: row });
  const error = await user.create({ data: row }).then(() => undefined, (error) => error);
  assert.equal(error?.code, "UniqueViolation");
  assert.equal(error.fields.length, 1);
  assert.ok(["id", "email"].includes(error.fields[0]));
});
