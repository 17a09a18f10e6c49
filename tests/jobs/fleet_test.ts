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

/** How long they are killed; `FW_TEST=full deno test -A --no-check` and this file runs the long. */
const [PART_SECONDS, SECONDS] = [15, 300];

const CLIENTS = 4;

/** Places orders until it is stopped; a request that is not answered is repeated with its key. */
class Clients {
  /** The ids of orders, one for each key. */
  readonly ids: string[] = [];
  /** How many attempts had no answer. */
  lost = 0;
  #isStopped = false;
  readonly #url: string;
  readonly #running: Promise<unknown>;

  constructor(url: string) {
    this.#url = url;
    this.#running = Promise.all(Array.from({ length: CLIENTS }, () => this.#run()));
  }

  /** Places no more orders, and waits for those that were begun. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const key = crypto.randomUUID();
      let id: string | undefined;
      while (id === undefined) id = await this.#attempt(key);
      this.ids.push(id);
    }
  }

  async #attempt(key: string): Promise<string | undefined> {
    try {
      const headers = { "idempotency-key": key };
      const response = await fetch(this.#url, { method: "POST", headers });
      const answer = await response.json();
      if (response.status === 201) return answer.id;
      assert.ok(response.status === 409 || response.status >= 500, JSON.stringify(answer));
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      this.lost++; // the process was killed, or does not serve yet
    }
    await delay(10);
    return undefined;
  }
}

/** Starts a process of the fleet, and waits until it works. */
async function start(args: readonly (string | number)[]): Promise<Subprocess> {
  const started = new Subprocess("tests/jobs/fleet_fixture.ts", { args, maxRunMs: MAX_TEST_MS });
  await started.until(/started/);
  return started;
}

for (const [seconds, exhaustive] of [[PART_SECONDS, true], [SECONDS, "long"]] as const) {
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
      const clients = new Clients(`http://127.0.0.1:${port}/orders`);
      let kills = 0;
      try {
        for (const endMs = Date.now() + seconds * 1000; Date.now() < endMs; kills++) {
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
      assert.deepEqual(orders.toSorted(), clients.ids.toSorted()); // one for each key
      assert.ok(clients.lost > 0, "no request was interrupted");
      assert.ok(kills >= fleet.length && orders.length > kills, `${kills}, ${orders.length}`);
    },
    { exhaustive, register: testOnce },
  );
}
