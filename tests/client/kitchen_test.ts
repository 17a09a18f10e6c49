/** Every route of the kitchen sink is called, on each runtime. */
import assert from "node:assert/strict";
import { createClient } from "../../src/client/mod.ts";
import { test } from "../support/test.ts";
import { createKitchen, type Kitchen } from "./kitchen.ts";
import { callKitchen, KITCHEN_RESULTS } from "./kitchen_calls.ts";

test("the calls of the kitchen sink are those of all its routes", async () => {
  const routes = (await createKitchen()).routes().map(({ method, path }) => {
    const called = path.replace(/^\/api/, "").replaceAll(/\{[^}]*\}/g, "") || "/";
    return `${method === "ALL" ? "GET" : method} ${called}`;
  });
  assert.deepEqual(Object.keys(KITCHEN_RESULTS).sort(), routes.sort());
});

test("createClient() calls every route, with and without a server", async () => {
  const app = await createKitchen();
  const { url } = await app.listen(0, { hostname: "127.0.0.1" });
  try {
    const api = createClient<Kitchen>("http://localhost/api", { fetch: app.fetch });
    assert.deepEqual(await callKitchen(api), KITCHEN_RESULTS);
    assert.deepEqual(await callKitchen(createClient<Kitchen>(`${url}/api`)), KITCHEN_RESULTS);
  } finally {
    await app.close();
  }
});
