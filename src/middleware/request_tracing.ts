/**
 * Logs each request in one line and gives it its place in a distributed trace.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { MiddlewareHandler } from "hono";
import { matchedRoute } from "../core/http/matched_route.ts";
import { rawPath } from "../core/http/raw_path.ts";
import { observe } from "./observe.ts";
import { requestId } from "./request_id.ts";
import { serverSpan } from "./server_span.ts";
import { skippedPaths } from "./skipped_paths.ts";

/** How requests are logged and traced. */
export interface RequestTracingOptions {
  /**
   * Paths that are neither logged nor traced: a whole path (`/health`), or with a trailing `*` all that
   * start like it (`/internal/*`); none by default.
   */
  readonly skipPaths?: readonly string[];
  /** Gives the time in milliseconds, from any start; the runtime's monotonic clock by default. */
  readonly now?: () => number;
}

/**
 * Logs one structured line a request (category `fw`, `http`, level info) when its response has been
 * made, with the properties `method`, `route` (its pattern), `path` (without query string), `status`,
 * `durationMs`, `requestId` and `traceId`, each `undefined` if there is none; what went wrong in a 5xx
 * has a line of its own. A W3C `traceparent` is continued and an OpenTelemetry span set up as
 * {@linkcode serverSpan} says.
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
