/** Routes with `idempotent`: draft-ietf-httpapi-idempotency-key-header-07. */
import assert from "node:assert/strict";
import { ConflictException, controller, inject, route } from "../../../mod.ts";
import {
  Amount,
  type PaymentsApp,
  paymentsApp,
  PaymentsDb,
  testPayments,
} from "../support/payments_app.ts";

/** The parts of a response that a repetition has too. */
async function partsOf(response: Response) {
  const headers = Object.fromEntries(response.headers);
  const { "idempotency-replayed": replayed, ...rest } = headers;
  return { status: response.status, headers: rest, body: await response.text(), replayed };
}

testPayments(
  "a repeated key has one effect, and the same status, headers and body",
  async (url) => {
    await using app = await paymentsApp(url);
    const first = await partsOf(await app.pay(10, "k1"));
    const { id } = await app.db.payment.findFirst({}) ?? {};
    assert.deepEqual(first, {
      status: 201,
      headers: { "content-type": "application/json", location: `/payments/${id}` },
      body: JSON.stringify({ id, amount: 10, payer: "anonymous" }),
      replayed: undefined,
    });
    assert.deepEqual(await partsOf(await app.pay(10, "k1")), { ...first, replayed: "true" });
    assert.deepEqual(await partsOf(await app.pay(10, '"k1"')), { ...first, replayed: "true" });
    assert.equal(await app.db.payment.count(), 1);
    assert.equal(await app.db.fwJob.count(), 1);
    assert.equal((await app.pay(10, "k2")).headers.get("idempotency-replayed"), null);
    assert.equal(await app.db.payment.count(), 2);
  },
);

testPayments(
  "another process replays too, and each replay is a request of its own",
  async (url) => {
    await using one = await paymentsApp(url);
    await using two = await paymentsApp(url);
    const first = await partsOf(await one.pay(10, "k1"));
    two.app.useRequestId();
    const { headers, ...rest } = await partsOf(await two.pay(10, "k1", { "x-request-id": "r2" }));
    assert.deepEqual(rest, { status: 201, body: first.body, replayed: "true" });
    assert.deepEqual(headers, { ...first.headers, "x-request-id": "r2" });
    assert.equal(await one.db.payment.count(), 1);
  },
);

testPayments("a key that was used for another request is refused with 422", async (url) => {
  await using app = await paymentsApp(url);
  assert.equal((await app.pay(10, "k1")).status, 201);
  const refused = await app.pay(11, "k1");
  assert.equal(refused.status, 422);
  assert.match((await refused.json()).detail, /^The Idempotency-Key was used for another request/);
  for (
    const [path, headers] of [
      ["/payments?source=web", {}],
      ["/payments", { "content-type": "application/vnd.payment+json" }],
    ] as const
  ) {
    const { status } = await app.app.request(path, {
      json: { amount: 10 },
      headers: { "idempotency-key": "k1", ...headers },
    });
    assert.equal(status, 422, path);
  }
  assert.equal((await app.pay(10, "k1")).status, 201);
  assert.equal(await app.db.payment.count(), 1);
});

testPayments("a request without a valid key is refused with 400", async (url) => {
  await using app = await paymentsApp(url);
  const missing = await app.app.request("/payments", { json: { amount: 1 } });
  assert.equal(missing.status, 400);
  assert.equal(missing.headers.get("content-type"), "application/problem+json");
  assert.match((await missing.json()).detail, /^Idempotency-Key is missing/);
  for (const key of ["", '""', '"a', "a b", "a,b", "a;b", 'a"b', "x".repeat(256), "\u00e9"]) {
    const refused = await app.pay(1, key);
    assert.equal(refused.status, 400, key);
    assert.match((await refused.json()).detail, /^Idempotency-Key is/);
  }
  assert.equal(await app.db.fwIdempotencyKey.count(), 0);
  assert.equal((await app.pay(1, "x".repeat(255))).status, 201);
});

testPayments("keys belong to the caller: its identity, its issuer and its tenant", async (url) => {
  await using app = await paymentsApp(url);
  const callers = [
    {},
    { "x-subject": "ann" },
    { "x-subject": "bob" },
    { "x-subject": "ann", "x-issuer": "https://other" },
    { "x-subject": "ann", "x-tenant": "a" },
    { "x-subject": "ann", "x-tenant": "b" },
  ];
  const ids = new Set<number>();
  for (const caller of callers) {
    const first = await app.pay(10, "k1", caller);
    assert.equal(first.headers.get("idempotency-replayed"), null);
    const { id } = await first.json();
    ids.add(id);
    const again = await app.pay(10, "k1", caller);
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    assert.equal((await again.json()).id, id);
  }
  assert.equal(ids.size, callers.length);
});

testPayments("tenant: keys belong to what the option returns", async (url) => {
  await using app = await paymentsApp(url, { tenant: (c) => c.req.header("x-shop") });
  for (const shop of ["a", "b", "a"]) await app.pay(10, "k1", { "x-shop": shop });
  assert.equal(await app.db.payment.count(), 2);
});

testPayments("a tenant that is not a text or a number is refused", async (url) => {
  await using app = await paymentsApp(url);
  for (const tenant of [["a"], {}, true]) {
    const response = await app.pay(10, "k1", {
      "x-subject": "ann",
      "x-claims": JSON.stringify({ tenant_id: tenant }),
    });
    const { detail } = await response.json();
    assert.deepEqual([response.status, detail], [
      403,
      "The claim tenant_id is not a text or a number",
    ]);
  }
  await using other = await paymentsApp(url, { tenant: (c) => Number(c.req.header("x-shop")) });
  assert.equal((await other.pay(10, "k1", { "x-shop": "one" })).status, 500);
  assert.equal((await other.pay(10, "k1", { "x-shop": "1" })).status, 201);
  assert.equal(await app.db.payment.count(), 1);
});

/** Lets all keys expire earlier. */
async function age({ db }: PaymentsApp, ms: number): Promise<void> {
  for (const { seq, expires_at } of await db.fwIdempotencyKey.findMany({})) {
    const data = { expires_at: new Date(expires_at.getTime() - ms) };
    await db.fwIdempotencyKey.update({ where: { seq }, data });
  }
}

testPayments("a key expires after keepMs, and expired ones are removed", async (url) => {
  await using app = await paymentsApp(url, { keepMs: 600_000 });
  await app.pay(10, "k1");
  await app.pay(10, "old");
  await age(app, 300_000);
  assert.equal((await app.pay(10, "k1")).headers.get("idempotency-replayed"), "true");
  await age(app, 300_000);
  assert.equal((await app.pay(11, "k1")).headers.get("idempotency-replayed"), null);
  assert.equal(await app.db.payment.count(), 3);
  assert.equal((await app.pay(11, "k1")).headers.get("idempotency-replayed"), "true");
  await using other = await paymentsApp(url);
  await other.pay(1, "new"); // the first new key of a process
  const kept = await app.db.fwIdempotencyKey.findMany({ select: { expires_at: true } });
  assert.deepEqual(kept.length, 2);
  assert.ok(kept.every(({ expires_at }) => expires_at.getTime() > Date.now()));
});

testPayments("a process whose clock is wrong ends no keys", async (url) => {
  const dayMs = 86_400_000; // that of `keepMs`
  await using right = await paymentsApp(url);
  await using ahead = await paymentsApp(url, { now: () => Date.now() + 2 * dayMs });
  await using behind = await paymentsApp(url, { now: () => Date.now() - 2 * dayMs });
  const apps = [right, ahead, behind];
  for (const [i, app] of apps.entries()) assert.equal((await app.pay(i + 1, `k${i}`)).status, 201);
  for (const app of apps) {
    for (const i of apps.keys()) {
      const replayed = await app.pay(i + 1, `k${i}`);
      assert.equal(replayed.headers.get("idempotency-replayed"), "true", `k${i}`);
    }
  }
  assert.equal(await right.db.payment.count(), apps.length);
});

/** Fails in different ways while `mode` is set. */
class Failing extends controller("failing") {
  static mode = "";
  readonly #db = inject(PaymentsDb);

  run = route.post("/", { body: Amount, idempotent: true }, async ({ body }, c) => {
    await this.#db.payment.create({ data: { ...body, payer: "failing" } });
    await this.#db.afterCommit(() => void committed.push(body.amount));
    if (Failing.mode === "throw") throw new Error("it fails");
    if (Failing.mode === "refuse") throw new ConflictException("sold out");
    if (Failing.mode === "503") return c.text("later", 503);
    if (Failing.mode === "402") return c.text("too little", 402);
    if (Failing.mode === "large") return c.text("x".repeat(100));
    if (Failing.mode === "events") return c.text("data: 1\n\n", 200, EVENTS);
    return c.text("done");
  });
}
const EVENTS = { "content-type": "text/event-stream" };
const committed: number[] = [];

testPayments("what fails is rolled back with its key; a repetition runs again", async (url) => {
  await using app = await paymentsApp(url, { controllers: [Failing], maxAnswerBytes: 99 });
  committed.length = 0;
  const run = (amount: unknown, key = "k1") =>
    app.app.request("/failing", { json: { amount }, headers: { "idempotency-key": key } });
  for (
    const [mode, status] of [
      ["throw", 500],
      ["refuse", 409],
      ["503", 503],
      ["large", 500],
      ["events", 500],
    ] as const
  ) {
    Failing.mode = mode;
    const response = await run(10);
    assert.equal(response.status, status, mode);
    if (mode === "503") assert.equal(await response.text(), "later");
    assert.equal(await app.db.payment.count(), 0, mode);
    assert.equal(await app.db.fwIdempotencyKey.count(), 0, mode);
  }
  assert.deepEqual(committed, []);
  Failing.mode = "402";
  assert.equal((await run(20)).status, 402); // another body: the key is free
  Failing.mode = "";
  const replayed = await run(20);
  assert.deepEqual([replayed.status, await replayed.text()], [402, "too little"]);
  assert.equal(replayed.headers.get("idempotency-replayed"), "true");
  assert.equal(await (await run(30, "k2")).text(), "done");
  assert.deepEqual(committed, [20, 30]);
  assert.equal(await app.db.payment.count(), 2);
});

testPayments("an invalid input uses up no key", async (url) => {
  await using app = await paymentsApp(url);
  assert.equal((await app.pay(0, "k1")).status, 422);
  assert.equal((await app.pay("ten", "k1")).status, 422);
  assert.equal(await app.db.fwIdempotencyKey.count(), 0);
  assert.equal((await app.pay(10, "k1")).status, 201);
});

testPayments("a transaction around the request is refused", async (url) => {
  await using app = await paymentsApp(url);
  app.app.use("/payments", async (_, next) => {
    await app.db.transaction(next);
  });
  assert.equal((await app.pay(10, "k1")).status, 500);
  assert.equal(await app.db.payment.count(), 0);
});
