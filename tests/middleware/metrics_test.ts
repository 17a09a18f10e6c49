import assert from "node:assert/strict";
import { type Handler, Hono } from "hono";
import { Counter, type OpenMetricsContentType, register, Registry } from "prom-client";
import { ForbiddenException, HttpException } from "../../src/core/http/http_exception.ts";
import { markRoute } from "../../src/core/http/matched_route.ts";
import type { OnMetrics } from "../../src/core/module/lifecycle.ts";
import type { Meter } from "../../src/platform/telemetry/meter.ts";
import { createMetrics, type Metrics } from "../../src/middleware/metrics.ts";
import { test } from "../support/test.ts";

function meteredApp({ middleware, handler }: Metrics, show: Handler): Hono {
  const app = new Hono().get("/metrics", handler).use(middleware);
  app.all("/users/:id", markRoute(show, { method: "ALL", path: "/users/:id" }));
  app.onError((error, c) => c.body(null, HttpException.from(error).status as 500));
  return app;
}

async function lines(app: Hono, name: string): Promise<string[]> {
  const text = await (await app.request("/metrics")).text();
  return text.split("\n").filter((line) => line.startsWith(name));
}

test("createMetrics() counts requests by method, route and status", async () => {
  const app = meteredApp(await createMetrics(), (c) => {
    if (c.req.param("id") === "0") throw new ForbiddenException();
    return c.text("shown");
  });
  for (const path of ["/users/1?a=1", "/users/2", "/users/0", "/missing"]) await app.request(path);
  await app.request("/users/1", { method: "HEAD" });
  await app.request("/users/1", { method: "PROPFIND" });
  assert.deepEqual(await lines(app, "http_requests_total"), [
    'http_requests_total{method="GET",route="/users/:id",status="200"} 2',
    'http_requests_total{method="GET",route="/users/:id",status="403"} 1',
    'http_requests_total{method="GET",route="unmatched",status="404"} 1',
    'http_requests_total{method="HEAD",route="/users/:id",status="200"} 1',
    'http_requests_total{method="_OTHER",route="/users/:id",status="200"} 1',
  ]);
});

test("createMetrics() times requests in seconds", async () => {
  const app = meteredApp(await createMetrics(), async (c) => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    return c.text("shown");
  });
  await app.request("/users/1");
  const [sum] = await lines(app, "http_request_duration_seconds_sum");
  const seconds = Number(sum?.split(" ")[1]);
  assert(seconds > 0.025 && seconds < 5, sum);
  assert.deepEqual(
    (await lines(app, "http_request_duration_seconds_bucket"))
      .slice(0, 3)
      .map((line) => /le="([^"]+)".* (\d)/.exec(line)?.slice(1)),
    [["0.005", "0"], ["0.01", "0"], ["0.025", "0"]],
  );
});

test("createMetrics() counts requests in flight, without drift", async () => {
  const inside: string[] = [];
  const app = meteredApp(await createMetrics(), async (c) => {
    inside.push(...await lines(app, "http_requests_in_flight"));
    switch (c.req.param("id")) {
      case "error":
        throw new Error("broken");
      case "value":
        throw "not an error";
      case "aborted":
        await new Promise((_, reject) => {
          c.req.raw.signal.addEventListener("abort", () => reject(c.req.raw.signal.reason));
        });
    }
    return c.text("shown");
  });
  await app.request("/users/1");
  await app.request("/users/error");
  await app.request("/missing");
  await assert.rejects(async () => await app.request("/users/value"));
  const controller = new AbortController();
  const aborted = app.request("/users/aborted", { signal: controller.signal });
  await new Promise((resolve) => setTimeout(resolve, 5));
  controller.abort();
  await aborted;
  assert.deepEqual(inside, Array(4).fill("http_requests_in_flight 1"));
  assert.deepEqual(await lines(app, "http_requests_in_flight"), ["http_requests_in_flight 0"]);
  assert.deepEqual(
    (await lines(app, "http_requests_total")).map((line) => /status="(\d+)"/.exec(line)?.[1]),
    ["200", "500", "404"],
  );
});

test("createMetrics() bounds its labels for any request", async () => {
  const app = meteredApp(await createMetrics(), (c) => c.text("shown"));
  for (let i = 0; i < 10_000; i++) {
    const path = i % 2 ? `/users/${crypto.randomUUID()}` : `/${crypto.randomUUID()}/"\n${i}`;
    await app.request(path, { method: i % 3 ? `M${i}` : "GET" });
  }
  const totals = await lines(app, "http_requests_total");
  assert(totals.length <= 4, totals.join("\n"));
  const requests = totals.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  assert.equal(requests, 10_000);
  assert.deepEqual(
    [...new Set(totals.map((line) => /route="([^"]+)"/.exec(line)?.[1]))].sort(),
    ["/users/:id", "unmatched"],
  );
});

test("createMetrics() adds to the registry of the application, with its content type", async () => {
  const registry: Registry<OpenMetricsContentType> = new Registry();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  new Counter({ name: "orders", help: "Orders", registers: [registry] }).inc(3);
  const metrics = await createMetrics({ registry });
  assert.equal(metrics.registry, registry);
  const app = meteredApp(metrics, (c) => c.text("shown"));
  await app.request("/users/1");
  const response = await app.request("/metrics");
  assert.deepEqual([response.status, response.headers.get("content-type")], [
    200,
    "application/openmetrics-text; version=1.0.0; charset=utf-8",
  ]);
  const text = await response.text();
  assert(text.includes("orders_total 3\n"));
  assert(text.includes('http_requests_total{method="GET",route="/users/:id",status="200"} 1\n'));
  assert(text.endsWith("# EOF\n"));
});

test("createMetrics() shares nothing between applications", async () => {
  const metrics = await createMetrics();
  const app = meteredApp(metrics, (c) => c.text("shown"));
  const other = meteredApp(await createMetrics(), (c) => c.text("shown"));
  await app.request("/users/1");
  assert.equal((await lines(app, "http_requests_total")).length, 1);
  assert.equal((await lines(other, "http_requests_total")).length, 0);
  assert.deepEqual(register.getMetricsAsArray(), []);
  await assert.rejects(createMetrics({ registry: metrics.registry }), /already been registered/);
});

test("createMetrics() reads the usage of pools at each scrape, and adds up those of a name", async () => {
  let used = 1;
  const usage = { name: "a", idle: undefined, waiting: 2, max: 5 };
  const pools = [
    { poolUsage: () => ({ ...usage, used }) },
    { poolUsage: () => ({ ...usage, used: 3, idle: 4 }) },
    { poolUsage: () => ({ ...usage, used: 0, name: "b" }) },
  ];
  const app = meteredApp(await createMetrics({ pools }), (c) => c.text("shown"));
  const counts = () => lines(app, "db_client_connection_count");
  const [pool, state] = ["db_client_connection_pool_name", "db_client_connection_state"];
  const expected = (used: number) => [
    `db_client_connection_count{${pool}="a",${state}="used"} ${used}`,
    `db_client_connection_count{${pool}="a",${state}="idle"} 4`,
    `db_client_connection_count{${pool}="b",${state}="used"} 0`,
  ];
  assert.deepEqual(await counts(), expected(4));
  used = 2;
  assert.deepEqual(await counts(), expected(5));
  assert.deepEqual(await lines(app, "db_client_connection_pending_requests"), [
    `db_client_connection_pending_requests{${pool}="a"} 4`,
    `db_client_connection_pending_requests{${pool}="b"} 2`,
  ]);
  const none = meteredApp(await createMetrics(), (c) => c.text("shown"));
  assert.deepEqual((await (await none.request("/metrics")).text()).match(/db_client/g), null);
});

test("createMetrics() has instances add their metrics, with labels and without", async () => {
  let age: number | undefined = 3;
  const counts: (() => void)[] = [];
  class Shop implements OnMetrics {
    onMetrics(meter: Meter): void {
      const orders = meter.counter({ name: "orders_total", help: "Orders", labels: ["kind"] });
      const sizes = meter.histogram({ name: "order_items", help: "Items", buckets: [1, 10] });
      meter.gauge({
        name: "oldest_order_seconds",
        help: "Seconds of the oldest order",
        values: () => age === undefined ? [] : [[{}, age]],
      });
      counts.push(() => orders({ kind: "gift" }), () => sizes({}, 4));
    }
  }
  const metrics = await createMetrics({}, [new Shop(), {}]);
  const app = meteredApp(metrics, (c) => c.text("shown"));
  counts.forEach((count) => count());
  assert.deepEqual(await lines(app, "orders_total"), ['orders_total{kind="gift"} 1']);
  assert.deepEqual((await lines(app, "order_items_bucket")).map((line) => line.split(" ")[1]), [
    ...["0", "1", "1"],
  ]);
  assert.deepEqual(await lines(app, "oldest_order_seconds"), ["oldest_order_seconds 3"]);
  age = undefined;
  assert.deepEqual(await lines(app, "oldest_order_seconds"), []);
});
