/**
 * Plugins: middleware and endpoints, each at its place in the order that a request passes.
 *
 * @module
 */
import type { Handler, Hono, MiddlewareHandler } from "hono";
import { asError } from "../http/http_exception.ts";
import { checkNames, type Refuse, refusing } from "../../platform/option_names.ts";
import { checkedResponse, sendable } from "../http/sendable.ts";
import { composePath } from "../route/path.ts";
import { mount, routerPattern } from "../route/router.ts";

/**
 * The slots of plugins, in the order in which a request passes them, whatever the order of the
 * calls. So a 429 or a 503 still has a request id, a log line and CORS headers, and no token is
 * verified for a request that is over a limit.
 *
 * - `use` and `afterAuthentication` hold what `app.use()` adds, in the order of the calls; in the
 *   second, the caller's identity is known.
 * - `docs` restores the headers of the documentation page after the middleware that follows.
 * - `endpoints` holds health, metrics and the OpenAPI document with its page: no rate limit applies
 *   to them, and they need no identity.
 * - `callerRateLimit` holds the rate limits that are checked after authentication.
 * - `routes` is the end: it takes no plugin.
 */
export const MIDDLEWARE_ORDER = [
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
] as const;

/** A place in the order that a request passes; see {@linkcode Plugin}. */
export type PluginSlot = Exclude<typeof MIDDLEWARE_ORDER[number], "routes">;

/** The application that a plugin is installed into. */
export interface PluginHost {
  /** Whether the application is closing: its health check then answers 503. */
  readonly isDraining: boolean;
}

/**
 * Adds middleware or endpoints to the router. It runs once, when the application starts to serve.
 * What its middleware throws has to be an `Error`.
 */
export type Install = (router: Hono, application: PluginHost) => void | Promise<void>;

/**
 * A capability of an application, added by `app.plug()`; the builder methods of the application add
 * such plugins as well.
 *
 * A request passes the slots in this order, and the plugins of one slot in the order of the calls:
 * `trustedProxy`, `requestId`, `requestTracing`, `metrics`, `docs`, `use`, `endpoints`,
 * `rateLimit`, `authn`, `oauth2`, `afterAuthentication`, `callerRateLimit`, then the routes.
 * Middleware in a slot up to `use` sees every request; from `rateLimit` on, it does not see those
 * that an endpoint answers.
 *
 * @example Answers 503 during maintenance. Health and metrics still answer, as they come before.
 * ```ts
 * import { FwFactory, module, type Plugin, ServiceUnavailableException } from "@fw/fw";
 *
 * function maintenance(isActive: () => boolean): Plugin {
 *   return {
 *     slot: "rateLimit",
 *     key: "maintenance",
 *     install: (router) => {
 *       router.use(async (_, next) => {
 *         if (isActive()) throw new ServiceUnavailableException("Back in a minute");
 *         await next();
 *       });
 *     },
 *   };
 * }
 *
 * const app = await FwFactory.create(module({}));
 * app.enableHealthCheck("/health").plug(maintenance(() => true));
 * console.assert((await app.request("/")).status === 503);
 * console.assert((await app.request("/health")).status === 200);
 * ```
 */
export interface Plugin {
  /** Where in the order it is installed. */
  readonly slot: PluginSlot;
  /**
   * Identifies the plugin in its slot: one with the same key takes the place of an earlier one.
   * Without a key, plugins add up. The key of what a builder method adds is the slot's name, but
   * the path for a health check, `metrics` and `openapi` for the other endpoints, and the name
   * for a rate limit.
   */
  readonly key?: string | undefined;
  /**
   * The path at which it adds middleware, as `app.use()` sets it. At boot, a warning is logged if
   * it matches no route only because the global prefix or the version is missing.
   */
  readonly middlewarePath?: string | undefined;
  /** Adds middleware or endpoints to the router. */
  readonly install: Install;
}

/**
 * Returns the plugins with one more, in place of one with the same slot and key.
 *
 * @throws {TypeError} if the slot is unknown, or `install` is not a function
 */
export function addPlugin(plugins: readonly Plugin[], plugin: Plugin): readonly Plugin[] {
  const { slot, key, install } = plugin;
  if (!MIDDLEWARE_ORDER.some((known) => known === slot) || (slot as string) === "routes") {
    const known = MIDDLEWARE_ORDER.slice(0, -1).join(", ");
    refuse(`slot ${JSON.stringify(slot)} is unknown; the slots are ${known}`);
  }
  if (typeof install !== "function") refuse(`install is ${typeof install}, not a function`);
  const isSame = (other: Plugin) => key !== undefined && other.slot === slot && other.key === key;
  return plugins.some(isSame)
    ? plugins.map((other) => isSame(other) ? plugin : other)
    : [...plugins, plugin];
}

/** Returns plugins in the order of {@linkcode MIDDLEWARE_ORDER}. */
export function inOrder(plugins: readonly Plugin[]): readonly Plugin[] {
  return MIDDLEWARE_ORDER.flatMap((slot) => plugins.filter((plugin) => plugin.slot === slot));
}

/** Options of `app.use()`. */
export interface UseOptions {
  /**
   * Whether the middleware runs after `useAuthn` and `useOAuth2`, so that it knows who the caller
   * is. It does not see requests that an endpoint or a rate limit has answered. `false` by default.
   */
  readonly afterAuthentication?: boolean;
}

/**
 * The arguments of `app.use()`: middleware, and at the end options.
 *
 * @example
 * ```ts
 * import { callerRoles, ForbiddenException, FwFactory, module } from "@fw/fw";
 * import { cors } from "hono/cors";
 *
 * const app = await FwFactory.create(module({}));
 * app.use(cors({ origin: "https://example.com" })).use("/api/*", async (c, next) => {
 *   await next();
 *   c.header("cache-control", "no-store");
 * });
 * app.use("/admin/*", async (c, next) => {
 *   if (!callerRoles.get(c)?.includes("staff")) throw new ForbiddenException("Staff only");
 *   await next();
 * }, { afterAuthentication: true });
 * ```
 */
export type UseArguments =
  | readonly MiddlewareHandler[]
  | readonly [...middleware: MiddlewareHandler[], options: UseOptions];

/**
 * Returns the plugin of `app.use()`.
 *
 * @throws {TypeError} if the path is invalid, the middleware is missing or not a function, or an
 * option is unknown
 */
export function usePlugin(args: readonly [string, ...UseArguments] | UseArguments): Plugin {
  const [first] = args;
  const last = args.at(-1);
  const hasPath = typeof first === "string";
  const hasOptions = typeof last === "object" && last !== null;
  const options: UseOptions = hasOptions ? last : {};
  const refuseUse: Refuse = refusing("use middleware");
  checkNames(options, { known: ["afterAuthentication"], refuse: refuseUse });
  const { afterAuthentication = false } = options;
  if (first === "") refuseUse("its path is empty; leave it out for all paths");
  const path = hasPath ? composePath({ routePath: first }) : undefined;
  const pattern = path === undefined ? "*" : routerPattern(path);
  const handlers = args.slice(hasPath ? 1 : 0, hasOptions ? -1 : undefined)
    .map((middleware) => throwingErrors(middleware as MiddlewareHandler)); // which checks it
  if (handlers.length === 0) refuseUse("it is missing");
  return {
    slot: afterAuthentication ? "afterAuthentication" : "use",
    install: (router) => void router.use(pattern, ...handlers),
    middlewarePath: path,
  };
}

/** Marks a plugin that adds endpoints, and middleware of their paths alone. */
export const onlyEndpoints: unique symbol = Symbol("fw.onlyEndpoints");

/** A plugin without middleware that sees other requests. */
export interface EndpointPlugin extends Plugin {
  readonly [onlyEndpoints]: true;
}

/** An endpoint that a plugin adds. */
export interface EndpointOptions {
  /** The key of the plugin; by default the path. */
  readonly key?: string;
  /** Creates the handler when the application starts to serve. */
  readonly create: (application: PluginHost) => Handler | Promise<Handler>;
}

/**
 * Returns the plugin of an endpoint: its path has no global prefix and no version, and no limit
 * applies to it.
 *
 * @throws {TypeError} if the path is invalid
 */
export function endpointPlugin(
  routePath: string,
  { key = routePath, create }: EndpointOptions,
): EndpointPlugin {
  const path = composePath({ routePath });
  return {
    [onlyEndpoints]: true,
    slot: "endpoints",
    key,
    install: async (router, application) =>
      mount(router, { method: "GET", path, handler: await create(application) }),
  };
}

/**
 * Returns middleware that throws an `Error` whatever the given one throws: Hono
 * handles nothing else.
 */
function throwingErrors(middleware: MiddlewareHandler): MiddlewareHandler {
  if (typeof middleware !== "function") {
    throw new TypeError(`Cannot use ${typeof middleware}: it is not middleware`);
  }
  return async (c, next) => {
    try {
      const response = await middleware(c, next);
      // Hono ignores what it returns after `next()`
      if (!response || c.finalized) return response;
      return sendable(checkedResponse(response, "middleware"), c.req);
    } catch (thrown) {
      throw asError(thrown);
    }
  };
}

function refuse(why: string): never {
  throw new TypeError(`Cannot plug in: ${why}`);
}
