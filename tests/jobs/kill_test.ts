import assert from "node:assert/strict";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { DbOptions } from "../../src/db/mod.ts";
import { Jobs } from "../../src/jobs/mod.ts";
import { testOnEach } from "../db/support/database.ts";
import { SKIP_REDIS } from "../middleware/redis.ts";
import { Subprocess } from "../support/subprocess.ts";
import { checkOrders, ordersApp, OrdersDb } from "./support/orders_app.ts";
import { flushQueue, relayTo, withRelay } from "./support/relays.ts";
import { test, testOnce } from "../support/test.ts";

/**
 * Kills on each database, about one a second. More: `FW_KILLS=1000 FW_TEST=full deno test -A
 * --no-check` and this file.
 */
const KILLS = Number(process.env["FW_KILLS"] ?? 25);

/** Kills workers, which have a queue of BullMQ if there is one; it is flushed after some kills. */
async function killWorkers(
  url: string,
  { kills, queue }: { readonly kills: number; readonly queue?: string },
): Promise<void> {
  {
    await using db = await OrdersDb.open(DbOptions.fromUrl(url));
    await db.createTables();
  }
  for (let kill = 0; kill < kills; kill++) {
    const args = queue === undefined ? [url] : [url, queue];
    await using worker = new Subprocess("tests/jobs/kill_fixture.ts", { args });
    await worker.until(/placing/);
    await delay(30 + Math.random() * 300);
    if (queue !== undefined && kill % 3 === 1) await flushQueue(queue);
    worker.kill("SIGKILL");
    assert.equal((await worker.ended).code, null, worker.output);
    if (queue !== undefined && kill % 3 === 2) await flushQueue(queue);
  }
  await using app = await ordersApp(url, queue === undefined ? {} : relayTo(queue));
  const jobs = app.get(Jobs);
  if (queue === undefined) await jobs.drain();
  await jobs.onWorkersStart({ isServing: true }); // returns what the last kill has interrupted
  const orders = await checkOrders(app);
  assert.ok(orders.length > kills, `${orders.length} orders`);
}

for (const [kills, slow] of [[4, false], [KILLS, true]] as const) {
  const options = slow ? { slow, register: testOnce } : { brands: ["postgres"] as const };
  const name = `after ${
    slow ? "many" : "some"
  } kills of its workers, no job is lost, none a phantom`;
  testOnEach(name, ({ url }) => killWorkers(url, { kills }), options);
  testOnEach(
    `${name}, over BullMQ`,
    ({ url }) => withRelay(url, (queue) => killWorkers(url, { kills, queue })),
    {
      ...options,
      slow: true,
      register: (title, body, rest) =>
        (slow ? testOnce : test)(title, body, { ...rest, skip: rest?.skip ?? SKIP_REDIS }),
    },
  );
}
