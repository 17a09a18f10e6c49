/**
 * Logs each request in one line and gives it its place in a distributed trace.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { MiddlewareHandler } from "hono";
import { matchedRoute } from "../core/matched_route.ts";
import { rawPath } from "../core/raw_path.ts";
import { observe } from "./observe.ts";
import { requestId } from "./request_id.ts";
import { serverSpan } from "./server_span.ts";

/** What {@linkcode RequestTracingOptions} can be made of. */
export interface RequestTracingSettings {
  /** The paths that are neither logged nor traced; none by default. */
  readonly skipPaths?: readonly string[];
  /** Gives the time in milliseconds, from any start; the runtime's monotonic clock by default. */
  readonly now?: () => number;
}

/** How requests are logged and traced. Immutable: each method gives a new value. */
export class RequestTracingOptions {
  /** Gives the time in milliseconds. */
  readonly now: () => number;
  readonly #skipPaths: readonly string[];
  readonly #exact: ReadonlySet<string>;
  readonly #prefixes: readonly string[];

  /**
   * Creates options that skip nothing unless told to.
   *
   * @throws {TypeError} if a path to skip does not start with `/`
   */
  constructor({ skipPaths = [], now = () => performance.now() }: RequestTracingSettings = {}) {
    for (const path of skipPaths) {
      if (!path.startsWith("/")) {
        throw new TypeError(`Cannot skip path ${JSON.stringify(path)}: it does not start with "/"`);
      }
    }
    this.now = now;
    this.#skipPaths = [...skipPaths];
    this.#exact = new Set(skipPaths.filter((path) => !path.endsWith("*")));
    this.#prefixes = skipPaths.filter((path) => path.endsWith("*")).map((path) =>
      path.slice(0, -1)
    );
  }

  /**
   * Adds paths that are neither logged nor traced: a whole path (`/health`), or with a trailing `*`
   * all that start like it (`/internal/*`).
   *
   * @throws {TypeError} if one does not start with `/`
   */
  skipPaths(paths: readonly string[]): RequestTracingOptions {
    return new RequestTracingOptions({
      skipPaths: [...this.#skipPaths, ...paths],
      now: this.now,
    });
  }

  /** Tells whether requests to a path are passed over. */
  skips(path: string): boolean {
    return this.#exact.has(path) || this.#prefixes.some((prefix) => path.startsWith(prefix));
  }
}

const MAX_LENGTH = 2048;

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
  options: RequestTracingOptions | RequestTracingSettings = {},
): MiddlewareHandler {
  const settings = options instanceof RequestTracingOptions
    ? options
    : new RequestTracingOptions(options);
  const logger = getLogger(["fw", "http"]);

  return async function requestTracing(c, next) {
    if (settings.skips(c.req.path)) return await next();
    const startMs = settings.now();
    const path = rawPath(c.req.url);
    const span = serverSpan(c, path);
    await span.run(() =>
      observe(c, next, (status, error) => {
        const durationMs = Math.round((settings.now() - startMs) * 1000) / 1000;
        const route = matchedRoute(c)?.path;
        logger.info("{method} {path} {status} in {durationMs} ms", {
          method: c.req.method.slice(0, MAX_LENGTH),
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
