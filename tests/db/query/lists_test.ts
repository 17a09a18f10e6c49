import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions, DbService, field, hasMany, model, type Row } from "../../../src/db/mod.ts";
import { testOnce } from "../../support/test.ts";
import { type Db, Sample, testDbOnEach, testOnEach } from "../support/database.ts";
import { openNoted } from "../support/noted.ts";
import { planOf } from "../support/plans.ts";

type Kind = Exclude<keyof Row<typeof Sample>, "select" | "json">;

/** Values of each kind; the second half is not stored. */
const VALUES: { readonly [K in Kind]: readonly NonNullable<Row<typeof Sample>[K]>[] } = {
  integer: [0, -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 7, -7, 8],
  bigint: [-(2n ** 63n), 2n ** 63n - 1n, 9007199254740993n, 1n, 9007199254740992n, 0n],
  text: ['a"b\\c,{}', "NULL", "é😀 ", "", 'a"b\\c', "é😀"],
  boolean: [true, false],
  real: [0.1, -1.2345678901234567e-300, 1.7976931348623157e308, 0.3, 5e-324, 0],
  decimal: ["0.1000", "-99999999999999.9999", "12345678901234.5678", "0", "0.1001", "1"],
  timestamp: [0, -1, 1_700_000_000_123, 1, 2, 3].map((ms) => new Date(ms)),
  uuid: [1, 2, 3, 4, 5, 6].map((n) => `a0eebc99-9c0b-4ef8-bb6d-${String(n).padStart(12, "0")}`),
  blob: [[], [0, 34, 92], [255], [1], [0], [92]].map((bytes) => new Uint8Array(bytes)),
};

/** As many as SQLite binds one by one. */
const LONG = 30_000;

testDbOnEach("Where finds the values of each kind in short and long lists", async (db) => {
  await checkKinds(db);
}, { slow: ["mysql"] });

testOnEach("DbOptions.fromDialect() binds lists of each kind", async ({ brand, url }) => {
  const { PostgresJSDialect } = await import("kysely-postgres-js");
  const { MysqlDialect } = await import("kysely");
  const dialect = brand === "postgres"
    ? new PostgresJSDialect({ postgres: (await import("postgres")).default(url, SILENT) })
    : new MysqlDialect({ pool: (await import("mysql2")).createPool({ uri: url, timezone: "Z" }) });
  class Samples extends DbService.with({ sample: Sample }) {}
  await using db = await Samples.open(DbOptions.fromDialect(dialect));
  await db.createTables();
  await checkKinds(db);
}, { brands: ["postgres", "mysql"], slow: true, register: testOnce });

const SILENT = { onnotice: () => {} };

async function checkKinds(db: Pick<Db, "sample">): Promise<void> {
  await db.sample.create({ data: { select: "null" } });
  for (const [kind, values] of Object.entries(VALUES)) {
    const stored = values.slice(0, values.length / 2);
    const others = values.slice(values.length / 2);
    await db.sample.createMany({
      data: stored.map((value, index) => ({ select: `${kind} ${index}`, [kind]: value })),
    });
    const count = (condition: object) => db.sample.count({ where: { [kind]: condition } });
    for (const length of [1, 2, 3, 20, LONG]) {
      const filled = (list: readonly unknown[]) =>
        Array.from({ length }, (_, index) => list[index % list.length]);
      const found = Math.min(length, stored.length);
      const label = `${length} of ${kind}`;
      assert.equal(await count({ in: filled(stored) }), found, label);
      assert.equal(await count({ notIn: filled(stored) }), stored.length - found, label);
      assert.equal(await count({ in: filled(others) }), 0, label);
      assert.equal(await count({ notIn: filled(others) }), stored.length, label);
    }
  }
}

const Parent = model("parents", { id: field.integer().primaryKey(), name: field.text() });
const Child = model("children", {
  id: field.integer().primaryKey(),
  parent_id: field.integer().references(Parent),
});
class Family extends DbService.with({ parent: Parent, child: Child }, {
  parent: { children: hasMany(Child.parent_id) },
}) {}

const MANY = 100_000;

testOnEach("Repository takes lists of 100 000 ids", async ({ url }) => {
  await using db = await Family.open(DbOptions.fromUrl(url));
  await db.createTables();
  const ids = Array.from({ length: MANY }, (_, index) => index + 1);
  await db.parent.createMany({ data: ids.map((id) => ({ id, name: "n" })) });
  await db.child.createMany({ data: [1, MANY, MANY].map((parent_id) => ({ parent_id })) });
  const where = { id: { in: ids } };
  assert.equal((await db.parent.findMany({ where })).length, MANY);
  assert.equal(await db.parent.count({ where: { OR: [where, where], name: "n" } }), MANY);
  assert.equal(await db.parent.count({ where: { id: { notIn: ids.slice(1) } } }), 1);
  assert.equal(await db.parent.updateMany({ where, data: { name: "m" } }), MANY);
  const parents = await db.parent.findMany({ where, include: { children: true } });
  const counts = parents.map(({ children }) => children.length).filter((count) => count > 0);
  assert.deepEqual([parents.length, ...counts.toSorted()], [MANY, 1, 2]);
  await db.child.deleteMany({ all: true });
  assert.equal(await db.parent.deleteMany({ where }), MANY);
}, { slow: ["postgres"] });

testOnEach("Repository finds the values of a list by an index", async (database) => {
  const { brand } = database;
  await using noted = await openNoted(Family, database, {
    min: 0,
    max: 1,
    acquireTimeoutMs: 10_000,
  });
  const { db, notes } = noted;
  await db.createTables();
  const ids = Array.from({ length: 50_000 }, (_, index) => index + 1);
  await db.parent.createMany({ data: ids.map((id) => ({ id, name: "n" })) });
  // Much of a table is read faster without an index.
  if (brand === "postgres") await sql`set enable_seqscan = off`.execute(db.kysely);
  const index = {
    sqlite: /SEARCH parents USING (?:INTEGER PRIMARY KEY|COVERING INDEX)/,
    postgres: /Index (?:Only )?(?:Scan using parents_pkey on|Cond)/,
    // A long list is the table that the rows are looked up for, on MariaDB.
    mysql: /"parents",(?:"partitions":null,)?"type":"(?:const|range|eq_ref)".*"key":"PRIMARY"/,
  };
  for (const length of [1, 2, 20, 1000, 5000]) {
    const where = { id: { in: ids.slice(0, length) } };
    const operations = [
      () => db.parent.findMany({ where }),
      () => db.parent.updateMany({ where, data: { name: "m" } }),
      () => db.parent.deleteMany({ where }),
    ];
    for (const run of operations) {
      notes.take();
      await run();
      const [statement] = notes.take();
      assert.ok(statement);
      assert.match(await planOf(db.kysely, brand, statement), index[brand], `${length} ${run}`);
    }
  }
});
