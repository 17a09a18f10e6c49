import assert from "node:assert/strict";
import * as demo from "../../examples/demo.ts";
import * as orders from "../../examples/orders.ts";
import * as users from "../../examples/users.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { testOnEach } from "../db/support/database.ts";
import { Subprocess } from "../support/subprocess.ts";

testOnEach("demo: db-health reports whether the database is up", async ({ url }) => {
  await using app = await createTestApplication(demo.appModule(url), { setUp: demo.setUp });
  const health = async () => {
    const response = await app.request("/api/v1/demo/db-health");
    return [response.status, await response.json()];
  };
  assert.deepEqual(await health(), [200, { status: "up" }]);
  await app.get(demo.Db).close();
  assert.deepEqual(await health(), [503, { status: "down" }]);
});

testOnEach(
  "demo: users-db reads users with their posts, the same after a restart",
  async ({ url }) => {
    for (let start = 0; start < 2; start++) {
      await using app = await createTestApplication(demo.appModule(url), { setUp: demo.setUp });
      const response = await app.request("/api/v1/demo/users-db");
      const ada = { id: 1, email: "ada@example.com", name: "Ada" };
      assert.deepEqual([response.status, await response.json()], [
        200,
        [{ ...ada, posts: [{ title: "Notes" }, { title: "Sketch" }] }],
      ]);
    }
  },
);

testOnEach(
  "orders: an order, its receipt, a replayed key and a signed webhook",
  async ({ url }) => {
    await using app = await createTestApplication(orders.appModule(url), { setUp: orders.setUp });
    const path = "/api/v1/orders";
    const json = { email: "ada@example.com", item: "tea" };
    const order = { id: 1, ...json, paid: false };
    for (const replayed of [null, "true"]) {
      const placed = await app.request(path, { json, headers: { "idempotency-key": "first" } });
      assert.deepEqual([placed.status, await placed.json()], [201, order]);
      assert.equal(placed.headers.get("idempotency-replayed"), replayed);
    }
    const [job, ...others] = await app.jobs.enqueued(orders.SendReceipt);
    assert.deepEqual(others, []);
    const found = async () => await (await app.request(`${path}/1`)).json();
    assert.deepEqual(await found(), { ...order, receipts: [] });
    const receipts = [{ text: "Dear ada@example.com: we send you tea." }];
    for (let run = 0; run < 2; run++) {
      assert.deepEqual(await app.jobs.drain(), ["done"]);
      assert.deepEqual(await found(), { ...order, receipts });
      // as if its worker were lost before it has stored the end
      await app.get(orders.Db).fwJob.updateMany({
        where: { id: job!.id },
        data: { state: "ready" },
      });
    }
    const body = JSON.stringify({ type: "order.paid", data: { orderId: 1 } });
    const pay = async (signed: string) => {
      const headers = { "content-type": "application/json", ...orders.signPayment(signed) };
      return (await app.request("/api/v1/payments", { method: "POST", body, headers })).status;
    };
    assert.deepEqual([await pay(`${body} `), (await found()).paid], [401, false]);
    assert.deepEqual([await pay(body), (await found()).paid], [204, true]);
    assert.equal((await app.request(`${path}/2`)).status, 404);
  },
);

testOnEach("users: the example runs unchanged on each database", async ({ url }) => {
  await using app = await createTestApplication(users.appModule(url), { setUp: users.setUp });
  const path = "/api/v1/users/";
  const tom = { email: "tom@example.com", name: "Tom" };
  const created = await app.request(path, { json: tom });
  const row = { id: 1, ...tom, active: true };
  assert.deepEqual([created.status, await created.json()], [201, row]);
  const taken = await app.request(path, { json: tom });
  assert.deepEqual([taken.status, (await taken.json()).detail], [
    409,
    "Cannot create users: the value of email is already taken",
  ]);
  for (let n = 0; n < 25; n++) {
    await (await app.request(path, { json: { email: `${n}@example.com`, name: "Tom" } })).text();
  }
  const listed = await app.request(`${path}?skip=20&take=5`);
  assert.equal(listed.headers.get("x-total-count"), "26");
  const page: { email: string }[] = await listed.json();
  assert.deepEqual(page.map(({ email }) => parseInt(email)), [19, 20, 21, 22, 23]);
  const patched = await app.request(`${path}1`, { method: "PATCH", json: { active: false } });
  assert.deepEqual([patched.status, await patched.json()], [200, { ...row, active: false }]);
  const other = { tenant_id: "other", email: "other@example.com", name: "Other" };
  const { id } = await app.get(users.Db).user.create({ data: other });
  const forbidden = await app.request(`${path}${id}`, { method: "PATCH", json: { name: "Mine" } });
  assert.equal(forbidden.status, 403);
  await forbidden.body?.cancel();
  assert.equal((await app.get(users.Db).user.findUnique({ where: { id } }))?.name, "Other");
  const deleted = await app.request(`${path}1`, { method: "DELETE" });
  assert.deepEqual([deleted.status, await deleted.json()], [200, { ...row, active: false }]);
  assert.equal((await app.request(`${path}1`)).status, 404);
});

testOnEach("users: the example starts, serves and stops with DATABASE_URL", async ({ url }) => {
  await using example = new Subprocess("examples/users.ts", {
    env: { PORT: "0", HOST: "127.0.0.1", DATABASE_URL: url },
  });
  await example.until(/\/metrics$/m);
  const base = await example.until(/http:\/\/127\.0\.0\.1:\d+/);
  const response = await fetch(`${base}/api/v1/users/`);
  assert.deepEqual([response.status, await response.json()], [200, []]);
  example.kill("SIGTERM");
  assert.equal((await example.ended).code, 0);
});
