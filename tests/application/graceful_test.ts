import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";

test("a signal turns the health check to 503 while the application still serves", async () => {
  await using process = new Subprocess("tests/application/graceful_fixture.ts");
  const url = await process.until(/http:\S+/);
  const health = async () => {
    const response = await fetch(`${url}/health`);
    await response.body?.cancel();
    return response.status;
  };
  assert.equal(await health(), 200);
  process.kill("SIGTERM");
  while (await health() === 200) await delay(20); // until it fails to connect, without the 503
  assert.equal(await health(), 503);
});
