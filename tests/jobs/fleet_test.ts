/** A server and two workers, which are killed and started in turn while clients place orders. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { DbOptions } from "../../src/db/mod.ts";
import { Jobs } from "../../src/jobs/mod.ts";
import { testOnEach } from "../db/support/database.ts";
import { freePort } from "../support/free_port.ts";
import { Subprocess } from "../support/subprocess.ts";
import { MAX_TEST_MS, testOnce } from "../support/test.ts";
import { checkOrders, ordersApp, OrdersDb } from "./support/orders_app.ts";
import { RepeatingClients } from "./support/repeating_clients.ts";

/** How long they are killed; `FW_TEST=full deno test -A --no-check` and this file runs the long. */
const [PART_SECONDS, SECONDS] = [15, 300];

const CLIENTS = 4;

/** Starts a process of the fleet, and waits until it works. */
async function start(args: readonly (string | number)[]): Promise<Subprocess> {
  const started = new Subprocess("tests/jobs/fleet_fixture.ts", { args, maxRunMs: MAX_TEST_MS });
  await started.until(/started/);
  return started;
}

for (const [seconds, slow] of [[PART_SECONDS, true], [SECONDS, "long"]] as const) {
  testOnEach(
    `a server and two workers that are killed in turn for ${seconds} s lose and repeat no order`,
    async ({ url }) => {
      {
        await using db = await OrdersDb.open(DbOptions.fromUrl(url));
        await db.createTables();
      }
      const port = await freePort();
      const roles = [[url, port], [url], [url]];
      const fleet = await Promise.all(roles.map(start));
      const clients = new RepeatingClients<string>({
        url: `http://127.0.0.1:${port}/orders`,
        clients: CLIENTS,
      });
      let kills = 0;
      try {
        const endMs = Date.now() + seconds * 1000;
        for (; Date.now() < endMs || kills < fleet.length; kills++) {
          await delay(50 + Math.random() * 300);
          const at = kills % fleet.length;
          fleet[at]!.kill("SIGKILL");
          assert.equal((await fleet[at]!.ended).code, null, fleet[at]!.output);
          fleet[at] = await start(roles[at]!);
        }
        await clients.stop();
      } finally {
        for (const one of fleet) await one[Symbol.asyncDispose]();
      }
      await using app = await ordersApp(url);
      await app.get(Jobs).onWorkersStart({ isServing: true });
      const orders = await checkOrders(app);
      assert.deepEqual(orders.toSorted(), [...clients.ids.values()].toSorted()); // one for each key
      assert.ok(clients.lost > 0, "no request was interrupted");
      assert.ok(kills >= fleet.length && orders.length > kills, `${kills}, ${orders.length}`);
    },
    { slow, register: testOnce },
  );
}
