import assert from "node:assert/strict";
import type { LogRecord } from "@logtape/logtape";
import { type Handler, Hono, type MiddlewareHandler } from "hono";
import {
  ForbiddenException,
  HttpException,
  ServiceUnavailableException,
} from "../../src/core/http/http_exception.ts";
import { markRoute } from "../../src/core/http/matched_route.ts";
import { requestIdMiddleware } from "../../src/middleware/request_id.ts";
import { requestTracing } from "../../src/middleware/request_tracing.ts";
import { requestTracingPlugin } from "../../src/application/lazy_plugins.ts";
import { test } from "../support/test.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { Subprocess, type SubprocessOptions } from "../support/subprocess.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";

/** An application with two routes; its clock advances 1.23456 ms per reading. */
function tracedApp(...others: MiddlewareHandler[]): Hono {
  let nowMs = 0;
  const tracing = requestTracing({ now: () => nowMs += 1.23456 });
  const show: Handler = (c) => c.text("shown");
  const fail: Handler = () => {
    throw new ServiceUnavailableException();
  };
  const app = new Hono();
  for (const middleware of [...others, tracing]) app.use(middleware);
  app.get("/users/:id", markRoute(show, { method: "GET", path: "/users/:id" }));
  app.post("/fail", markRoute(fail, { method: "POST", path: "/fail" }));
  app.onError((error, c) => c.body(null, HttpException.from(error).status as 500));
  return app;
}

function lines(records: readonly LogRecord[]): unknown[] {
  return records.map(({ category, level, properties }) => ({ category, level, ...properties }));
}

test("requestTracing() logs one line per request", async () => {
  await captureLogs(["fw", "http"], async (records) => {
    const app = tracedApp(requestIdMiddleware({ generator: () => "id-1" }));
    await app.request("/users/7?token=secret#fragment", {
      headers: { traceparent: `00-${TRACE}-b7ad6b7169203331-01` },
    });
    assert.deepEqual(lines(records), [{
      category: ["fw", "http"],
      level: "info",
      method: "GET",
      route: "/users/:id",
      path: "/users/7",
      status: 200,
      durationMs: 1.235,
      requestId: "id-1",
      traceId: TRACE,
    }]);
    assert.deepEqual(records[0]?.message, [
      "",
      "GET",
      " ",
      "/users/7",
      " ",
      200,
      " in ",
      1.235,
      " ms",
    ]);
  });
});

test("requestTracing() logs a 5xx with its route, a 404 without route, id or trace", async () => {
  await captureLogs(["fw", "http"], async (records) => {
    const app = tracedApp();
    await app.request("/fail", { method: "POST" });
    await app.request("/missing");
    const common = {
      category: ["fw", "http"],
      durationMs: 1.235,
      requestId: undefined,
      traceId: undefined,
    };
    assert.deepEqual(lines(records), [
      { ...common, level: "info", method: "POST", route: "/fail", path: "/fail", status: 503 },
      { ...common, level: "info", method: "GET", route: undefined, path: "/missing", status: 404 },
    ]);
  });
});

test("requestTracing() logs the status of an error that is thrown past it, and rethrows it", async () => {
  const thrown: [unknown, number][] = [[new ForbiddenException(), 403], ["not an error", 500]];
  for (const [value, status] of thrown) {
    await captureLogs(["fw", "http"], async (records) => {
      const app = new Hono().use(requestTracing());
      app.notFound(() => {
        throw value;
      });
      app.onError((error) => {
        throw error;
      });
      await assert.rejects(async () => await app.request("/"), (error) => error === value);
      assert.deepEqual(records.map(({ properties }) => properties.status), [status]);
    });
  }
});

test("requestTracing() logs any path on one bounded line", async () => {
  await captureLogs(["fw", "http"], async (records) => {
    const app = tracedApp();
    await app.request("/a%0Ab%1B%5B31m/\u2028é ü");
    await app.request("/" + "x".repeat(10_000));
    assert.deepEqual(records.map(({ properties }) => properties.path), [
      "/a%0Ab%1B%5B31m/%E2%80%A8%C3%A9%20%C3%BC",
      "/" + "x".repeat(2047),
    ]);
  });
});

test("requestTracing() replaces characters that a server has not encoded in the URL", async () => {
  await captureLogs(["fw", "http"], async (records) => {
    const raw = new Request("http://localhost/");
    const request = new Proxy(raw, {
      get: (target, key) =>
        key === "url" ? "http://localhost/a\nb\x1b[31m\ud800" : Reflect.get(target, key),
    });
    await (tracedApp()).fetch(request);
    assert.equal(records[0]?.properties.path, "/a?b?[31m?");
  });
});

test("requestTracing() skips the configured paths", () =>
  captureLogs(["fw", "http"], async (records) => {
    const skipPaths = ["/health", "/internal/*", "/slash/"];
    const app = new Hono({ strict: false }).use(requestTracing({ skipPaths }))
      .all("*", (c) => c.text("answered"));
    const skipped = ["/health", "/health/", "/internal/", "/internal/a/b", "/slash", "/slash/"];
    for (const path of [...skipped, "/health/db", "/healthy"]) {
      assert.equal(await (await app.request(`${path}?a=1`)).text(), "answered");
    }
    const logged = records.map(({ properties }) => properties.path);
    assert.deepEqual(logged, ["/internal/", "/health/db", "/healthy"]);
  }));

test("requestTracingPlugin() refuses a path that can never match", () => {
  assert.throws(() => requestTracingPlugin({ skipPaths: ["health"] }), {
    name: "TypeError",
    message: 'Cannot skip path "health": it does not start with "/"',
  });
});

for (const mode of ["", "production"]) {
  test(`requestTracing() prints what LogTape prints, with FW_ENV=${mode}`, async () => {
    const [line = "", ofLogTape = "", ...rest] = await printed({ env: { FW_ENV: mode } });
    assert.deepEqual(rest, [""]);
    const withoutTime = (text: string) => text.replace(/\d{4}-\d\d-\d\d[T ][\d:.]+/, "");
    assert.match(line, /\/a%0Ab%E2%80%AE/);
    assert.equal(withoutTime(line), withoutTime(ofLogTape));
  });
}

test("requestTracing() logs by the configuration that the application has made since", async () => {
  const own = "own /a%0Ab%E2%80%AE";
  assert.deepEqual(await printed({ args: ["configured"] }), [own, own, ""]);
});

async function printed(options: SubprocessOptions): Promise<readonly string[]> {
  await using child = new Subprocess("tests/middleware/request_line_fixture.ts", options);
  const { code, output } = await child.ended;
  assert.equal(code, 0, output);
  return output.split("\n");
}
