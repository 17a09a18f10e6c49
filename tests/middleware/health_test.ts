import assert from "node:assert/strict";
import { Hono } from "hono";
import { FwFactory, module } from "../../mod.ts";
import { healthCheck, type HealthCheckOptions } from "../../src/middleware/health.ts";
import { test } from "../support/test.ts";
import { captureLogs } from "../support/capture_logs.ts";

function probe(
  options: HealthCheckOptions = {},
  application = { isDraining: false },
): () => Promise<unknown[]> {
  const app = new Hono().get("/health", healthCheck(options, application));
  return async () => {
    const response = await app.request("/health");
    assert.equal(response.headers.get("cache-control"), "no-store");
    return [response.status, await response.json()];
  };
}

test("healthCheck() without indicators is ok", async () => {
  assert.deepEqual(await probe()(), [200, { status: "ok" }]);
});

test("healthCheck() is ok when every indicator is up", async () => {
  const indicators = { db: () => Promise.resolve(0), cache: () => undefined, queue: () => true };
  assert.deepEqual(await probe({ indicators })(), [200, {
    status: "ok",
    checks: { db: { status: "up" }, cache: { status: "up" }, queue: { status: "up" } },
  }]);
});

test("healthCheck() answers 503 if an indicator is down, and logs the reason without sending it", async () => {
  const error = new Error("password secret refused");
  const failures = {
    rejects: () => Promise.reject(error),
    throws: () => {
      throw error;
    },
    saysNo: () => false,
    saysNoLater: () => Promise.resolve(false),
  };
  for (const [name, indicator] of Object.entries(failures)) {
    await captureLogs(["fw", "health"], async (records) => {
      const indicators = { db: indicator, cache: () => true };
      assert.deepEqual(await probe({ indicators })(), [503, {
        status: "error",
        checks: { db: { status: "down" }, cache: { status: "up" } },
      }]);
      assert.deepEqual(
        records.map(({ level, properties }) => ({ level, ...properties })),
        [{ level: "warning", indicator: "db", ...(name.startsWith("says") ? {} : { error }) }],
      );
    });
  }
});

test("healthCheck() aborts an indicator that hangs, and does not start it again", async () => {
  await captureLogs(["fw", "health"], async (records) => {
    let runs = 0;
    let release = () => {};
    let aborted: unknown;
    const hang = (signal: AbortSignal) => {
      runs++;
      signal.addEventListener("abort", () => aborted = signal.reason.name);
      return new Promise<void>((resolve) => release = resolve);
    };
    const ask = probe({ indicators: { db: hang }, timeoutMs: 20 });
    const down = [503, { status: "error", checks: { db: { status: "down" } } }];
    assert.deepEqual(await ask(), down);
    assert.deepEqual([runs, aborted, records.length], [1, "TimeoutError", 1]);
    const startMs = performance.now();
    for (let i = 0; i < 100; i++) assert.deepEqual(await ask(), down);
    assert(performance.now() - startMs < 1_500, "a hung indicator is not waited for again");
    assert.deepEqual([runs, records.length], [1, 1]);

    release();
    await new Promise((resolve) => setTimeout(resolve));
    const recovered = ask();
    release();
    assert.deepEqual(await recovered, [200, { status: "ok", checks: { db: { status: "up" } } }]);
  });
});

test("healthCheck() handles a failure after the time limit", async () => {
  await captureLogs(["fw", "health"], async (records) => {
    const late = (signal: AbortSignal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const ask = probe({ indicators: { db: late }, timeoutMs: 5 });
    assert.equal((await ask())[0], 503);
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(records.length, 1);
  });
});

test("healthCheck() runs an indicator once for all concurrent probes", async () => {
  let runs = 0;
  const slow = () => {
    runs++;
    return new Promise((resolve) => setTimeout(resolve, 10));
  };
  const ask = probe({ indicators: { db: slow } });
  const answers = await Promise.all(Array.from({ length: 20 }, ask));
  assert.equal(runs, 1);
  assert.deepEqual(new Set(answers.map(([status]) => status)), new Set([200]));
  await ask();
  assert.equal(runs, 2);
});

test("healthCheck() answers 503 while draining, without running the indicators", async () => {
  let runs = 0;
  const application = { isDraining: false };
  const ask = probe({ indicators: { db: () => void runs++ } }, application);
  await ask();
  application.isDraining = true;
  assert.deepEqual(await ask(), [503, { status: "draining" }]);
  assert.equal(runs, 1);
});

test("enableHealthCheck() refuses options that would leave a dependency unchecked", async () => {
  const app = await FwFactory.create(module({}));
  for (
    const [options, why] of [
      [{ indicator: { db: () => true } }, "indicator is not an option, indicators is"],
      [{ indicators: { db: true } }, "indicators.db is not a function"],
    ] as [object, string][]
  ) {
    assert.throws(() => app.enableHealthCheck("/health", options), {
      name: "TypeError",
      message: `Cannot check health: ${why}`,
    });
  }
});
