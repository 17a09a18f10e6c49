/** Statements that are larger than MySQL accepts: it refuses them, and closes the connection. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions } from "../../../src/db/mod.ts";
import { Db, dbError, testOnEach } from "../support/database.ts";
import { sessionOf } from "../support/sessions.ts";

const REASON = "it is larger than the database accepts";

testOnEach("a statement that is too large is refused, and the next operation succeeds", async (
  { url },
) => {
  await using db = await Db.open(DbOptions.fromUrl(url).poolMax(1));
  await db.createTables();
  await db.sample.create({ data: { select: "a" } });
  const { rows: [limit] } = await sql<{ bytes: number }>`select @@max_allowed_packet as bytes`
    .execute(db.kysely);
  const blob = new Uint8Array(limit!.bytes + 1000);
  const where = { select: "a" };
  const writes: readonly (readonly [() => Promise<unknown>, string])[] = [
    [() => db.sample.updateMany({ where, data: { blob } }), "update order"],
    [() => db.sample.update({ where, data: { blob } }), "update order"],
    [() => db.sample.create({ data: { select: "b", blob } }), "create order"],
    [() => db.sample.createMany({ data: [{ select: "b", blob }] }), "create order"],
    [
      () => db.transaction(() => db.sample.updateMany({ where, data: { blob } })),
      "update order",
    ],
    [() => db.sample.findMany({ where: { blob } }), "read order"],
    [() => db.kysely.updateTable("order").set({ blob }).execute(), "run query"],
  ];
  for (const [write, action] of writes) {
    const session = await sessionOf("mysql", db.kysely);
    await assert.rejects(write(), dbError("CheckViolation", `Cannot ${action}: ${REASON}`), action);
    assert.notEqual(await sessionOf("mysql", db.kysely), session);
    assert.equal(await db.sample.count({ where: { blob: null } }), 1);
  }
}, { brands: ["mysql"] });
