import assert from "node:assert/strict";
import { CompiledQuery } from "kysely";
import { DbService, field, model } from "../../../src/db/mod.ts";
import { SERVERS } from "../dialects/fault.ts";
import { type TestDatabase, testOnEach } from "../support/database.ts";
import { openNoted } from "../support/noted.ts";
import { administer } from "../support/servers.ts";
import { runningStatements, type ServerBrand, sleep } from "../support/sessions.ts";
import { tcpLine } from "../support/tcp_line.ts";

const Thing = model("things", {
  id: field.integer().primaryKey(),
  uid: field.uuid().unique(),
  name: field.text().unique(),
  tenant: field.text(),
  tags: field.json().nullable(),
});
class Db extends DbService.with({ thing: Thing }) {}

const uid = (id: number) => `00000000-0000-4000-8000-0000000000${id.toString(16).padStart(2, "0")}`;
const row = (id: number) => ({
  id,
  uid: uid(id),
  name: `thing ${id}`,
  tenant: `t${id % 2}`,
  tags: [id],
});
const IDS = Array.from({ length: 40 }, (_, i) => i + 1);

/** Runs a test on each server with 40 things, and a pool of two. */
function testThings(
  name: string,
  run: (
    noted: Awaited<ReturnType<typeof openNoted<Db>>>,
    database: TestDatabase & { brand: ServerBrand },
  ) => Promise<void>,
  { slow = false } = {},
): void {
  testOnEach(name, async ({ brand, url }) => {
    assert.ok(brand !== "sqlite");
    await using noted = await openNoted(Db, { brand, url }, { max: 2 });
    await noted.db.createTables();
    await noted.db.thing.createMany({ data: IDS.map(row) });
    noted.notes.take();
    await run(noted, { brand, url });
  }, { brands: SERVERS, slow });
}

testThings("lookups that wait for a connection are one statement", async ({ db, notes }) => {
  const found = await Promise.all(
    [...IDS, 3, 99, 99].map((id) => db.thing.findUnique({ where: { id } })),
  );
  assert.deepEqual(found, [...IDS.map(row), row(3), null, null]);
  assert.notEqual(found[2], found.at(-3)); // each caller has a row of its own
  assert.notEqual(found[2]?.tags, found.at(-3)?.tags);
  assert.equal(notes.take().length, 3);

  const byName = await Promise.all(
    [...IDS, 98, 99].map((id) => db.thing.findUnique({ where: { name: `thing ${id}` } })),
  );
  assert.deepEqual(byName, [...IDS.map(row), null, null]);
  assert.equal(notes.take().length, 5); // two texts may have been others of their collation

  const capitals = await Promise.all(
    IDS.map((id) => db.thing.findUnique({ where: { uid: uid(id).toUpperCase() } })),
  );
  assert.deepEqual(capitals, IDS.map(row));
  assert.equal(notes.take().length, 3);
});

testThings("one statement looks up at most 128 keys", async ({ db, notes }) => {
  const many = Array.from({ length: 300 }, (_, i) => i + 1);
  const found = await Promise.all(many.map((id) => db.thing.findUnique({ where: { id } })));
  assert.equal(found.filter((it) => it !== null).length, IDS.length);
  assert.equal(notes.take().length, 2 + 3);
});

testThings("a lookup keeps its scope, its transaction and its limits", async ({ db, notes }) => {
  const tenant = db.thing.scoped({ tenant: "t0" });
  const scoped = await Promise.all(IDS.map((id) => tenant.findUnique({ where: { id } })));
  assert.deepEqual(scoped, IDS.map((id) => id % 2 === 0 ? row(id) : null));
  assert.equal(notes.take().length, 3);

  await db.transaction(async () => {
    await db.thing.update({ where: { id: 1 }, data: { name: "mine" } });
    const outside = IDS.length; // which wait for the other connection, and do not see the change
    const inside = await Promise.all(IDS.map((id) => db.thing.findUnique({ where: { id } })));
    assert.deepEqual([inside[0]?.name, inside.length], ["mine", outside]);
  });
  notes.take();
  const limited = await Promise.all(
    IDS.map((id) => db.thing.findUnique({ where: { id }, timeoutMs: 30_000 })),
  );
  assert.equal(limited[0]?.name, "mine");
  assert.equal(notes.take().length, IDS.length);
});

testThings("a value that the column cannot hold fails its own lookup alone", async (
  { db },
  { brand, url },
) => {
  const database = new URL(url).pathname.slice(1);
  if (brand === "mysql") await administer(brand, `alter table ${database}.things modify id int`);
  else {await db.kysely.schema.alterTable("things").alterColumn(
      "id",
      (it) => it.setDataType("int4"),
    ).execute();}
  const settled = await Promise.allSettled(
    [...IDS, 2 ** 40].map((id) => db.thing.findUnique({ where: { id } })),
  );
  const values = settled.map((it) => it.status === "fulfilled" ? it.value : it.reason.code);
  const beyond = brand === "mysql" ? null : "CheckViolation";
  assert.deepEqual(values, [...IDS.map(row), beyond]);
});

testThings("equal texts of a collation are found", async ({ db }, { brand, url }) => {
  if (brand === "mysql") {
    const database = new URL(url).pathname.slice(1);
    const column = "name varchar(191) character set utf8mb4 collate utf8mb4_general_ci not null";
    await administer(brand, `alter table ${database}.things modify ${column}`);
  } else {
    const { kysely } = db;
    const sql = [
      `create collation ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
      `alter table things alter name type text collate ci`,
    ];
    for (const each of sql) await kysely.executeQuery(CompiledQuery.raw(each));
  }
  const found = await Promise.all(
    IDS.map((id) =>
      db.thing.findUnique({ where: { name: id % 2 ? `THING ${id}` : `thing ${id}` } })
    ),
  );
  assert.deepEqual(found, IDS.map(row));
});

testThings("a slow statement holds up only those that wait for its connection", async (
  { db },
  { brand, url },
) => {
  const slow = sleep(brand, 2).execute(db.kysely).then(() => "slow");
  while (!(await runningStatements(brand, url)).some((it) => it.includes("sleep("))) { /* soon */ }
  const all = Promise.all(IDS.map((id) => db.thing.findUnique({ where: { id } }))).then(() =>
    "quick"
  );
  assert.equal(await Promise.race([slow, all]), "quick");
  await slow;
}, { slow: true });

testOnEach("all lookups that wait fail when the server is gone", async ({ brand, url }) => {
  await using line = await tcpLine(url);
  await using noted = await openNoted(Db, { brand, url: line.url }, {
    max: 1,
    acquireTimeoutMs: 2000,
  });
  await noted.db.createTables();
  await line.down();
  const settled = await Promise.allSettled(
    IDS.map((id) => noted.db.thing.findUnique({ where: { id } })),
  );
  for (const it of settled) {
    assert.equal(it.status === "rejected" && it.reason.code, "ConnectionLost");
  }
}, { brands: SERVERS });
