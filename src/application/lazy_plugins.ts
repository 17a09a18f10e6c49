/**
 * Plugins whose middleware is loaded when the router is assembled. Their options are
 * checked at once.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { isHttpToken } from "../core/http/http_token.ts";
import { middlewarePlugin } from "../core/module/install_plugins.ts";
import {
  type EndpointPlugin,
  endpointPlugin,
  onlyEndpoints,
  type Plugin,
  type PluginSlot,
} from "../core/module/plugin.ts";
import type { TrustedProxyOptions } from "../middleware/client_ip.ts";
import type { HealthCheckOptions } from "../middleware/health.ts";
import type { Metrics, MetricsOptions } from "../middleware/metrics.ts";
import {
  checkRateLimit,
  limitsRate,
  type RateLimitOptions,
  type UseRateLimitOptions,
} from "../middleware/rate_limit/rate_limit_options.ts";
import type { RequestIdOptions } from "../middleware/request_id.ts";
import { type RequestTracingOptions, skippedPaths } from "../middleware/request_tracing_options.ts";
import {
  type AuthenticationOptions,
  checkAuthentication,
  type TokenVerifier,
} from "../oauth2/authentication_options.ts";
import type { RolesReader } from "../oauth2/identity.ts";
import { checkNames, type Refuse, refusing } from "../platform/option_names.ts";
import { isTimeLimit } from "../platform/time_limit.ts";
import type { Answering } from "./answering.ts";

/**
 * Returns the plugin of `useTrustedProxy`.
 *
 * @throws {RangeError} if `hops` is not 0 or a positive integer
 */
export function trustedProxyPlugin(
  options: TrustedProxyOptions,
): Plugin & TrustedProxyOptions {
  const { hops } = options;
  if (!Number.isSafeInteger(hops) || hops < 0) {
    throw new RangeError(`Cannot trust proxies: ${hops} hops is not 0 or a positive integer`);
  }
  const plugin = loaded(
    "trustedProxy",
    async () => (await import("../middleware/client_ip.ts")).trustedProxy(options),
  );
  return { ...plugin, hops };
}

/**
 * Returns the plugin of a health check at a path.
 *
 * @throws {TypeError} if an option is unknown, or an indicator is not a function
 * @throws {RangeError} if `timeoutMs` is not positive or not below 2^31
 */
export function healthCheckPlugin(path: string, options: HealthCheckOptions = {}): Plugin {
  const refuse: Refuse = refusing("check health");
  checkNames(options, { known: ["indicators", "timeoutMs"], refuse });
  for (const [name, indicator] of Object.entries(options.indicators ?? {})) {
    if (typeof indicator !== "function") refuse(`indicators.${name} is not a function`);
  }
  const { timeoutMs } = options;
  if (timeoutMs !== undefined && !isTimeLimit(timeoutMs)) {
    throw new RangeError(`Cannot check health: ${timeoutMs} ms is not a time limit`);
  }
  return endpointPlugin(path, {
    async create(application) {
      return (await import("../middleware/health.ts")).healthCheck(options, application);
    },
  });
}

/**
 * Returns the plugin of `useRequestTracing`.
 *
 * @throws {TypeError} if an option is unknown, or a path to skip does not start with `/`
 */
export function requestTracingPlugin(options: RequestTracingOptions = {}): Plugin {
  checkNames(options, { known: ["skipPaths", "now"], refuse: refusing("trace requests") });
  skippedPaths(options.skipPaths); // throws at the call
  return loaded(
    "requestTracing",
    async () => (await import("../middleware/request_tracing.ts")).requestTracing(options),
  );
}

/**
 * Returns the plugin of `useRequestId`.
 *
 * @throws {TypeError} if an option is unknown, or the header's name is not a token (RFC 9110
 * §5.6.2)
 */
export function requestIdPlugin(options: RequestIdOptions = {}): Plugin {
  const refuse: Refuse = refusing("use request ids");
  checkNames(options, { known: ["headerName", "generator"], refuse });
  const { headerName = "x-request-id" } = options;
  if (!isHttpToken(headerName)) refuse(`${JSON.stringify(headerName)} is not a header name`);
  return loaded(
    "requestId",
    async () => (await import("../middleware/request_id.ts")).requestIdMiddleware(options),
  );
}

/**
 * Returns the plugins that count requests and serve the metrics at a path.
 *
 * @throws {TypeError} if an option is unknown
 */
export function metricsPlugins(
  path: string,
  { options = {}, instances }: {
    readonly options: MetricsOptions | undefined;
    readonly instances: () => readonly object[];
  },
): readonly Plugin[] {
  checkNames(options, { known: ["registry", "pools"], refuse: refusing("count requests") });
  let metrics: Promise<Metrics> | undefined;
  const load = () =>
    metrics ??= import("../middleware/metrics.ts").then((it) =>
      it.createMetrics(options, instances())
    )
      .catch((error) => {
        metrics = undefined; // so that the next call tries again
        throw error;
      });
  return [
    loaded("metrics", async () => (await load()).middleware),
    endpointPlugin(path, { key: "metrics", create: async () => (await load()).handler }),
  ];
}

/**
 * Returns the plugin of `useRateLimit`, beside others. Limits add up, each with a name of its own.
 *
 * @throws {TypeError} if an option is unknown, or another limit has the name
 * @throws {RangeError} if an option is out of range
 */
export function rateLimitPlugin(
  options: UseRateLimitOptions = {},
  others: readonly Plugin[] = [],
): Plugin & { readonly [limitsRate]: RateLimitOptions } {
  const { afterAuthentication = false, ...limit } = options;
  const isRecord = typeof options === "object" && !Array.isArray(options);
  checkRateLimit(isRecord ? limit : options); // `limit` of a number or a list is empty
  const { name = "default" } = limit;
  if (others.some((other) => limitsRate in other && other.key === name)) {
    throw new TypeError(
      `Cannot limit rate: another limit has the name ${JSON.stringify(name)}; ` +
        "give each a name of its own",
    );
  }
  const plugin = middlewarePlugin({
    slot: afterAuthentication ? "callerRateLimit" : "rateLimit",
    key: name,
    async load() {
      const { rateLimit } = await import("../middleware/rate_limit/rate_limit.ts");
      return rateLimit(limit);
    },
  });
  return { ...plugin, [limitsRate]: limit };
}

/**
 * Returns the plugin of `useOAuth2`.
 *
 * @throws {TypeError} what {@linkcode checkAuthentication} throws
 */
export function oauth2Plugin(verifier: TokenVerifier, options?: AuthenticationOptions): Plugin {
  checkAuthentication(verifier, options);
  return loaded("oauth2", async () => {
    const { oauth2Middleware } = await import("../oauth2/middleware.ts");
    return oauth2Middleware(verifier, options);
  });
}

/**
 * Returns the plugin of `useAuthn`.
 *
 * @throws {TypeError} what {@linkcode checkAuthentication} throws
 */
export function authnPlugin(service: TokenVerifier, options?: AuthenticationOptions): Plugin {
  checkAuthentication(service, options);
  return loaded("authn", async () => {
    const { authnMiddleware } = await import("../authn/principal.ts");
    return authnMiddleware(service, options);
  });
}

/**
 * Returns the plugin of `useRoles`: it comes before the verifier of `useOAuth2`, without which it
 * fails to load.
 */
export function rolesPlugin(
  reader: RolesReader,
  { answering }: { readonly answering: Answering },
): Plugin {
  const load = async () => {
    if (!answering.settings.plugins.some(({ slot }) => slot === "oauth2")) {
      const why = "useRoles() applies to tokens of useOAuth2(), which is not called";
      throw new TypeError(`Cannot read roles: ${why}`);
    }
    return (await import("../oauth2/middleware.ts")).rolesMiddleware(reader);
  };
  return { ...loaded("authn", load), key: "roles" };
}

/** Returns the plugins that serve the OpenAPI document and its page. */
export function documentationPlugins(answering: Answering): readonly EndpointPlugin[] {
  const load = () => import("./documentation.ts");
  return [
    {
      [onlyEndpoints]: true,
      slot: "docs",
      key: "docs",
      install: async (router) => (await load()).keepDocsHeaders(router, answering),
    },
    {
      [onlyEndpoints]: true,
      slot: "endpoints",
      key: "openapi",
      install: async (router) => (await load()).serveDocs(router, answering),
    },
  ];
}

/** Returns the plugin of a slot's one middleware. */
function loaded(slot: PluginSlot, load: () => Promise<MiddlewareHandler>): Plugin {
  return middlewarePlugin({ slot, key: slot, load });
}
