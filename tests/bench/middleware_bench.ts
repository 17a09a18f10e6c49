/**
 * What each middleware adds to a GET on bare Hono, through `app.fetch` with the `env` of Deno's
 * server. Goal: request id, tracing without a sink and metrics together at most 5 µs.
 */
import { Hono, type MiddlewareHandler } from "hono";
import { requestId as honoRequestId } from "hono/request-id";
import { markRoute } from "../../src/core/http/matched_route.ts";
import { createMetrics } from "../../src/middleware/metrics.ts";
import { rateLimit } from "../../src/middleware/rate_limit/rate_limit.ts";
import { requestIdMiddleware } from "../../src/middleware/request_id.ts";
import { requestTracing } from "../../src/middleware/request_tracing.ts";
import { trustedProxy } from "../../src/middleware/client_ip.ts";

const ENV = { remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 4711 } };
const metrics = await createMetrics();
const limit = rateLimit({ max: Number.MAX_SAFE_INTEGER });
const nothing: MiddlewareHandler = async (_, next) => await next();

const cases: Readonly<Record<string, readonly MiddlewareHandler[]>> = {
  "one middleware that does nothing": [nothing],
  "request id of Hono": [honoRequestId()],
  "request id": [requestIdMiddleware()],
  "tracing": [requestTracing()],
  "metrics": [metrics.middleware],
  "rate limit": [limit],
  "trusted proxy and rate limit": [trustedProxy({ hops: 1 }), limit],
  "three middlewares that do nothing": [nothing, nothing, nothing],
  "request id, tracing and metrics": [
    requestIdMiddleware(),
    requestTracing(),
    metrics.middleware,
  ],
};

for (const [name, middlewares] of Object.entries(cases)) {
  const app = new Hono();
  for (const middleware of middlewares) app.use(middleware);
  app.get("/users/:id", markRoute((c) => c.json({ id: 7 }), { method: "GET", path: "/users/:id" }));
  const request = new Request("http://localhost/users/7", {
    headers: { "x-forwarded-for": "203.0.113.7" },
  });
  Deno.bench(name, { group: "GET", baseline: name.includes("one") }, async () => {
    await app.fetch(request, ENV);
  });
}
