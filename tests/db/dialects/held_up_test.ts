/** A server that closes idle connections while the process is held up, or frozen. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { DbOptions } from "../../../src/db/mod.ts";
import { Db, testOnEach } from "../support/database.ts";

/** Ends the other connections to the database after a while. */
const ENDS = sql<{ readonly ended: boolean }>`with later as materialized (select pg_sleep(0.3))
  select pg_terminate_backend(a.pid) as ended from later, pg_stat_activity a
  where a.datname = current_database() and a.pid <> pg_backend_pid()`;

/** Runs operations when it receives something, as a server does. */
async function receiving(run: () => Promise<void>) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [[socket]] = await Promise.all([once(server, "connection"), once(client, "connect")]);
  return {
    async whileHeldUp(ms: number): Promise<void> {
      const done = new Promise<void>((resolve, reject) =>
        socket.once("data", () => run().then(resolve, reject))
      );
      client.write("x");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
      await done;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      client.destroy();
      socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

testOnEach(
  "no operation fails whose idle connection was closed while the process was held up",
  async ({ url }) => {
    await using db = await Db.open(DbOptions.fromUrl(url));
    await db.createTables();
    await using admin = await Db.open(DbOptions.fromUrl(url).poolMax(1));
    const operations: readonly (() => Promise<unknown>)[] = [
      () => db.user.count({}),
      () => db.user.create({ data: { tenant_id: "a", email: "a", name: "Ada" } }),
      () => db.transaction(() => db.user.count({})),
      () => db.kysely.selectFrom("users").selectAll().execute(),
    ];
    for (const operation of operations) {
      await using server = await receiving(async () => void await operation());
      const ending = ENDS.execute(admin.kysely);
      await delay(50); // it is sent
      await server.whileHeldUp(1_000);
      const { rows } = await ending;
      assert.ok(rows.some(({ ended }) => ended), "no connection was idle");
    }
  },
  { brands: ["postgres"], slow: true },
);
