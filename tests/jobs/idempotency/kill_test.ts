import assert from "node:assert/strict";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { DbOptions } from "../../../src/db/mod.ts";
import { testOnEach } from "../../db/support/database.ts";
import { freePort } from "../../support/free_port.ts";
import { Subprocess } from "../../support/subprocess.ts";
import { PaymentsDb } from "../support/payments_app.ts";
import { testOnce } from "../../support/test.ts";

/**
 * Kills on each database, about one in two seconds. More: `FW_KILLS=1000 FW_TEST=full deno test -A
 * --no-check` and this file.
 */
const KILLS = Number(process.env["FW_KILLS"] ?? 20);

/** How many clients pay at the same time. */
const CLIENTS = 6;

/** Pays until it is stopped; a request that is not answered is repeated with its key. */
class Clients {
  /** The numbers of the payments, by their amounts: each amount is paid under a key of its own. */
  readonly paid = new Map<number, number>();
  /** How many attempts had no answer. */
  lost = 0;
  #isStopped = false;
  readonly #url: string;
  readonly #running: Promise<unknown>;

  constructor(url: string) {
    this.#url = url;
    this.#running = Promise.all(Array.from({ length: CLIENTS }, (_, i) => this.#run(i + 1)));
  }

  /** Begins no more payments, and waits for those that were begun. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(first: number): Promise<void> {
    for (let amount = first; !this.#isStopped; amount += CLIENTS) {
      const key = crypto.randomUUID();
      let id: number | undefined;
      while (id === undefined) id = await this.#attempt(amount, key);
      this.paid.set(amount, id);
    }
  }

  async #attempt(amount: number, key: string): Promise<number | undefined> {
    try {
      const response = await fetch(this.#url, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify({ amount }),
      });
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

for (const [kills, exhaustive] of [[4, false], [KILLS, true]] as const) {
  testOnEach(
    `after ${
      exhaustive ? "many" : "some"
    } kills of its server, each key has one effect and one answer`,
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
      const clients = new Clients(`http://127.0.0.1:${port}/slow`);
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
      const answered = [...clients.paid].map(([amount, id]) => `${id}: ${amount}`);
      const stored = payments.map(({ id, amount }) => `${id}: ${amount}`);
      assert.deepEqual(stored.toSorted(), answered.toSorted());
      const ofJobs = (await db.fwJob.findMany({})).map(({ body }) =>
        (body as { readonly payment: number }).payment
      );
      assert.deepEqual(ofJobs.toSorted(), payments.map(({ id }) => id).toSorted());
      assert.ok(clients.lost > 0, "no request was interrupted");
    },
    exhaustive ? { exhaustive, register: testOnce } : {},
  );
}
