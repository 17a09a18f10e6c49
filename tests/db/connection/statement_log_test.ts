import assert from "node:assert/strict";
import { captureLogs } from "../../support/capture_logs.ts";
import { testDbOnEach } from "../support/database.ts";

testDbOnEach("the log has each statement with its time, and no value", async (db) => {
  await captureLogs(["fw", "db"], async (records) => {
    const secret = "hunter2";
    await db.user.exists({ where: { email: secret } });
    await db.transaction(() => db.user.count({ where: { name: secret } }));
    await db.kysely.selectFrom("users").select("id").where("name", "=", secret).execute();
    await assert.rejects(db.kysely.selectFrom("nowhere" as "users").select("id").execute());
    assert.ok(records.every(({ level }) => level === "debug"));
    assert.ok(!JSON.stringify(records.map(({ properties }) => properties)).includes(secret));
    const logged = records.map(({ properties: { sql, ms }, rawMessage }) => {
      assert.equal(typeof ms, "number");
      return [String(sql).replaceAll("`", '"').replace("$1", "?"), rawMessage];
    });
    const took = "{sql} took {ms} ms";
    assert.deepEqual(logged, [
      ['select 1 as "found" from "users" where "email" = ? limit 1', took],
      ['select count(*) as "count" from "users" where "name" = ?', took],
      ['select "id" from "users" where "name" = ?', took],
      ['select "id" from "nowhere"', "{sql} failed after {ms} ms"],
    ]);
  });
});
