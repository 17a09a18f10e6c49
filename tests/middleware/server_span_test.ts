import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { type Span, SpanStatusCode, trace } from "@opentelemetry/api";
import { type Sampler, SamplingDecision } from "@opentelemetry/sdk-trace-base";
import { type Handler, Hono } from "hono";
import { ForbiddenException } from "../../src/core/http/http_exception.ts";
import { markRoute } from "../../src/core/http/matched_route.ts";
import { requestTracing } from "../../src/middleware/request_tracing.ts";
import { parseTraceparent } from "../../src/middleware/server_span.ts";
import { withOpenTelemetry } from "../support/open_telemetry.ts";
import { test, testOn } from "../support/test.ts";
import { captureLogs } from "../support/capture_logs.ts";

const denoTest = testOn(["deno"], "it has an instrumentation of its own");

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const ENV = { remoteAddr: { hostname: "192.0.2.1" } };

function tracedApp(handler: Handler): Hono {
  const app = new Hono().use(requestTracing({ skipPaths: ["/health"] }));
  app.all("/users/:id", markRoute(handler, { method: "ALL", path: "/users/:id" }));
  app.get("/health", (c) => c.text("ok"));
  app.onError((error, c) => c.text("", error instanceof ForbiddenException ? 403 : 500));
  return app;
}

const activeSpan: Handler = (c) => c.json(trace.getActiveSpan()?.spanContext() ?? null);

test("serverSpan() starts a SERVER span that continues the traceparent", async () => {
  await withOpenTelemetry(async (spans) => {
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: "vendor=value" };
    const response = await (tracedApp(activeSpan)).request("/users/7?token=secret", {
      headers,
    }, ENV);
    const [span] = spans();
    assert(span);
    assert.deepEqual(
      {
        name: span.name,
        kind: span.kind,
        traceId: span.spanContext().traceId,
        parent: { ...span.parentSpanContext, traceState: undefined },
        traceState: span.spanContext().traceState?.serialize(),
        status: span.status,
        attributes: span.attributes,
        events: span.events,
      },
      {
        name: "GET /users/:id",
        kind: 1,
        traceId: TRACE,
        parent: {
          traceId: TRACE,
          spanId: PARENT,
          traceFlags: 1,
          isRemote: true,
          traceState: undefined,
        },
        traceState: "vendor=value",
        status: { code: SpanStatusCode.UNSET },
        attributes: {
          "http.request.method": "GET",
          "url.path": "/users/7",
          "url.scheme": "http",
          "http.route": "/users/:id",
          "http.response.status_code": 200,
          "client.address": "192.0.2.1",
        },
        events: [],
      },
    );
    const inHandler = await response.json() as { spanId: string };
    assert.equal(inHandler.spanId, span.spanContext().spanId);
  });
});

test("serverSpan() starts a new trace for a malformed traceparent", async () => {
  await withOpenTelemetry(async (spans) => {
    const headers = {
      traceparent: `00-${"0".repeat(32)}-${PARENT}-01`,
      tracestate: "vendor=value",
    };
    await (tracedApp(activeSpan)).request("/users/7", { headers });
    assert.deepEqual(
      spans().map((span) => [span.parentSpanContext, span.spanContext().traceState]),
      [[undefined, undefined]],
    );
  });
});

test("serverSpan() marks a 5xx as an error with its exception, but not a 4xx", async () => {
  await withOpenTelemetry(async (spans) => {
    const errors: Record<string, () => Response> = {
      thrown: () => {
        throw new TypeError("broken");
      },
      forbidden: () => {
        throw new ForbiddenException();
      },
      answered: () => new Response(null, { status: 502 }),
    };
    const app = tracedApp((c) => errors[c.req.param("id")!]!());
    for (const path of ["thrown", "forbidden", "answered"]) await app.request(`/users/${path}`);
    assert.deepEqual(
      spans().map(({ status, attributes, events }) => [
        attributes["http.response.status_code"],
        status.code,
        attributes["error.type"],
        events.map((event) => event.attributes?.["exception.message"]),
      ]),
      [
        [500, SpanStatusCode.ERROR, "TypeError", ["broken"]],
        [403, SpanStatusCode.UNSET, undefined, []],
        [502, SpanStatusCode.ERROR, "502", []],
      ],
    );
  });
});

test("serverSpan() bounds names: no route for a 404, HTTP for an unknown method", async () => {
  await withOpenTelemetry(async (spans) => {
    const app = tracedApp(activeSpan);
    await app.request("/missing/1");
    await app.request("/users/7", { method: "PROPFIND" });
    assert.deepEqual(
      spans().map(({ name, attributes }) => [
        name,
        attributes["http.route"],
        attributes["http.request.method"],
      ]),
      [["GET", undefined, "GET"], ["HTTP /users/:id", "/users/:id", "_OTHER"]],
    );
  });
});

test("serverSpan() ends the span of a request that throws past it", async () => {
  await withOpenTelemetry(async (spans) => {
    const app = tracedApp(() => {
      throw "not an error";
    });
    await assert.rejects(async () => await app.request("/users/7"));
    const [span] = spans();
    assert.deepEqual(
      [span?.status.code, span?.attributes["error.type"], span?.ended],
      [SpanStatusCode.ERROR, "500", true],
    );
  });
});

test("serverSpan() skips the paths that tracing skips", async () => {
  await withOpenTelemetry(async (spans) => {
    await (tracedApp(activeSpan)).request("/health");
    assert.deepEqual(spans(), []);
  });
});

test("serverSpan() names an active span after the route and leaves it open", async () => {
  await withOpenTelemetry(async (spans) => {
    const run = async (outer: Span) => {
      const response = await (tracedApp(activeSpan)).request("/users/7");
      const inHandler = await response.json() as { spanId: string };
      assert.equal(inHandler.spanId, outer.spanContext().spanId);
      assert.deepEqual(spans(), []);
      outer.end();
    };
    await trace.getTracer("instrumentation").startActiveSpan("GET", run);
    assert.deepEqual(
      spans().map(({ name, attributes }) => [name, attributes]),
      [["GET /users/:id", { "http.route": "/users/:id" }]],
    );
  });
});

test("serverSpan() propagates the decision not to sample", async () => {
  const never: Sampler = { shouldSample: () => ({ decision: SamplingDecision.NOT_RECORD }) };
  await withOpenTelemetry(async (spans) => {
    const headers = { traceparent: `00-${TRACE}-${PARENT}-00` };
    const response = await (tracedApp(activeSpan)).request("/users/7", { headers });
    const inHandler = await response.json() as { traceId: string; traceFlags: number };
    assert.deepEqual([inHandler.traceId, inHandler.traceFlags], [TRACE, 0]);
    assert.deepEqual(spans(), []);
  }, never);
});

test("serverSpan() puts the trace in the log line", async () => {
  await captureLogs(["fw", "http"], async (records) => {
    await withOpenTelemetry(async (spans) => {
      await (tracedApp(activeSpan)).request("/users/7");
      assert.equal(records[0]?.properties.traceId, spans()[0]?.spanContext().traceId);
    });
  });
});

test("serverSpan() does nothing without a tracer provider", async () => {
  const response = await (tracedApp(activeSpan)).request("/users/7");
  assert.equal(await response.json(), null);
});

/** Returns what Deno's instrumentation exports of a fixture. */
async function exported(file: string, permissions: readonly string[]): Promise<string> {
  const fixture = fileURLToPath(new URL(file, import.meta.url));
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", ...permissions, "--no-check", fixture],
    env: { OTEL_DENO: "true", OTEL_EXPORTER_OTLP_PROTOCOL: "console", NO_COLOR: "1" },
  });
  const { stderr, stdout } = await command.output();
  return new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout);
}

denoTest("each line of the log is a record in the trace of its request", async () => {
  const output = await exported("otel_log_fixture.ts", ["-A"]);
  const records = output.matchAll(/LOG \[INFO\] [^]*?GET \/users\/(\d) [^]*?trace: (\w+)/g);
  assert.deepEqual([...records].map(([, id, trace]) => `${id} ${trace}`).sort(), [
    `1 ${"1".repeat(32)}`,
    `2 ${"2".repeat(32)}`,
  ]);
});

denoTest("serverSpan() names the span of Deno's own instrumentation", async () => {
  const output = await exported("otel_deno_fixture.ts", ["--allow-net=127.0.0.1"]);
  assert.match(
    output,
    /SPAN GET \/users\/:id \[0af7651916cd43dd8448eb211c80319c\/\w+\] Server .*\n\s+parent: b7ad6b7169203331/,
  );
  assert.match(output, /http\.route: \/users\/:id\n/);
});

test("parseTraceparent() reads a header of W3C Trace Context §3.2", () => {
  const position = { traceId: TRACE, spanId: PARENT };
  const headers = {
    [`00-${TRACE}-${PARENT}-01`]: { ...position, traceFlags: 1 },
    [`00-${TRACE}-${PARENT}-00`]: { ...position, traceFlags: 0 },
    [`00-${TRACE}-${PARENT}-ff`]: { ...position, traceFlags: 1 },
    [`00-${TRACE}-${PARENT}-02`]: { ...position, traceFlags: 0 },
    [`cc-${TRACE}-${PARENT}-01`]: { ...position, traceFlags: 1 },
    [`cc-${TRACE}-${PARENT}-01-what-the-future-will-be`]: { ...position, traceFlags: 1 },
  };
  for (const [header, expected] of Object.entries(headers)) {
    assert.deepEqual(parseTraceparent(header), expected);
  }
});

test("parseTraceparent() returns undefined for a malformed header", () => {
  const headers = [
    undefined,
    "",
    "garbage",
    `ff-${TRACE}-${PARENT}-01`,
    `0-${TRACE}-${PARENT}-01`,
    `00-${"0".repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE}-${PARENT.toUpperCase()}-01`,
    `00-${TRACE}-${PARENT}-0A`,
    `00-${TRACE.slice(1)}-${PARENT}-01`,
    `00-${TRACE}0-${PARENT}-01`,
    `00-${TRACE}-${PARENT}0-01`,
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE}-${PARENT}-1`,
    `00-${TRACE}-${PARENT}-01-extra`,
    `00-${TRACE}-${PARENT}-01-`,
    `cc-${TRACE}-${PARENT}-01.extra`,
    ` 00-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
    `00_${TRACE}_${PARENT}_01`,
  ];
  for (const header of headers) assert.equal(parseTraceparent(header), undefined, header);
});
