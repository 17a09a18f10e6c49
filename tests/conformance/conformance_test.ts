/**
 * The guarantees of the framework over HTTP, one test each: the paths of routes, the responses of built-in
 * endpoints, the effect of each builder method, and the handling of requests, errors and limits. The
 * application is the users example, so its guarantees are tested as well.
 */
import assert from "node:assert/strict";
import * as v from "valibot";
import { appModule, Db, setUp } from "../../examples/users.ts";
import {
  callerIdentity,
  callerRoles,
  clientIp,
  ConflictException,
  controller,
  type FwApplication,
  FwFactory,
  HttpException,
  module,
  portFromEnv,
  route,
  ServiceUnavailableException,
  UnauthorizedException,
} from "../../mod.ts";
import { DbError, DbOptions } from "../../src/db/mod.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import { withEnv } from "../support/with_env.ts";

const USERS = "/api/v1/users/";

const users = () => createTestApplication(appModule("sqlite::memory:"), { setUp });

const tom = { email: "tom@example.com", name: "Tom" };

async function create(app: FwApplication): Promise<{ readonly id: number }> {
  return await (await app.request(USERS, { json: tom })).json();
}

class ProbeController extends controller("probe", { version: "v2" }) {
  hello = route.get("/hello", (_, c) => c.text("hello"));
  named = route.get("/:name", ({ params }) => params);
  ip = route.get("/ip", (_, c) => c.text(String(clientIp(c))));
  fail = route.get("/fail", () => Promise.reject(new Error("a secret")));
  body = route.post(
    "/body",
    { body: v.object({ n: v.number() }), status: 202 },
    ({ body }) => body,
  );
  admin = route.get("/admin", { roles: ["admin"] }, () => "in");
}

class BareController extends controller() {
  bare = route.get("/bare", () => "bare");
}

const ProbeModule = module({ name: "Probe", controllers: [ProbeController, BareController] });

const probe = (setUp: (app: FwApplication) => unknown = () => {}) =>
  createTestApplication(ProbeModule, { setUp: (app) => setUp(app.enableUriVersioning()) });

/** Sets the address that a request comes from. */
const from = (ip: string) => ({ env: { remoteAddr: { hostname: ip } } });

test("Path composition: routes are at /{global_prefix}/{version}/{controller_prefix}/{route_path}", async () => {
  await using app = await probe((app) => app.setGlobalPrefix("api"));
  assert.equal(await (await app.request("/api/v2/probe/hello")).text(), "hello");
  assert.deepEqual(await (await app.request("/api/v2/probe/x")).json(), { name: "x" });
  assert.equal((await app.request("/api/probe/hello")).status, 404);
});

test("Path composition: operational endpoints are outside the global prefix and the version", async () => {
  await using app = await users();
  for (const path of ["/health", "/metrics"]) {
    assert.equal((await app.request(path)).status, 200);
    assert.equal((await app.request(`/api${path}`)).status, 404);
    assert.equal((await app.request(`/api/v1${path}`)).status, 404);
  }
});

test("Built-in endpoints: GET /health is a JSON object whose status is ok", async () => {
  await using app = await probe((app) => app.enableHealthCheck("/health"));
  assert.deepEqual(await (await app.request("/health")).json(), { status: "ok" });
});

test("Built-in endpoints: GET /metrics is text in the format of Prometheus", async () => {
  await using app = await probe((app) => app.enableMetrics("/metrics"));
  const response = await app.request("/metrics");
  assert.match(response.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  assert.match(await response.text(), /^# HELP http_requests_total /m);
});

test("Built-in endpoints: GET /{global_prefix}/ is the scaffold's plain text greeting", async () => {
  const { AppModule } = await import("../../examples/hello.ts");
  await using app = await createTestApplication(AppModule, {
    setUp: (app) => app.setGlobalPrefix("api"),
  });
  const response = await app.request("/api/");
  assert.equal(await response.text(), "Hello from fw");
});

test("Built-in endpoints: every response has x-request-id", async () => {
  await using app = await users();
  for (const path of [USERS, "/health", "/metrics", "/nothing", `${USERS}abc`, `${USERS}1`]) {
    assert.ok((await app.request(path)).headers.get("x-request-id"), path);
  }
});

test("Users CRUD: create is POST /users/ with CreateUserDto, and answers a UserRow", async () => {
  await using app = await users();
  const response = await app.request(USERS, { json: tom });
  const row = await response.json();
  assert.equal(response.status, 201);
  assert.deepEqual(row, { id: row.id, ...tom, active: true });
});

test("Users CRUD: list is GET /users/ with skip and take, and answers an array of UserRow", async () => {
  await using app = await users();
  const { id } = await create(app);
  const response = await app.request(`${USERS}?skip=0&take=5`);
  assert.deepEqual(await response.json(), [{ id, ...tom, active: true }]);
  assert.deepEqual(await (await app.request(`${USERS}?skip=1`)).json(), []);
});

test("Users CRUD: one is GET /users/:id, and answers the row of that id", async () => {
  await using app = await users();
  const { id } = await create(app);
  assert.deepEqual(await (await app.request(USERS + id)).json(), { id, ...tom, active: true });
});

test("Users CRUD: update is PATCH /users/:id with UpdateUserDto, and answers the UserRow", async () => {
  await using app = await users();
  const { id } = await create(app);
  const response = await app.request(USERS + id, { method: "PATCH", json: { active: false } });
  assert.deepEqual(await response.json(), { id, ...tom, active: false });
});

test("Users CRUD: delete is DELETE /users/:id, and the row is gone", async () => {
  await using app = await users();
  const { id } = await create(app);
  assert.equal((await app.request(USERS + id, { method: "DELETE" })).status, 200);
  assert.equal((await app.request(USERS + id)).status, 404);
});

test("Builder methods: FwFactory.create() creates an application from a root module", async () => {
  const app = (await FwFactory.create(ProbeModule)).enableUriVersioning();
  assert.equal((await app.request("/v2/probe/hello")).status, 200);
});

test("Builder methods: setGlobalPrefix() sets the global path prefix", async () => {
  await using app = await probe((app) => app.setGlobalPrefix("/deep/api/"));
  assert.equal((await app.request("/deep/api/bare")).status, 200);
});

test("Builder methods: enableUriVersioning() gives a version to controllers without one", async () => {
  await using app = await probe((app) => app.enableUriVersioning({ defaultVersion: "v9" }));
  assert.equal((await app.request("/v9/bare")).status, 200);
  assert.equal((await app.request("/v2/probe/hello")).status, 200);
});

test("Builder methods: useRequestId() adds x-request-id", async () => {
  await using app = await probe((app) => app.useRequestId());
  assert.ok((await app.request("/bare")).headers.has("x-request-id"));
});

test("Builder methods: enableMetrics(path) and enableHealthCheck(path) set the path", async () => {
  await using app = await probe((app) => app.enableMetrics("/m").enableHealthCheck("/h"));
  assert.deepEqual([(await app.request("/m")).status, (await app.request("/h")).status], [
    200,
    200,
  ]);
});

test("Builder methods: enableProductionErrorsFromEnv() strips 5xx bodies when FW_ENV=production", () =>
  withEnv("FW_ENV", "production", async () => {
    await using app = await probe((app) => app.enableProductionErrorsFromEnv());
    const response = await app.request("/v2/probe/fail");
    assert.equal(response.status, 500);
    assert.doesNotMatch(await response.text(), /secret/);
  }));

test("Builder methods: useRateLimit() limits", async () => {
  await using app = await probe((app) => app.useRateLimit({ max: 1 }));
  assert.equal((await app.request("/bare")).status, 200);
  assert.equal((await app.request("/bare")).status, 429);
});

test("Builder methods: listen(port) starts the server", () =>
  captureLogs(["fw"], async () => {
    await using app = (await FwFactory.create(ProbeModule)).enableUriVersioning();
    const { port } = await app.listen(0, { hostname: "127.0.0.1" });
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/bare`)).json(), "bare");
  }));

test("HTTP errors: the guard answers 401 without an identity", async () => {
  await using app = await probe((app) =>
    app.useGlobalGuards(() => UnauthorizedException.throw("OAuth2 identity required"))
  );
  const response = await app.request("/bare");
  assert.deepEqual([response.status, (await response.json()).detail], [
    401,
    "OAuth2 identity required",
  ]);
});

test("HTTP errors: an update of another tenant's user is 403", async () => {
  await using app = await users();
  const { id } = await app.get(Db).user.create({ data: { tenant_id: "other", ...tom } });
  const response = await app.request(USERS + id, { method: "PATCH", json: { name: "Tim" } });
  assert.equal(response.status, 403);
});

test("HTTP errors: RowNotFound is 404, UniqueViolation 409, errors of the pool 503", () => {
  for (
    const [code, status] of [
      ["RowNotFound", 404],
      ["UniqueViolation", 409],
      ["PoolTimeout", 503],
      ["PoolClosed", 503],
      ["ConnectionLost", 503],
      ["DiskFull", 503],
      ["ReadOnly", 503],
    ] as const
  ) assert.equal(HttpException.from(new DbError(code, "Cannot")).status, status);
  assert.equal(new ConflictException().status, 409);
  assert.equal(new ServiceUnavailableException().status, 503);
});

test("HTTP errors: an e-mail address that exists already is 409", async () => {
  await using app = await users();
  await create(app);
  assert.equal((await app.request(USERS, { json: tom })).status, 409);
});

test("Limits: take is 20 by default and clamped to 1 through 100", async () => {
  await using app = await users();
  for (let i = 0; i < 101; i++) {
    await app.get(Db).user.create({
      data: { tenant_id: "demo", name: "Tom", email: `${i}@x.org` },
    });
  }
  const length = async (query: string) => (await (await app.request(USERS + query)).json()).length;
  assert.equal(await length(""), 20);
  assert.equal(await length("?take=0"), 1);
  assert.equal(await length("?take=100"), 100);
  assert.equal(await length("?take=101"), 100);
});

test("Limits: skip is 0 by default, and negative values become 0", async () => {
  await using app = await users();
  await create(app);
  const length = async (query: string) => (await (await app.request(USERS + query)).json()).length;
  assert.deepEqual([await length(""), await length("?skip=-7"), await length("?skip=1")], [
    1,
    1,
    0,
  ]);
});

test("Limits: name has 2 through 80 characters on create and update", async () => {
  await using app = await users();
  const { id } = await create(app);
  for (const [length, ok] of [[1, false], [2, true], [80, true], [81, false]] as const) {
    const name = "n".repeat(length);
    const created = await app.request(USERS, { json: { email: `${length}@x.org`, name } });
    const updated = await app.request(USERS + id, { method: "PATCH", json: { name } });
    assert.deepEqual([created.status, updated.status], ok ? [201, 200] : [422, 422]);
  }
});

test("Limits: poolMin and poolMax set the size of the pool, and are checked before it is opened", async () => {
  const options = DbOptions.fromUrl("sqlite::memory:").poolMin(2);
  await (await options.poolMax(2).open()).close();
  await assert.rejects(options.poolMax(1).open(), {
    name: "RangeError",
    message: "Cannot open database: poolMin 2 is over poolMax 1",
  });
});

test("Limits: an Idempotency-Key is left to the application", async () => {
  await using app = await users();
  const headers = { "idempotency-key": "one" };
  const ids = new Set<number>();
  for (const email of ["a@x.org", "b@x.org"]) {
    const response = await app.request(USERS, { headers, json: { email, name: "Tom" } });
    ids.add((await response.json()).id);
  }
  assert.equal(ids.size, 2);
});

test("HTTP table, open routes: app.routes() lists how each route is protected", async () => {
  await using app = await probe();
  const protection = Object.fromEntries(
    app.routes().map(({ path, protection }) => [path, protection]),
  );
  assert.deepEqual([protection["/bare"], protection["/v2/probe/admin"]], ["open", "roles"]);
});

test("HTTP table, error body: every error is an RFC 9457 problem document", async () => {
  await using app = await probe((app) => app.useRequestId().useRateLimit({ max: 6 }));
  const send = (path: string, init?: RequestInit) => app.request(path, init);
  const json = { "content-type": "application/json" };
  for (
    const [status, response] of [
      [404, await send("/none")],
      [405, await send("/bare", { method: "POST" })],
      [
        413,
        await send("/v2/probe/body", { method: "POST", body: "x".repeat(2 ** 21), headers: json }),
      ],
      [415, await send("/v2/probe/body", { method: "POST", body: "x" })],
      [422, await send("/v2/probe/body", { method: "POST", body: "{}", headers: json })],
      [500, await send("/v2/probe/fail")],
      [429, await send("/bare")],
    ] as const
  ) {
    assert.equal(response.headers.get("content-type"), "application/problem+json");
    const { type, title, status: told, instance, requestId } = await response.json();
    assert.deepEqual([type, typeof title, told, response.status], [
      "about:blank",
      "string",
      status,
      status,
    ]);
    assert.match(instance, /^\//);
    assert.equal(requestId, response.headers.get("x-request-id"));
  }
});

test("HTTP table, validation failure: 422 with in, field and message, and never the value", async () => {
  await using app = await users();
  const response = await app.request(USERS, { json: { email: "hunter2", name: 77_777 } });
  const text = await response.text();
  assert.equal(response.status, 422);
  assert.doesNotMatch(text, /hunter2|77777/);
  assert.deepEqual(JSON.parse(text).errors, [
    { in: "body", field: "email", message: "Invalid email" },
    { in: "body", field: "name", message: "Invalid type: Expected string" },
  ]);
});

test("HTTP table, undecodable input: 400 unparsable, 415 other types, 413 over 1 MiB", async () => {
  await using app = await probe();
  const status = async (body: string, type: string) => {
    const init = { method: "POST", body, headers: { "content-type": type } };
    return (await app.request("/v2/probe/body", init)).status;
  };
  assert.equal(await status("{", "application/json"), 400);
  assert.equal(await status("n=1", "application/x-www-form-urlencoded"), 415);
  assert.equal(await status(`{"n":1,"pad":"${"x".repeat(2 ** 20)}"}`, "application/json"), 413);
});

test("HTTP table, production errors: in development the message is sent, but never a stack", () =>
  withEnv("FW_ENV", "development", async () => {
    await using app = await probe();
    const text = await (await app.request("/v2/probe/fail")).text();
    assert.match(text, /a secret/);
    assert.doesNotMatch(text, /conformance_test|at /);
  }));

test("HTTP table, production errors: if FW_ENV is not set, no message of an error is sent", () =>
  withEnv("FW_ENV", undefined, async () => {
    await using app = await probe();
    const response = await app.request("/v2/probe/fail");
    assert.equal(response.status, 500);
    assert.doesNotMatch(await response.text(), /a secret/);
  }));

test("HTTP table, success statuses: the declared one, else 200; create has a Location", async () => {
  await using app = await users();
  const created = await app.request(USERS, { json: tom });
  assert.equal(created.status, 201);
  const location = created.headers.get("location") ?? "";
  assert.equal((await app.request(location)).status, 200);
  const row = await (await app.request(location)).json();
  const deleted = await app.request(location, { method: "DELETE" });
  assert.deepEqual([deleted.status, await deleted.json()], [200, row]);
});

test("HTTP table, trailing slash: /users and /users/ are the same route", async () => {
  await using app = await users();
  assert.equal((await app.request("/api/v1/users")).status, 200);
  assert.equal((await app.request("/api/v1/users/")).status, 200);
});

test("HTTP table, HEAD and OPTIONS: HEAD answers for GET, OPTIONS answers Allow", async () => {
  await using app = await users();
  const head = await app.request(USERS, { method: "HEAD" });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
  assert.equal(head.headers.get("x-total-count"), "0");
  await using bare = await probe();
  const options = await bare.request("/bare", { method: "OPTIONS" });
  assert.deepEqual([options.status, options.headers.get("allow")], [204, "GET, HEAD, OPTIONS"]);
});

test("HTTP table, version: a controller's version is a path segment with enableUriVersioning()", async () => {
  await using app = await probe();
  assert.equal((await app.request("/v2/probe/hello")).status, 200);
  assert.equal((await app.request("/probe/hello")).status, 404);
});

test("HTTP table, request id: a valid incoming one is kept, else it is a UUID", async () => {
  await using app = await probe((app) => app.useRequestId());
  const id = async (sent: string) =>
    (await app.request("/bare", { headers: { "x-request-id": sent } })).headers.get("x-request-id");
  assert.equal(await id("A.b_c-9"), "A.b_c-9");
  assert.equal(await id("x".repeat(128)), "x".repeat(128));
  for (const sent of ["x".repeat(129), "a b", "a/b", "<script>", ""]) {
    assert.match(await id(sent) ?? "", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  }
});

test("Builder methods: useRequestTracing(), and HTTP table, tracing log: one structured line per request", () =>
  captureLogs(["fw", "http"], async (records) => {
    await using app = await users();
    await app.request(`${USERS}7?secret=1`, { headers: { "x-request-id": "id-1" } });
    await app.request("/health");
    assert.equal(records.length, 1);
    const { durationMs, ...properties } = records[0]?.properties ?? {};
    assert.equal(typeof durationMs, "number");
    assert.deepEqual(properties, {
      method: "GET",
      route: "/api/v1/users/:id",
      path: "/api/v1/users/7",
      status: 404,
      requestId: "id-1",
      traceId: undefined,
    });
  }));

test("HTTP table, metrics: by method, pattern and status; unknown methods and paths share one label", async () => {
  await using app = await probe((app) => app.enableMetrics("/metrics"));
  for (let i = 0; i < 50; i++) await app.request(`/nothing/${i}`);
  for (const method of ["PROPFIND", "MKCOL", "LOCK"]) await app.request("/bare", { method });
  await app.request("/v2/probe/x");
  const text = await (await app.request("/metrics")).text();
  const totals = text.split("\n").filter((line) => line.startsWith("http_requests_total{"));
  assert.deepEqual(totals.sort(), [
    'http_requests_total{method="GET",route="/v2/probe/:name",status="200"} 1',
    'http_requests_total{method="GET",route="unmatched",status="404"} 50',
    'http_requests_total{method="_OTHER",route="unmatched",status="405"} 3',
  ]);
  assert.match(
    text,
    /^http_request_duration_seconds_bucket\{le="[\d.]+",method="GET",route="\/v2\/probe\/:name"\} 1$/m,
  );
  assert.match(text, /^http_requests_in_flight 1$/m);
});

test("HTTP table, health: 503 if an indicator fails or the application is draining", async () => {
  let isUp = false;
  await using app = await probe((app) =>
    app.enableHealthCheck("/health", { indicators: { db: () => isUp } })
  );
  const health = async () => {
    const response = await app.request("/health");
    return [response.status, await response.json()];
  };
  assert.deepEqual(await health(), [503, { status: "error", checks: { db: { status: "down" } } }]);
  isUp = true;
  assert.deepEqual(await health(), [200, { status: "ok", checks: { db: { status: "up" } } }]);
  await app.close();
  assert.deepEqual(await health(), [503, { status: "draining" }]);
});

test("HTTP table, rate limit: 100 in 60 s for each client, 429 with Retry-After, endpoints exempt", async () => {
  await using app = await probe((app) => app.useRateLimit().enableHealthCheck("/health"));
  for (let i = 0; i < 100; i++) {
    assert.equal((await app.request("/bare", from("192.0.2.1"))).status, 200);
  }
  const limited = await app.request("/bare", from("192.0.2.1"));
  assert.equal(limited.status, 429);
  assert.equal(limited.headers.get("retry-after"), "60");
  assert.equal(limited.headers.get("ratelimit-policy"), '"default";q=100;w=60');
  assert.equal(limited.headers.get("ratelimit"), '"default";r=0;t=60');
  assert.equal((await app.request("/health", from("192.0.2.1"))).status, 200);
  assert.equal((await app.request("/bare", from("192.0.2.2"))).status, 200);
});

test("HTTP table, client address: that of the socket; X-Forwarded-For only from trusted proxies", async () => {
  const headers = { "x-forwarded-for": "203.0.113.9, 198.51.100.7" };
  const ip = async (app: FwApplication) =>
    await (await app.request("/v2/probe/ip", { ...from("10.0.0.1"), headers })).text();
  await using plain = await probe();
  assert.equal(await ip(plain), "10.0.0.1");
  await using one = await probe((app) => app.useTrustedProxy({ hops: 1 }));
  assert.equal(await ip(one), "198.51.100.7");
  await using two = await probe((app) => app.useTrustedProxy({ hops: 2 }));
  assert.equal(await ip(two), "203.0.113.9");
});

test("HTTP table, address: all interfaces by default", () =>
  captureLogs(["fw"], async () => {
    await using app = (await FwFactory.create(ProbeModule)).enableUriVersioning();
    const { port, hostname } = await app.listen(0);
    assert.ok(["::", "0.0.0.0"].includes(hostname));
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/bare`)).json(), "bare");
  }));

test("HTTP table, PORT: 3000 if unset or not an unsigned 16-bit integer", async () => {
  for (
    const [text, port] of [[undefined, 3000], ["8080", 8080], ["65536", 3000], ["x", 3000]] as const
  ) {
    await withEnv("PORT", text, () => assert.equal(portFromEnv(), port));
  }
});

test("HTTP table, roles: 401 without an identity, 403 without a role", async () => {
  const status = async (roles: readonly string[] | undefined, subject?: string) => {
    await using app = await probe((app) =>
      app.use((c, next) => {
        callerIdentity.set(c, subject ? { subject } : undefined);
        callerRoles.set(c, roles);
        return next();
      })
    );
    return (await app.request("/v2/probe/admin")).status;
  };
  assert.deepEqual([await status(undefined), await status(["admin"])], [401, 401]);
  assert.deepEqual(
    [await status(undefined, "tom"), await status(["user"], "tom"), await status(["admin"], "tom")],
    [403, 403, 200],
  );
});

test("HTTP table, tenant: the placeholder is part of every query, and input cannot change it", async () => {
  await using app = await users();
  const json = { ...tom, tenant_id: "other" };
  const { id } = await (await app.request(USERS, { json })).json();
  const stored = await app.get(Db).user.findUnique({ where: { id } });
  assert.equal(stored?.tenant_id, "demo");
});
