/** Requests with the same key at the same time, and keys that a killed process has left. */
import assert from "node:assert/strict";
import { controller, inject, route } from "../../../mod.ts";
import { SKIP_PGBOUNCER, startPgBouncer } from "../../db/support/pgbouncer.ts";
import { createDatabase } from "../../db/support/servers.ts";
import { test } from "../../support/test.ts";
import {
  type PaymentsApp,
  paymentsApp,
  PaymentsDb,
  testPayments,
} from "../support/payments_app.ts";

/** A handler that a test holds open. */
class Held extends controller("held") {
  static started = Promise.withResolvers<void>();
  static gate = Promise.withResolvers<void>();
  readonly #db = inject(PaymentsDb);

  hold = route.post("/", { idempotent: true }, async () => {
    const { id } = await this.#db.payment.create({ data: { amount: 1, payer: "held" } });
    Held.started.resolve();
    await Held.gate.promise;
    return { id };
  });
}

function hold({ app }: PaymentsApp): Promise<Response> {
  return app.request("/held", { method: "POST", headers: { "idempotency-key": "k1" } });
}

/** Creates applications, each with its own connections, as processes have. */
async function appsOf(url: string, count: number) {
  Held.started = Promise.withResolvers();
  Held.gate = Promise.withResolvers();
  const apps: PaymentsApp[] = [];
  for (let i = 0; i < count; i++) apps.push(await paymentsApp(url, { controllers: [Held] }));
  async function close(): Promise<void> {
    for (const app of apps) await app[Symbol.asyncDispose]();
  }
  return { apps, [Symbol.asyncDispose]: close };
}

testPayments(
  "while a request runs, another with its key is refused with 409",
  async (url, brand) => {
    await using started = await appsOf(url, 2);
    const [one, two] = started.apps as [PaymentsApp, PaymentsApp];
    const first = hold(one);
    await Held.started.promise;
    // on SQLite, the transaction is the only writer: another process waits for its end
    for (const app of brand === "sqlite" ? [one] : [one, two, one]) {
      const refused = await hold(app);
      assert.deepEqual([refused.status, refused.headers.get("retry-after")], [409, "1"]);
      assert.match((await refused.json()).detail, /^A request with this Idempotency-Key runs/);
    }
    const waiting = brand === "sqlite" ? hold(two) : undefined;
    Held.gate.resolve();
    const body = await (await first).text();
    for (const answer of [await waiting ?? await hold(two), await hold(one)]) {
      assert.equal(answer.headers.get("idempotency-replayed"), "true");
      assert.equal(await answer.text(), body);
    }
    assert.equal(await one.db.payment.count(), 1);
  },
);

testPayments(
  "of requests that begin together one runs, and none waits for it",
  async (url, brand) => {
    await using started = await appsOf(url, brand === "sqlite" ? 1 : 6);
    const requests = started.apps.flatMap((app) => [hold(app), hold(app)]);
    const others = Promise.withResolvers<void>();
    let refused = 0;
    for (const request of requests) {
      void request.then(({ status }) => {
        if (status === 409 && ++refused === requests.length - 1) others.resolve();
      });
    }
    await Held.started.promise;
    await others.promise;
    Held.gate.resolve();
    const statuses = (await Promise.all(requests)).map(({ status }) => status).toSorted();
    assert.deepEqual(statuses, [200, ...Array<number>(requests.length - 1).fill(409)]);
    assert.equal(await started.apps[0]?.db.payment.count(), 1);
  },
);

testPayments("a key that a killed process has left is taken over", async (url) => {
  await using app = await paymentsApp(url);
  await app.pay(10, "k1");
  const left = { fingerprint: null, status: null, headers: null, body: null };
  await app.db.fwIdempotencyKey.updateMany({ all: true, data: left }); // as before its transaction
  assert.equal((await app.pay(20, "k1")).headers.get("idempotency-replayed"), null);
  assert.equal((await app.pay(20, "k1")).headers.get("idempotency-replayed"), "true");
  assert.equal(await app.db.payment.count(), 2);
  assert.equal(await app.db.fwIdempotencyKey.count(), 1);
});

testPayments(
  "a request that fails leaves the key to another that has taken it over",
  async (url) => {
    await using one = await paymentsApp(url);
    await using two = await paymentsApp(url);
    const keys = Array.from({ length: 10 }, (_, i) => `k${i}`);
    for (const key of keys) {
      const [failed, paid] = await Promise.all([one.pay(0, key), two.pay(10, key)]);
      assert.ok([422, 409].includes(failed.status), String(failed.status));
      if (paid.status !== 201) assert.equal(paid.status, 409);
      assert.equal((await one.pay(10, key)).status, 201);
    }
    assert.equal(await one.db.payment.count(), keys.length);
    assert.equal(await one.db.fwIdempotencyKey.count(), keys.length);
  },
);

test("a pooler that shares connections among transactions keeps the lock of a key", async () => {
  await using database = await createDatabase("postgres");
  await using pooler = await startPgBouncer("transaction");
  await using started = await appsOf(pooler.url(database.url), 2);
  const [one, two] = started.apps as [PaymentsApp, PaymentsApp];
  const first = hold(one);
  await Held.started.promise;
  assert.equal((await hold(two)).status, 409);
  Held.gate.resolve();
  assert.equal((await first).status, 200);
  assert.equal((await hold(two)).headers.get("idempotency-replayed"), "true");
  assert.equal(await one.db.payment.count(), 1);
}, { skip: SKIP_PGBOUNCER });
