/** Changes beyond what a field can hold. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { dbError, testOnEach } from "../support/database.ts";

const Account = model("accounts", {
  id: field.integer().primaryKey(),
  code: field.text().unique(),
  integer: field.integer().default(0).nullable(),
  bigint: field.bigint().default(0n),
  real: field.real().default(0),
  decimal: field.decimal({ precision: 6, scale: 2 }).default("0"),
});
class Bank extends DbService.with({ account: Account }) {}

/** The largest and smallest value of each kind; the least step beyond; and a step that fits. */
const LIMITS = {
  integer: [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1, 0],
  bigint: [2n ** 63n - 1n, -(2n ** 63n), 1n, 0n],
  real: [Number.MAX_VALUE, -Number.MAX_VALUE, 1e300, 1],
  decimal: ["9999.99", "-9999.99", "0.01", "0"],
} as const;

const WRITES = {
  update: "update accounts",
  updateMany: "update accounts",
  upsert: "upsert accounts",
} as const;

testOnEach(
  "an increment beyond the field is a CheckViolation, and leaves the row",
  async ({ url }) => {
    await using db = await Bank.open(DbOptions.fromUrl(url));
    await db.createTables();
    for (const [name, [most, least, step, fitting]] of Object.entries(LIMITS)) {
      for (const [value, operator] of [[most, "increment"], [least, "decrement"]] as const) {
        const row = await db.account.create({
          data: { code: `${name} ${operator}`, [name]: value },
        });
        const where = { code: row.code };
        const write = {
          update: (data: object) => db.account.update({ where, data }),
          updateMany: (data: object) => db.account.updateMany({ where, data }),
          upsert: (update: object) =>
            db.account.upsert({ where, create: { code: row.code }, update }),
        };
        for (const [method, action] of Object.entries(WRITES)) {
          const run = write[method as keyof typeof write];
          const refusal = dbError("CheckViolation", `Cannot ${action}: a value is not allowed`);
          await assert.rejects(run({ [name]: { [operator]: step } }), refusal);
          assert.deepEqual(await db.account.findUnique({ where }), row);
          await run({ [name]: { [operator]: fitting } });
          assert.deepEqual(await db.account.findUnique({ where }), row);
        }
        await db.account.delete({ where });
      }
    }
  },
);

testOnEach("an increment up to the limit is exact, and of null is null", async ({ url }) => {
  await using db = await Bank.open(DbOptions.fromUrl(url));
  await db.createTables();
  for (const [name, [most, least, step]] of Object.entries(LIMITS)) {
    if (name === "real") continue; // whose step is lost in the value
    for (
      const [value, away, back] of [[most, "decrement", "increment"], [
        least,
        "increment",
        "decrement",
      ]] as const
    ) {
      const row = await db.account.create({ data: { code: `${name} ${away}`, [name]: value } });
      const where = { id: row.id };
      await db.account.update({ where, data: { [name]: { [away]: step } } });
      assert.deepEqual(await db.account.update({ where, data: { [name]: { [back]: step } } }), row);
    }
  }
  const nothing = await db.account.create({ data: { code: "null", integer: null } });
  const data = { integer: { increment: 1 } };
  assert.deepEqual(await db.account.update({ where: { id: nothing.id }, data }), nothing);
});

testOnEach("an increment is refused by a column that is wider than the field", async ({ url }) => {
  await using db = await Bank.open(DbOptions.fromUrl(url));
  await db.createTables();
  await sql`alter table accounts drop column ${sql.ref("integer")}`.execute(db.kysely);
  await sql`alter table accounts add column ${sql.ref("integer")} decimal(30, 0)`
    .execute(db.kysely);
  const row = await db.account.create({ data: { code: "a", integer: Number.MAX_SAFE_INTEGER } });
  const where = { id: row.id };
  await assert.rejects(
    db.account.update({ where, data: { integer: { increment: 1 } } }),
    dbError("CheckViolation", "Cannot update accounts: a value is not allowed"),
  );
  assert.deepEqual(await db.account.findUnique({ where }), row);
}, { brands: ["postgres", "mysql"] });

testOnEach("a bigint changes by any bigint exactly, or is refused", async ({ url }) => {
  await using db = await Bank.open(DbOptions.fromUrl(url));
  await db.createTables();
  const [most, least] = LIMITS.bigint;
  const { id } = await db.account.create({ data: { code: "a" } });
  const outcome = (data: object) =>
    db.account.update({ where: { id }, data }).then(({ bigint }) => bigint, ({ code }) => code);
  for (const bigint of [0n, 1n, -1n, most, least, least + 1n]) {
    for (const change of [least, least + 1n, -1n, 1n, most]) {
      const wanted = { increment: bigint + change, decrement: bigint - change };
      for (const [operator, exact] of Object.entries(wanted)) {
        await db.account.update({ where: { id }, data: { bigint } });
        assert.equal(
          await outcome({ bigint: { [operator]: change } }),
          BigInt.asIntN(64, exact) === exact ? exact : "CheckViolation",
          `${bigint} ${operator} ${change}`,
        );
      }
    }
  }
});
