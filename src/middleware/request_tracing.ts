/**
 * The log line and the trace of each request.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { MiddlewareHandler } from "hono";
import { matchedRoute } from "../core/http/matched_route.ts";
import { rawPath } from "../core/http/raw_path.ts";
import { consoleSink } from "../platform/console_sink.ts";
import { hooked } from "../core/module/request_hooks.ts";
import { statusOf } from "./request_labels.ts";
import { requestId } from "./request_id.ts";
import { type RequestTracingOptions, skippedPaths } from "./request_tracing_options.ts";
import { serverSpan } from "./server_span.ts";

/**
 * Returns middleware that logs one structured line per request (category `fw`, `http`, level info)
 * when the response exists. Its properties are `method`, `route` (the pattern), `path` (without
 * query string), `status`, `durationMs`, `requestId` and `traceId`, `undefined` where missing; the
 * error behind a 5xx is logged separately. It continues a W3C `traceparent`, and sets up an
 * OpenTelemetry span with `serverSpan`.
 *
 * @throws {TypeError} if a path to skip does not start with `/`
 */
export function requestTracing(
  { skipPaths, now = () => performance.now() }: RequestTracingOptions = {},
): MiddlewareHandler {
  const isSkipped = skippedPaths(skipPaths);

  return hooked({
    before(c) {
      if (isSkipped(c.req.path)) return undefined;
      const startMs = now();
      const path = rawPath(c.req.url);
      return { startMs, path, span: serverSpan(c, path) };
    },
    around: (next, request) => request ? request.span.run(next) : next(),
    after(c, request, failure) {
      if (!request) return;
      const { startMs, path, span } = request;
      const status = statusOf(c, failure);
      const durationMs = Math.round((now() - startMs) * 1000) / 1000;
      const route = matchedRoute(c)?.path;
      const { method } = c.req;
      const { traceId } = span;
      const line = { method, route, path, status, durationMs, requestId: requestId(c), traceId };
      span.run(() => log(line));
      span.end({ route, status, error: failure ? failure.thrown : c.error });
    },
  });
}

/** The properties of the line of a request. */
interface RequestLine {
  readonly method: string;
  readonly route: string | undefined;
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly requestId: string | undefined;
  readonly traceId: string | undefined;
}

const CATEGORY = ["fw", "http"] as const;
const TEMPLATE = "{method} {path} {status} in {durationMs} ms";

function log(line: RequestLine): void {
  const properties = { ...line }; // an interface has no index signature
  const sink = consoleSink();
  if (!sink) return getLogger(CATEGORY).info(TEMPLATE, properties);
  const { method, path, status, durationMs } = line;
  try {
    sink({
      category: CATEGORY,
      level: "info",
      message: ["", method, " ", path, " ", status, " in ", durationMs, " ms"],
      rawMessage: TEMPLATE,
      timestamp: Date.now(),
      properties,
    });
  } catch (error) { // as LogTape does
    getLogger(["logtape", "meta"]).fatal("Cannot print the line of a request: {error}", { error });
  }
}
