import assert from "node:assert/strict";
import { AppModule } from "../../examples/hello.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { test } from "../test.ts";

test("the scaffold's greeting is plain text at /api/", async () => {
  await using app = await createTestApplication(AppModule, {
    setUp: (app) => app.setGlobalPrefix("api"),
  });
  for (const path of ["/api/", "/api"]) {
    const response = await app.request(path);
    assert.deepEqual([response.status, await response.text()], [200, "Hello from fw"]);
  }
});
