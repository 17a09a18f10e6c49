import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import assert from "node:assert/strict";
import * as v from "valibot";
import {
  clientIp,
  controller,
  type FwApplication,
  FwFactory,
  inject,
  module,
  rateLimit,
  requestId,
  route,
} from "../../mod.ts";
import { MIDDLEWARE_ORDER } from "../../src/core/module/plugin.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import { withEnv } from "../support/with_env.ts";

class PingService {
  readonly answer = "pong";
}

class PingController extends controller() {
  readonly #ping = inject(PingService);

  ping = route.get("/ping", (_, c) => c.text(this.#ping.answer));
  whoPosts = route.post(
    "/who",
    { body: v.number(), args: { ip: clientIp } },
    ({ body, ip }) => ({ ip, body }),
  );
  who = route.get("/who", (_, c) => ({ ip: clientIp(c), id: requestId(c) }));
  fail = route.get("/fail", () => Promise.reject(new Error("boom")));
  echo = route.post("/echo", { body: v.unknown() }, ({ body }) => body);
}

const AppModule = module({
  name: "AppModule",
  providers: [PingService],
  controllers: [PingController],
});

test("FwFactory.create() returns an application that can answer", () =>
  captureLogs(["fw"], async () => {
    const app = await FwFactory.create(AppModule);
    assert.equal(await (await app.request("/ping")).text(), "pong");
    const { fetch } = app;
    assert.equal(await (await fetch(new Request("http://localhost/ping"))).text(), "pong");
    assert.equal(app.get(PingService).answer, "pong");
  }));

test("FwFactory.create() refuses a value that is not a module", async () => {
  await assert.rejects(FwFactory.create({} as typeof AppModule), {
    name: "TypeError",
    message: "Cannot import object: it was not made by module()",
  });
  class DbModule {}
  const imports = [DbModule as unknown as typeof AppModule];
  await assert.rejects(FwFactory.create(module({ imports })), {
    name: "TypeError",
    message: "Cannot import DbModule: it was not made by module()",
  });
  const anonymous = [(() => AppModule) as unknown as typeof AppModule];
  await assert.rejects(FwFactory.create(module({ imports: anonymous })), {
    name: "TypeError",
    message: "Cannot import function: it was not made by module()",
  });
});

test("setGlobalPrefix() prefixes the routes, not the endpoints", async () => {
  await using app = await createTestApplication(AppModule, {
    setUp: (app) =>
      app.setGlobalPrefix("api").enableHealthCheck("/health").enableMetrics("/metrics"),
  });
  const status = async (path: string) => (await app.request(path)).status;
  assert.equal(await status("/api/ping"), 200);
  assert.equal(await status("/ping"), 404);
  assert.equal(await status("/health"), 200);
  assert.equal(await status("/health/"), 200);
  assert.equal(await status("/metrics"), 200);
  assert.equal(await status("/api/health"), 404);
});

test("enableHealthCheck() answers the status as JSON at the given path", async () => {
  await using app = await createTestApplication(AppModule, {
    setUp: (app) => app.enableHealthCheck("/up"),
  });
  const response = await app.request("/up");
  assert.equal(response.headers.get("content-type"), "application/json");
  assert.deepEqual(await response.json(), { status: "ok" });
  assert.equal(
    (await app.request("/up", { method: "POST" })).headers.get("allow"),
    "GET, HEAD, OPTIONS",
  );
});

test("enableMetrics() serves its counts in a text format", async () => {
  await using app = await createTestApplication(AppModule, {
    setUp: (app) => app.enableMetrics("/metrics"),
  });
  await app.request("/ping");
  await app.request("/fail");
  await app.request("/unknown");
  const text = await (await app.request("/metrics")).text();
  for (
    const [route, status] of [["/ping", 200], ["/fail", 500], ["unmatched", 404]]
  ) {
    assert.ok(
      text.includes(`http_requests_total{method="GET",route="${route}",status="${status}"} 1`),
    );
  }
});

test("a 404 and a 405 have the headers of all middleware, including the innermost", async () => {
  const tagging: MiddlewareHandler = async (c, next) => {
    await next();
    c.header("x-tag", String(c.res.status));
  };
  await using app = await createTestApplication(AppModule, { setUp: (app) => app.use(tagging) });
  for (const [path, method, status] of [["/none", "GET", 404], ["/ping", "POST", 405]] as const) {
    const response = await app.request(path, { method });
    assert.deepEqual([response.status, response.headers.get("x-tag")], [status, `${status}`]);
    assert.equal((await response.json()).status, status);
  }
});

test("two applications have separate metrics", async () => {
  const setUp = (app: FwApplication) => app.enableMetrics("/metrics");
  await using one = await createTestApplication(AppModule, { setUp });
  await using two = await createTestApplication(AppModule, { setUp });
  await one.request("/ping");
  assert.doesNotMatch(await (await two.request("/metrics")).text(), /ping/);
});

test("HTTP table, order: a request passes MIDDLEWARE_ORDER, whatever the order of the calls", async () => {
  assert.deepEqual(MIDDLEWARE_ORDER, [
    "trustedProxy",
    "requestId",
    "requestTracing",
    "metrics",
    "docs",
    "use",
    "endpoints",
    "rateLimit",
    "authn",
    "oauth2",
    "afterAuthentication",
    "callerRateLimit",
    "routes",
  ]);
  const seen: string[] = [];
  const spy: MiddlewareHandler = async (c, next) => {
    seen.push(`use: id ${requestId(c)}, ip ${clientIp(c)}`);
    await next();
    seen.push(`use: ${c.res.status}`);
  };
  await using app = await createTestApplication(AppModule, {
    setUp: (app) =>
      app
        .useGlobalGuards(() => seen.push("guard") > 0)
        .useRateLimit({ max: 1, key: (c) => void seen.push(`limit: ${c.req.path}`) as undefined })
        .enableHealthCheck("/health")
        .use(cors())
        .use(spy)
        .enableMetrics("/metrics")
        .useRequestTracing()
        .useRequestId()
        .useTrustedProxy({ hops: 1 }),
  });
  const request = (path: string) =>
    app.request(path, {
      env: { remoteAddr: { hostname: "10.0.0.1" } },
      headers: { "x-request-id": "id-1", "x-forwarded-for": "192.0.2.7" },
    });
  assert.equal((await request("/ping")).status, 200);
  const limited = await request("/ping");
  assert.equal(limited.status, 429);
  assert.equal(limited.headers.get("x-request-id"), "id-1");
  assert.equal(limited.headers.get("access-control-allow-origin"), "*");
  assert.match(limited.headers.get("retry-after") ?? "", /^\d+$/);
  const health = await request("/health");
  assert.equal(health.status, 200);
  assert.deepEqual(seen, [
    "use: id id-1, ip 192.0.2.7",
    "limit: /ping",
    "guard",
    "use: 200",
    "use: id id-1, ip 192.0.2.7",
    "limit: /ping",
    "use: 429",
    "use: id id-1, ip 192.0.2.7",
    "use: 200",
  ]);
  const metrics = await (await request("/metrics")).text();
  assert.ok(metrics.includes('http_requests_total{method="GET",route="/ping",status="429"} 1'));
});

test("use() accepts a path, and adds up", async () => {
  const header = (name: string): MiddlewareHandler => async (c, next) => {
    await next();
    c.header(name, "1");
  };
  await using app = await createTestApplication(AppModule, {
    setUp: (app) => app.use(header("x-all")).use("/who/*", header("x-who")),
  });
  const names = async (path: string) => {
    const { headers } = await app.request(path);
    return [headers.has("x-all"), headers.has("x-who")];
  };
  assert.deepEqual(await names("/ping"), [true, false]);
  assert.deepEqual(await names("/who"), [true, true]);
});

test("builder methods throw once the application serves", async () => {
  await using app = await createTestApplication(AppModule);
  const message = "Cannot change the application: it is already serving; " +
    "call builder methods before the first request or listen()";
  assert.throws(() => app.setGlobalPrefix("api"), { name: "TypeError", message });
  assert.throws(() => app.useRequestId(), { name: "TypeError", message });
  assert.throws(() => app.enableMetrics(), { name: "TypeError", message });
});

test("listen() serves on a socket, and close() releases it", () =>
  captureLogs(["fw"], async () => {
    const app = await FwFactory.create(AppModule);
    const server = await app.listen(0, { hostname: "127.0.0.1" });
    try {
      const url = `http://127.0.0.1:${server.port}`;
      assert.equal(await (await fetch(`${url}/ping`)).text(), "pong");
      assert.deepEqual(await (await fetch(`${url}/who`)).json(), { ip: "127.0.0.1" });
      const chunked = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode("1"));
          controller.close();
        },
      });
      const init = {
        method: "POST",
        body: chunked,
        headers: { "content-type": "application/json" },
      };
      const posted = await fetch(`${url}/who`, { ...init, duplex: "half" } as RequestInit);
      assert.deepEqual(await posted.json(), { ip: "127.0.0.1", body: 1 });
      const large = await fetch(`${url}/echo`, {
        method: "POST",
        body: `"${"x".repeat(3_000_000)}"`,
        headers: { "content-type": "application/json" },
      });
      assert.equal(large.status, 413);
      await large.body?.cancel();
    } finally {
      await app.close();
    }
    await assert.rejects(fetch(`http://127.0.0.1:${server.port}/ping`));
  }));

test("listen() refuses an application that is closed", () =>
  captureLogs(["fw"], async () => {
    const app = await FwFactory.create(AppModule);
    await app.close();
    await assert.rejects(app.listen(0), { message: "Cannot serve: the application is closed" });
  }));

test("routes() considers global guards, and get() finds providers of any module", async () => {
  class Hidden {
    readonly value = 1;
  }
  const hidden = module({ providers: [Hidden] });
  await using app = await createTestApplication(
    module({ imports: [hidden], providers: [PingService], controllers: [PingController] }),
    { setUp: (app) => app.useGlobalGuards(() => true) },
  );
  assert.ok(app.routes().every(({ protection }) => protection === "guarded"));
  assert.equal(app.routes()[0]?.handler, "PingControllerModule.PingController.echo");
  assert.equal(app.get(Hidden).value, 1);
  class Unknown {}
  assert.throws(() => app.get(Unknown), {
    name: "TypeError",
    message: "Cannot inject Unknown in PingControllerModule: no module provides it; " +
      "list it in the providers of PingControllerModule",
  });
});

test("listen() refuses an application whose routes collide", () =>
  captureLogs(["fw"], async () => {
    class VersionedController extends controller("", { version: "v1" }) {
      list = route.get("/ping", () => 1);
    }
    const app = await FwFactory.create(
      module({ providers: [PingService], controllers: [VersionedController, PingController] }),
    );
    app.enableUriVersioning({ defaultVersion: "v1" });
    await assert.rejects(app.listen(0), {
      name: "TypeError",
      message: /has GET \/v1\/ping already$/,
    });
  }));

test("use() accepts a path with or without a trailing slash", async () => {
  const refuse: MiddlewareHandler = (c) => Promise.resolve(c.text("refused", 403));
  for (const path of ["/ping", "/ping/", "ping"]) {
    await using app = await createTestApplication(AppModule, {
      setUp: (app) => app.use(path, refuse),
    });
    assert.equal((await app.request("/ping")).status, 403);
    assert.equal((await app.request("/ping/")).status, 403);
    assert.equal((await app.request("/who")).status, 200);
  }
});

test("a second call of enableMetrics() replaces the first; health checks add up", async () => {
  await using app = await createTestApplication(AppModule, {
    setUp: (app) =>
      app.enableMetrics("/m1").enableMetrics("/m2").enableHealthCheck("/live")
        .enableHealthCheck("/ready", { indicators: { db: () => false } }),
  });
  const statuses = ["/m1", "/m2", "/live", "/ready"].map(async (path) =>
    (await app.request(path)).status
  );
  assert.deepEqual(await Promise.all(statuses), [404, 200, 200, 503]);
  assert.match(await (await app.request("/m2")).text(), /http_requests_total\{/);
});

test("builder methods refuse invalid options at the call", async () => {
  const app = await FwFactory.create(AppModule);
  assert.throws(() => app.useTrustedProxy({ hops: -1 }), RangeError);
  assert.throws(() => app.useRateLimit({ max: -1 }), RangeError);
  assert.throws(() => app.useRequestId({ headerName: "a b" }), TypeError);
  assert.throws(() => app.useRequestTracing({ skipPaths: ["x"] }), TypeError);
  assert.throws(() => app.enableHealthCheck("/a b"), TypeError);
  assert.throws(() => app.use("nothing" as never, undefined as never), TypeError);
  assert.throws(() => app.use("", (_, next) => next()), /its path is empty/);
  assert.throws(() => app.useRateLimit({ key: "ip" as never }), /key is not a function/);
  for (const store of [{}, { eval: () => Promise.resolve() }, "redis", null, { hit: 1 }]) {
    assert.throws(() => app.useRateLimit({ store: store as never }), {
      name: "TypeError",
      message: "Cannot limit rate: store has no method hit; wrap a Redis client in a " +
        "RedisRateLimitStore",
    });
  }
  for (const options of [5, []]) {
    assert.throws(() => app.useRateLimit(options as never), /the options are not a plain object/);
  }
  assert.throws(
    () => app.useOAuth2({ require: true } as never),
    /the verifier has no method verify/,
  );
  const verifier = { verify: () => Promise.reject(new Error("unused")) };
  for (const options of [true, () => true, [], "require"]) {
    assert.throws(
      () => app.useAuthn(verifier, options as never),
      /the options are not a plain object/,
    );
  }
});

test("a value that a callback of the application throws becomes a problem, even if it is not an Error", () =>
  withEnv("FW_ENV", "development", async () => {
    const odd = (): never => {
      throw "a string";
    };
    for (
      const setUp of [
        (app: FwApplication) => app.useRateLimit({ key: odd }),
        (app: FwApplication) => app.useRateLimit({ skip: odd }),
        (app: FwApplication) => app.useRequestId({ generator: odd }),
      ]
    ) {
      await using app = await createTestApplication(AppModule, { setUp });
      const response = await app.request("/ping");
      assert.deepEqual([response.status, (await response.json()).detail], [500, "a string"]);
    }
  }));

test("limits with different names add up, and a second one with the same name is refused", async () => {
  await using app = await createTestApplication(AppModule, {
    setUp: (app) => app.useRateLimit({ max: 5 }).useRateLimit({ name: "hourly", max: 9 }),
  });
  const { headers } = await app.request("/ping");
  assert.equal(headers.get("ratelimit-policy"), '"hourly";q=9;w=60, "default";q=5;w=60');
  for (const second of [{}, { afterAuthentication: true, key: () => "x" }]) {
    const limited = (await FwFactory.create(AppModule)).useRateLimit();
    assert.throws(() => limited.useRateLimit(second), {
      name: "TypeError",
      message:
        'Cannot limit rate: another limit has the name "default"; give each a name of its own',
    });
    await limited.close();
  }
});

test("rateLimit() limits one path when passed to use()", async () => {
  await using app = await createTestApplication(AppModule, {
    setUp: (app) => app.use("/ping", rateLimit({ max: 1 })),
  });
  const statuses = [];
  for (const path of ["/ping", "/ping", "/who"]) statuses.push((await app.request(path)).status);
  assert.deepEqual(statuses, [200, 429, 200]);
});

test("close() during assembly stops the instances that it has started", async () => {
  const lines: string[] = [];
  class SlowGuard {
    async onModuleInit() {
      await new Promise((resolve) => setTimeout(resolve, 5));
      lines.push("init");
    }
    onModuleDestroy() {
      lines.push("destroy");
    }
    canActivate() {
      return true;
    }
  }
  const app = (await FwFactory.create(AppModule)).useGlobalGuards(SlowGuard);
  const ready = app.ready();
  await app.close();
  await ready;
  assert.deepEqual(lines, ["init", "destroy"]);
  const closed = await FwFactory.create(AppModule);
  await closed.close();
  await assert.rejects(closed.request("/ping"), {
    message: "Cannot serve: the application is closed",
  });
});

test("an application whose assembly has failed can be corrected", async () => {
  const app = await FwFactory.create(AppModule);
  app.enableHealthCheck("/ping");
  await assert.rejects(app.ready(), { message: /GET \/ping is an endpoint already/ });
  assert.equal((await app.setGlobalPrefix("api").request("/api/ping")).status, 200);
});

test("close() at once after listen() leaves no server open", () =>
  captureLogs(["fw"], async () => {
    const app = await FwFactory.create(AppModule);
    const listening = app.listen(0, { hostname: "127.0.0.1" });
    await app.close();
    await assert.rejects(listening, { message: "Cannot serve: the application is closed" });
  }));

test("close() while the server is opened leaves no server open", () =>
  captureLogs(["fw"], async () => {
    const app = await FwFactory.create(AppModule);
    let closing: Promise<void> | undefined;
    const options = {
      get hostname() { // which is read when the router is assembled
        closing = app.close();
        return "127.0.0.1";
      },
    };
    await assert.rejects(app.listen(0, options), {
      message: "Cannot listen: the application is closed",
    });
    await closing;
  }));

test("createTestApplication() stops the application whose setUp fails", async () => {
  let destroyed = false;
  class Resource {
    onModuleDestroy() {
      destroyed = true;
      throw new Error("no stop");
    }
  }
  await assert.rejects(
    createTestApplication(module({ providers: [Resource] }), {
      setUp: () => Promise.reject(new Error("no set-up")),
    }),
    { message: "no set-up" },
  );
  assert.equal(destroyed, true);
});

test("createTestApplication().request() sends JSON, by POST unless a method is given", async () => {
  await using app = await createTestApplication(AppModule);
  assert.deepEqual(await (await app.request("/echo", { json: [1] })).json(), [1]);
  assert.equal((await app.request("/echo", { method: "PUT", json: 1 })).status, 405);
});

test("a path of more than 256 segments is 414, after the middleware of all paths", async () => {
  class FilesController extends controller("files") {
    raw = route.get("/:path{.+}/raw", ({ params }) => params.path.length);
    any = route.get("/*", () => "any");
  }
  const app = await FwFactory.create(module({ controllers: [FilesController] }));
  app.useRequestId();
  const statusOf = async (path: string, method = "GET") => {
    const response = await app.request(path, { method });
    assert.ok(response.headers.has("x-request-id"));
    return response.status;
  };
  const deep = (segments: number) => `/files${"/x".repeat(segments - 2)}/raw`;
  assert.equal(await statusOf(deep(256)), 200);
  for (const path of [deep(257), deep(6000), `/files${"/".repeat(13_000)}raw`]) {
    for (const method of ["GET", "POST", "OPTIONS", "HEAD"]) {
      assert.equal(await statusOf(path, method), 414);
    }
  }
  assert.equal(await statusOf(`/files/${"x".repeat(6000)}`), 200);
  for (const path of ["/%01", "/%23"]) assert.equal(await statusOf(path), 404);
});
