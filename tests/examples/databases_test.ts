import assert from "node:assert/strict";
import * as demo from "../../examples/demo.ts";
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
