import assert from "node:assert/strict";
import { type Context, Hono } from "hono";
import { FwFactory, module } from "../../../mod.ts";
import { HttpException } from "../../../src/core/http/http_exception.ts";
import { trustedProxy } from "../../../src/middleware/client_ip.ts";
import { MemoryRateLimitStore } from "../../../src/middleware/rate_limit/memory_rate_limit_store.ts";
import { rateLimit } from "../../../src/middleware/rate_limit/rate_limit.ts";
import type { RateLimitOptions } from "../../../src/middleware/rate_limit/rate_limit_options.ts";
import type { RateLimitStore } from "../../../src/middleware/rate_limit/rate_limit_store.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { serve } from "../serve.ts";

const FIELDS = ["ratelimit", "ratelimit-policy", "retry-after"];

function limitedApp(...limits: RateLimitOptions[]): Hono {
  const app = new Hono();
  app.onError((error, c) => {
    const { status, message, headers } = HttpException.from(error);
    return c.text(message, status as 500, headers);
  });
  for (const options of limits) app.use(rateLimit(options));
  app.get("/fail", () => {
    throw new Error("broken");
  });
  app.get("/raw", () => Response.redirect("http://localhost/"));
  return app.get("/", (c) => c.text("ok"));
}

function from(hostname: string): object {
  return { remoteAddr: { hostname } };
}

function summary(response: Response): unknown[] {
  return [response.status, ...FIELDS.map((name) => response.headers.get(name))];
}

async function statuses(app: Hono, environments: object[]): Promise<number[]> {
  const seen: number[] = [];
  for (const env of environments) seen.push((await app.request("/", {}, env)).status);
  return seen;
}

test("rateLimit() refuses more than max in a window with 429 and lets the next window pass", async () => {
  let nowMs = 0;
  const store = new MemoryRateLimitStore({ now: () => nowMs });
  const app = limitedApp({ max: 2, windowMs: 10_000, store });
  const policy = '"default";q=2;w=10';
  assert.deepEqual(summary(await app.request("/")), [200, '"default";r=1;t=10', policy, null]);
  nowMs = 4500;
  assert.deepEqual(summary(await app.request("/")), [200, '"default";r=0;t=6', policy, null]);
  const refused = await app.request("/");
  assert.deepEqual(summary(refused), [429, '"default";r=0;t=6', policy, "6"]);
  assert.equal(await refused.text(), "Try again in 6 s");
  nowMs = 9999.5;
  assert.deepEqual(summary(await app.request("/")), [429, '"default";r=0;t=1', policy, "1"]);
  nowMs = 10_000;
  assert.deepEqual(summary(await app.request("/")), [200, '"default";r=1;t=10', policy, null]);
});

test("rateLimit() allows 100 requests in 60 seconds by default", async () => {
  const app = limitedApp({});
  for (let i = 0; i < 100; i++) assert.equal((await app.request("/")).status, 200);
  assert.deepEqual(summary(await app.request("/")), [
    429,
    '"default";r=0;t=60',
    '"default";q=100;w=60',
    "60",
  ]);
});

test("rateLimit() sends its fields with every counted response", async () => {
  for (const [path, status] of [["/fail", 500], ["/missing", 404], ["/raw", 302]]) {
    const response = await limitedApp({ max: 5 }).request(`${path}`);
    assert.deepEqual(summary(response), [
      status,
      '"default";r=4;t=60',
      '"default";q=5;w=60',
      null,
    ]);
  }
});

test("rateLimit() sends its fields when the not-found handler throws", async () => {
  const app = limitedApp({ max: 5 });
  app.notFound(() => {
    throw new HttpException(404, "nowhere");
  });
  assert.deepEqual(summary(await app.request("/missing")), [
    404,
    '"default";r=4;t=60',
    '"default";q=5;w=60',
    null,
  ]);
});

test("rateLimit() distinguishes several limits on one route", async () => {
  const app = limitedApp({ max: 9 }, { max: 1, name: "login", windowMs: 1000 });
  await app.request("/");
  const refused = await app.request("/");
  assert.deepEqual(summary(refused), [
    429,
    '"login";r=0;t=1, "default";r=7;t=60',
    '"login";q=1;w=1, "default";q=9;w=60',
    "1",
  ]);
});

test("rateLimit() separates different limits in one store, and shares equal ones", async () => {
  for (
    const [other, expected] of [
      [{ max: 2, name: "second" }, [200, 200, 429]],
      [{ max: 3 }, [200, 200, 429]],
      [{ max: 2, windowMs: 1_000_000 }, [200, 200, 429]],
      [{ max: 2 }, [200, 429, 429]],
    ] as const
  ) {
    const store = new MemoryRateLimitStore();
    const app = limitedApp({ max: 2, store }, { ...other, store });
    assert.deepEqual(await statuses(app, [{}, {}, {}]), expected, JSON.stringify(other));
  }
});

test("rateLimit() distinguishes clients by address, for IPv6 by the /64 network", async () => {
  const app = limitedApp({ max: 1 });
  const environments = [
    "192.0.2.1",
    "192.0.2.2",
    "192.0.2.1",
    "::ffff:192.0.2.2",
    "2001:db8:0:1::1",
    "2001:db8:0:1:ffff::9",
    "2001:db8:0:2::1",
  ].map(from);
  assert.deepEqual(await statuses(app, environments), [200, 200, 429, 429, 200, 429, 200]);
  assert.deepEqual(await statuses(app, [{}, {}]), [200, 429], "no address: one key for all");
});

test("rateLimit() takes a key that is an IPv6 address for its network, however it is written", async () => {
  const keys = [
    "2001:db8:0:1::1",
    "2001:DB8:0:1:ffff::9",
    "2001:db8:0:2::1",
    "user:1",
    "user:1::2",
    "user:1::3",
  ];
  const app = limitedApp({ max: 1, key: (c) => c.req.header("x-key") });
  const seen = [];
  for (const key of keys) {
    seen.push((await app.request("/", { headers: { "x-key": key } })).status);
  }
  assert.deepEqual(seen, [200, 429, 200, 200, 200, 200]);
});

test("rateLimit() limits a real client that forges addresses", async () => {
  const server = await serve(limitedApp({ max: 3 }));
  try {
    const seen = [];
    for (let i = 0; i < 5; i++) {
      const headers = { "x-forwarded-for": `192.0.2.${i}` };
      const response = await fetch(`http://127.0.0.1:${server.port}/`, { headers });
      await response.body?.cancel();
      seen.push(response.status);
    }
    assert.deepEqual(seen, [200, 200, 200, 429, 429]);
  } finally {
    await server.close();
  }
});

test("rateLimit() uses key, synchronous or not", async () => {
  const keys = [
    (c: Context) => c.req.header("x-tenant"),
    (c: Context) => Promise.resolve(c.req.header("x-tenant")),
  ];
  for (const key of keys) {
    const app = limitedApp({ max: 1, key });
    const seen = [];
    for (const tenant of ["a", "b", "a"]) {
      seen.push((await app.request("/", { headers: { "x-tenant": tenant } })).status);
    }
    seen.push((await app.request("/")).status, (await app.request("/")).status);
    assert.deepEqual(seen, [200, 200, 429, 200, 429]);
  }
});

test("rateLimit() neither limits nor counts requests that skip exempts", async () => {
  for (const skip of [exempts, (c: Context) => Promise.resolve(exempts(c))]) {
    const app = limitedApp({ max: 1, skip });
    const headers = { "x-internal": "yes" };
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(summary(await app.request("/", { headers })), [200, null, null, null]);
    }
    assert.deepEqual(await statuses(app, [{}, {}]), [200, 429]);
  }
  function exempts(c: Context): boolean {
    return c.req.header("x-internal") === "yes";
  }
});

test("rateLimit() keeps the keys of a store short and distinct", async () => {
  const keys: string[] = [];
  const store: RateLimitStore = {
    hit(key) {
      keys.push(key);
      return { count: 1, resetMs: 1 };
    },
  };
  const app = limitedApp({ name: "n".repeat(64), store, key: (c) => c.req.header("x-key") });
  for (const key of ["k".repeat(128), "k".repeat(129), "k".repeat(130), "x".repeat(5000)]) {
    await app.request("/", { headers: { "x-key": key } });
  }
  assert.equal(new Set(keys).size, 4);
  assert.equal(keys[0], `${"n".repeat(64)}:100:60000:${"k".repeat(128)}`);
  assert(keys.every((key) => key.length <= 256), keys.join("\n"));
});

test("rateLimit() counts in the process while its store fails", async () => {
  const store: RateLimitStore = { hit: () => new Promise(() => {}) };
  const app = limitedApp({ max: 2, store, storeTimeoutMs: 10 });
  const startMs = performance.now();
  assert.deepEqual(await statuses(app, [{}, {}, {}, {}]), [200, 200, 429, 429]);
  assert(performance.now() - startMs < 2_000);
});

test("a second limit that refuses a request keeps the fields of the first", async () => {
  const app = await FwFactory.create(module({}));
  app.useRateLimit({ max: 5, name: "a" }).useRateLimit({ max: 1, name: "b" });
  await app.request("/");
  const { status, headers } = await app.request("/");
  assert.equal(status, 429);
  assert.equal(headers.get("ratelimit"), '"b";r=0;t=60, "a";r=3;t=60');
});

test("rateLimit() refuses options out of range", () => {
  const refusals: [RateLimitOptions, string][] = [
    [{ max: 0 }, "max 0 is not a positive integer"],
    [{ max: 1.5 }, "max 1.5 is not a positive integer"],
    [{ max: Infinity }, "max Infinity is not a positive integer"],
    [{ windowMs: 0 }, "windowMs 0 is not a whole number of seconds"],
    [{ windowMs: 1500 }, "windowMs 1500 is not a whole number of seconds"],
    [{ windowMs: NaN }, "windowMs NaN is not a whole number of seconds"],
    [{ storeTimeoutMs: 0 }, "storeTimeoutMs 0 is not a time limit"],
    [{ name: 'a"b' }, 'name "a\\"b" is not a short token'],
    [{ name: "" }, 'name "" is not a short token'],
  ];
  for (const [options, reason] of refusals) {
    const refusal = { name: "RangeError", message: `Cannot limit rate: ${reason}` };
    assert.throws(() => rateLimit(options), refusal);
  }
  assert.throws(() => rateLimit({ limit: 5 } as object), {
    name: "TypeError",
    message: "Cannot limit rate: limit is not an option",
  });
});

test("rateLimit() warns once of a refused request whose X-Forwarded-For is ignored", async () => {
  const env = from("192.0.2.1");
  const forwarded = { headers: { "x-forwarded-for": "198.51.100.1" } };
  await captureLogs(["fw", "rate-limit"], async (records) => {
    const app = limitedApp({ max: 1 });
    for (const init of [forwarded, {}, forwarded, forwarded]) await app.request("/", init, env);
    assert.deepEqual(records.map(({ level }) => level), ["warning"]);
    assert.match(String(records[0]?.rawMessage), /X-Forwarded-For, which is ignored/);
  });
  await captureLogs(["fw", "rate-limit"], async (records) => {
    const trusting = new Hono().use(trustedProxy({ hops: 1 })).route("/", limitedApp({ max: 1 }));
    const keyed = limitedApp({ max: 1, key: () => "one" });
    for (const app of [trusting, keyed]) {
      for (let i = 0; i < 2; i++) await app.request("/", forwarded, env);
      assert.equal((await app.request("/", forwarded, env)).status, 429);
    }
    assert.deepEqual(records, []);
  });
});
