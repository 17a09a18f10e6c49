import assert from "node:assert/strict";
import { DbOptions, DbService, diffSchema } from "../../src/db/mod.ts";
import { idempotencyTables, jobTables } from "../../src/jobs/mod.ts";
import { testOnEach } from "../db/support/database.ts";

class Db extends DbService.with({ ...jobTables, ...idempotencyTables }) {}

testOnEach(
  "diffSchema() writes the migration of jobTables and idempotencyTables, which makes what they need",
  async ({ url }) => {
    const options = DbOptions.fromUrl(url);
    const before = { "0001_none": "select 1" };
    const { changes, migrations } = await diffSchema(Db, options.migrations(before));
    assert.deepEqual(changes.map((change) => change.split(":")[0]).toSorted(), [
      "create table fw_idempotency_keys",
      "create table fw_jobs",
    ]);
    const migrated = options.migrations(
      Object.fromEntries(migrations.map(({ up }, index) => [`000${index + 1}_jobs`, up])),
    );
    assert.deepEqual((await diffSchema(Db, migrated)).changes, []);
    await using db = await Db.open(migrated);
    await db.checkTables();
  },
);
