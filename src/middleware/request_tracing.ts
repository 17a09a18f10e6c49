/**
 * The log line and the trace of each request.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { MiddlewareHandler } from "hono";
import { matchedRoute } from "../core/http/matched_route.ts";
import { rawPath } from "../core/http/raw_path.ts";
import { observe } from "./observe.ts";
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
  const logger = getLogger(["fw", "http"]);

  return async function requestTracing(c, next) {
    if (isSkipped(c.req.path)) return await next();
    const startMs = now();
    const path = rawPath(c.req.url);
    const span = serverSpan(c, path);
    await span.run(() =>
      observe(c, next, (status, error) => {
        const durationMs = Math.round((now() - startMs) * 1000) / 1000;
        const route = matchedRoute(c)?.path;
        logger.info("{method} {path} {status} in {durationMs} ms", {
          method: c.req.method,
          route,
          path,
          status,
          durationMs,
          requestId: requestId(c),
          traceId: span.traceId,
        });
        span.end({ route, status, error });
      })
    );
  };
}
