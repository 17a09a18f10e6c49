import assert from "node:assert/strict";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { DbOptions } from "../../../src/db/mod.ts";
import { testOnEach } from "../../db/support/database.ts";
import { freePort } from "../../support/free_port.ts";
import { Subprocess } from "../../support/subprocess.ts";
import { PaymentsDb } from "../support/payments_app.ts";
import { RepeatingClients } from "../support/repeating_clients.ts";
import { testOnce } from "../../support/test.ts";

/**
 * Kills on each database, about one in two seconds. More: `FW_KILLS=1000 FW_TEST=full deno test -A
 * --no-check` and this file.
 */
const KILLS = Number(process.env["FW_KILLS"] ?? 20);

/** How many clients pay at the same time. */
const CLIENTS = 6;

for (const [kills, many] of [[4, false], [KILLS, true]] as const) {
  testOnEach(
    `after ${many ? "many" : "some"} kills of its server, each key has one effect and one answer`,
    async ({ url }) => {
      const port = await freePort();
      const serve = async () => {
        const server = new Subprocess("tests/jobs/idempotency/kill_fixture.ts", {
          args: [url, port],
        });
        await server.until(/serving/);
        return server;
      };
      let server = await serve();
      const clients = new RepeatingClients<number>({
        url: `http://127.0.0.1:${port}/slow`,
        clients: CLIENTS,
        body: (amount) => ({ amount }),
      });
      try {
        for (let kill = 0; kill < kills; kill++) {
          await delay(50 + Math.random() * 300);
          server.kill("SIGKILL");
          assert.equal((await server.ended).code, null, server.output);
          server = await serve();
        }
        await clients.stop();
      } finally {
        await server[Symbol.asyncDispose]();
      }
      await using db = await PaymentsDb.open(DbOptions.fromUrl(url));
      const payments = await db.payment.findMany({});
      const answered = [...clients.ids].map(([amount, id]) => `${id}: ${amount}`);
      const stored = payments.map(({ id, amount }) => `${id}: ${amount}`);
      assert.deepEqual(stored.toSorted(), answered.toSorted());
      const ofJobs = (await db.fwJob.findMany({})).map(({ body }) =>
        (body as { readonly payment: number }).payment
      );
      assert.deepEqual(ofJobs.toSorted(), payments.map(({ id }) => id).toSorted());
      assert.ok(clients.lost > 0, "no request was interrupted");
    },
    { slow: true, ...many ? { register: testOnce } : { brands: ["mysql"] } },
  );
}
