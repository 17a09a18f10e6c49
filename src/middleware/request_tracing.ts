/**
 * The log line and the trace of each request.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { MiddlewareHandler } from "hono";
import { matchedRoute } from "../core/http/matched_route.ts";
import { rawPath } from "../core/http/raw_path.ts";
import type { Plugin } from "../core/module/plugin.ts";
import { observe } from "./observe.ts";
import { requestId } from "./request_id.ts";

/** Options of `app.useRequestTracing()`. */
export interface RequestTracingOptions {
  /**
   * Paths that are neither logged nor traced, each starting with `/`: a whole path (`/health`), or with a
   * trailing `*` a prefix (`/internal/*`); none by default.
   */
  readonly skipPaths?: readonly string[];
  /** Returns the time in milliseconds from any origin; the monotonic clock of the runtime by default. */
  readonly now?: () => number;
}

/**
 * Returns the plugin of {@linkcode requestTracing}.
 *
 * @throws {TypeError} if a path to skip does not start with `/`
 */
export function requestTracingPlugin(options?: RequestTracingOptions): Plugin {
  skippedPaths(options?.skipPaths); // throws at the call
  return {
    slot: "requestTracing",
    key: "requestTracing",
    install: async (router) => void router.use(await requestTracing(options)),
  };
}

/**
 * Loads the API of OpenTelemetry, and returns middleware that logs one structured line per request
 * (category `fw`, `http`, level info) when the response exists. Its properties are `method`, `route` (the
 * pattern), `path` (without query string), `status`, `durationMs`, `requestId` and `traceId`, `undefined`
 * where missing; the error behind a 5xx is logged separately. It continues a W3C `traceparent`, and sets
 * up an OpenTelemetry span with `serverSpan`.
 *
 * @throws {TypeError} if a path to skip does not start with `/`
 */
export async function requestTracing(
  { skipPaths, now = () => performance.now() }: RequestTracingOptions = {},
): Promise<MiddlewareHandler> {
  const { serverSpan } = await import("./server_span.ts");
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

/**
 * Returns a function that checks whether a path is skipped.
 *
 * @throws {TypeError} if a path does not start with `/`
 */
function skippedPaths(paths: readonly string[] = []): (path: string) => boolean {
  for (const path of paths) {
    if (!path.startsWith("/")) {
      throw new TypeError(`Cannot skip path ${JSON.stringify(path)}: it does not start with "/"`);
    }
  }
  const isPrefix = (path: string) => path.endsWith("*");
  const prefixes = paths.filter(isPrefix).map((path) => path.slice(0, -1));
  const whole = new Set(
    paths.filter((path) => !isPrefix(path)).map((path) => path.replace(/(?<=.)\/$/, "")),
  );
  return (path) => whole.has(path) || prefixes.some((prefix) => path.startsWith(prefix));
}
