/**
 * Logs each request in one line and gives it its place in a distributed trace.
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
 * Loads OpenTelemetry's API, and logs one structured line a request (category `fw`, `http`, level info) when its response has been
 * made, with the properties `method`, `route` (its pattern), `path` (without query string), `status`,
 * `durationMs`, `requestId` and `traceId`, each `undefined` if there is none; what went wrong in a 5xx
 * has a line of its own. A W3C `traceparent` is continued and an OpenTelemetry span set up as
 * `serverSpan` says.
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
 * Makes what tells whether a path is among those to skip: whole paths (`/health`), or with a trailing
 * `*` all that start like one (`/internal/*`).
 *
 * @throws {TypeError} if one does not start with `/`
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
