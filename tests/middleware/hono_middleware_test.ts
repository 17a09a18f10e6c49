import assert from "node:assert/strict";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { cors } from "hono/cors";
import { secureHeaders } from "hono/secure-headers";
import { timeout } from "hono/timeout";
import { HttpException } from "../../src/core/http/http_exception.ts";
import { markRoute } from "../../src/core/http/matched_route.ts";
import { createMetrics } from "../../src/middleware/metrics.ts";
import { rateLimit } from "../../src/middleware/rate_limit/rate_limit.ts";
import { requestIdMiddleware } from "../../src/middleware/request_id.ts";
import { requestTracing } from "../../src/middleware/request_tracing.ts";
import { test } from "../support/test.ts";
import { captureLogs } from "../support/capture_logs.ts";

async function fullApp({ timeoutMs = 10_000 } = {}): Promise<Hono> {
  const metrics = await createMetrics();
  const app = new Hono().get("/metrics", metrics.handler);
  app.onError((error, c) => {
    const { status, message, headers } = HttpException.from(error);
    return c.json({ detail: message }, status as 500, headers);
  });
  const tracing = requestTracing();
  app.use(requestIdMiddleware({ generator: () => "id" }), tracing, metrics.middleware);
  app.use(cors({ origin: "https://app.example", exposeHeaders: ["x-request-id"] }));
  app.use(secureHeaders(), compress(), rateLimit({ max: 3 }), timeout(timeoutMs));
  app.get(
    "/long",
    markRoute((c) => c.text("long ".repeat(1000)), { method: "GET", path: "/long" }),
  );
  return app.get("/slow", async (c) => {
    await new Promise((resolve) => setTimeout(resolve, 40));
    return c.text("too late");
  });
}

const ORIGIN = { origin: "https://app.example" };

test("Hono's compress, cors and secure-headers work with the framework's middleware", async () => {
  await captureLogs(["fw", "http"], async (records) => {
    const app = await fullApp();
    const headers = { ...ORIGIN, "accept-encoding": "gzip" };
    const response = await app.request("/long", { headers });
    const fields = [
      "access-control-allow-origin",
      "access-control-expose-headers",
      "content-encoding",
      "ratelimit",
      "x-content-type-options",
      "x-request-id",
    ];
    assert.deepEqual(fields.map((name) => response.headers.get(name)), [
      "https://app.example",
      "x-request-id",
      "gzip",
      '"default";r=2;t=60',
      "nosniff",
      "id",
    ]);
    const text = new Response(response.body?.pipeThrough(new DecompressionStream("gzip"))).text();
    assert.equal(await text, "long ".repeat(1000));
    assert.deepEqual(
      records.map(({ properties }) => [properties.route, properties.status, properties.requestId]),
      [["/long", 200, "id"]],
    );
  });
});

test("Hono's cors answers a preflight before the rate limit, with an id", async () => {
  const app = await fullApp();
  for (let i = 0; i < 5; i++) {
    const response = await app.request("/long", {
      method: "OPTIONS",
      headers: { ...ORIGIN, "access-control-request-method": "GET" },
    });
    assert.deepEqual(
      [response.status, response.headers.get("x-request-id"), response.headers.get("ratelimit")],
      [204, "id", null],
    );
  }
});

test("a 429 has the id, CORS and security headers, and is counted", async () => {
  const app = await fullApp();
  for (let i = 0; i < 3; i++) await app.request("/long");
  const response = await app.request("/long", { headers: ORIGIN });
  const fields = [
    "access-control-allow-origin",
    "retry-after",
    "x-content-type-options",
    "x-request-id",
  ];
  assert.deepEqual(
    [response.status, ...fields.map((name) => response.headers.get(name))],
    [429, "https://app.example", "60", "nosniff", "id"],
  );
  assert.deepEqual(await response.json(), { detail: "Try again in 60 s" });
  const metrics = await (await app.request("/metrics")).text();
  assert.match(metrics, /http_requests_total\{method="GET",route="\/long",status="429"\} 1\n/);
});

test("Hono's timeout answers 504 with the id and the rate limit's fields", async () => {
  const app = await fullApp({ timeoutMs: 20 });
  const response = await app.request("/slow");
  await new Promise((resolve) => setTimeout(resolve, 40)); // the handler still runs
  assert.deepEqual(
    [response.status, response.headers.get("x-request-id"), response.headers.get("ratelimit")],
    [504, "id", '"default";r=2;t=60'],
  );
});
