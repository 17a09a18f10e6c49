/**
 * The safe defaults of an application, as far as they can be observed without running it.
 *
 * @module
 */
import type { Context } from "../core/http/context.ts";
import { assemble } from "../core/module/assembly.ts";
import type { Kernel } from "../core/module/boot.ts";
import { placeholder } from "../core/module/preview.ts";
import { inOrder, type Plugin, type PluginSlot } from "../core/module/plugin.ts";
import { CONSTRAINT } from "../core/route/path.ts";
import type { RouteMethod, RouteOptions } from "../core/route/route_options.ts";
import { createRouter } from "../core/route/path_router.ts";
import { mount } from "../core/route/router.ts";
import { clientIp, type TrustedProxyOptions } from "../middleware/client_ip.ts";
import { limitsRate } from "../middleware/rate_limit/rate_limit_options.ts";
import type { Answering } from "./answering.ts";

/** Options of `app.safeguards()`. */
export interface SafeguardsOptions {
  /**
   * How long middleware has to answer for a handler that never does, in milliseconds, so that its
   * request counts as limited in time; default 60 000. Without a time limit, the call takes as
   * long as this.
   */
  readonly waitMs?: number;
  /**
   * Whether to send requests through middleware; `true` by default. Otherwise, nothing is known of
   * what it does: `observed` is `undefined`, and `openEndpoints` empty.
   */
  readonly observe?: boolean;
}

/** The safe defaults of an application; see `app.safeguards()`. */
export interface Safeguards {
  /** Whether `useAuthn` or `useOAuth2` verifies tokens. */
  readonly authenticates: boolean;
  /** Whether every route without `public: true` needs an identity (`require: true`). */
  readonly requiresIdentity: boolean;
  /** Whether every 5xx omits the details of errors (`enableProductionErrors`). */
  readonly concealsErrors: boolean;
  /** The largest body in bytes of routes without a `bodyLimit`. */
  readonly bodyLimit: number;
  /** The number of trusted proxies; 0 without `useTrustedProxy`. */
  readonly trustedHops: number;
  /** The limits of `useRateLimit`. */
  readonly rateLimits: readonly {
    /** Its name. */
    readonly name: string;
    /** Whether it distinguishes clients by their addresses: its `key` is `clientIp`. */
    readonly isByAddress: boolean;
  }[];
  /** The paths of the metrics and of the documentation that middleware lets everybody read. */
  readonly openEndpoints: readonly string[];
  /** The routes. */
  readonly routes: readonly RouteSafeguards[];
}

/** The safe defaults of a route. */
export interface RouteSafeguards {
  /** Its method. */
  readonly method: RouteMethod;
  /** Its full path pattern. */
  readonly path: string;
  /** Its `bodyLimit` in bytes, if it declares one. */
  readonly bodyLimit: number | undefined;
  /**
   * Whether it receives files: it declares a `bodyLimit`, and accepts `multipart` or has no schema
   * of its body, which its handler then reads itself.
   */
  readonly isUpload: boolean;
  /**
   * What middleware adds to it; `undefined` if middleware answers a request without credentials
   * itself, so that nothing can be observed.
   */
  readonly observed: {
    /** The names of missing headers, of those that `secureHeaders()` sets by default. */
    readonly missingHeaders: readonly string[];
    /** Whether its requests are limited in time: a handler that never answers is answered for. */
    readonly hasTimeLimit: boolean;
    /** Whether its responses have the fields of a rate limit. */
    readonly hasRateLimit: boolean;
    /** Whether scripts of any origin can read it with the cookies of a user. */
    readonly allowsAnyOrigin: boolean;
  } | undefined;
}

/** The slots whose built-in middleware writes logs, or needs keys or stores: it is not run. */
const NOT_RUN: readonly PluginSlot[] = ["requestTracing", "metrics", "authn", "oauth2"];

/** The slots of middleware that runs before it is known who the caller is. */
const EARLY: readonly PluginSlot[] = ["requestId", "docs", "use"];

const SECURITY_HEADERS = [
  "strict-transport-security",
  "x-content-type-options",
  "x-frame-options",
];
/** An origin that no application knows (RFC 6761 §6.4). */
const UNKNOWN_ORIGIN = "https://origin.invalid";
const RATE_LIMIT_HEADERS = ["ratelimit", "ratelimit-policy", "x-ratelimit-limit"];

/**
 * Observes the safe defaults of an application.
 *
 * @throws {TypeError} with which the application does not start to serve, as far as that depends on
 * its routes, its documentation and its metrics
 */
export async function safeguardsOf(
  answering: Answering,
  { waitMs = 60_000, observe = true }: SafeguardsOptions = {},
): Promise<Safeguards> {
  await checkAssembly(answering);
  const { plugins, bodyLimit, production, requiresIdentity } = answering.settings;
  const run = plugins.filter((plugin) => plugin.slot !== "endpoints" && !isLeftOut(plugin));
  const early = run.filter(({ slot }) => EARLY.includes(slot));
  const probes = observe
    ? [await openProbe(answering, run), await openProbe(answering, early)]
    : [];
  const paths = await endpointPaths(answering);
  const isOpen = await Promise.all(paths.map(async (path) => {
    return await reached(probes, { method: "GET", path }) !== undefined;
  }));
  return {
    authenticates: plugins.some(({ slot, key }) => isAuthentication(slot) && key === slot),
    requiresIdentity,
    concealsErrors: production,
    bodyLimit,
    trustedHops: plugins.find(isProxyPlugin)?.hops ?? 0,
    rateLimits: plugins.filter(isLimitPlugin).map((plugin) => ({
      name: plugin.key ?? "default",
      isByAddress: (plugin[limitsRate].key ?? clientIp) === clientIp,
    })),
    openEndpoints: paths.filter((_, i) => isOpen[i]),
    routes: await Promise.all(answering.routes.map(async ({ method, path, bound }) => {
      const { options } = bound.route;
      const sent = { method: method === "ALL" ? "GET" : method, path: examplePath(path) };
      const { probe, headers } = await reached(probes, sent) ?? {};
      return {
        method,
        path,
        bodyLimit: options.bodyLimit,
        isUpload: receivesFiles(options),
        observed: headers && {
          missingHeaders: SECURITY_HEADERS.filter((name) => !isSet(headers, name)),
          hasTimeLimit: await isAnsweredFor(probe, { ...sent, waitMs }),
          hasRateLimit: RATE_LIMIT_HEADERS.some((name) => headers.has(name)),
          allowsAnyOrigin: await allowsOrigin(probe, { ...sent, origin: UNKNOWN_ORIGIN }),
        },
      };
    })),
  };
}

/** Assembles the routes and the endpoints, as for the first request, without a provider. */
async function checkAssembly(answering: Answering): Promise<void> {
  const { settings, routes } = answering;
  const kernel: Omit<Kernel, "routes"> = {
    isPreview: true,
    create: <T>() => Promise.resolve(placeholder() as T), // as a preview does
    get: <T>() => placeholder() as T,
    instances: () => [],
    start: () => Promise.resolve(),
    checkOverrides() {},
    stop: () => Promise.resolve(),
  };
  const plugins = settings.plugins.map((plugin) =>
    isReadable(plugin) ? plugin : { slot: plugin.slot, key: plugin.key, install() {} }
  );
  await assemble(kernel, { ...settings, plugins, host: answering, routes });
}

interface Sent {
  readonly method: string;
  readonly path: string;
  /** The `Origin`; by default none. */
  readonly origin?: string;
}

/** The environment of the requests of a probe. */
interface ProbeEnv {
  readonly handler: () => Promise<Response>;
}

/** Sends a request through middleware to a handler in place of those of the application. */
type Probe = (sent: Sent, handler: ProbeEnv["handler"]) => Promise<Response>;

/** Mounts plugins and the paths of routes, by whose marks middleware knows what they declare. */
async function openProbe(answering: Answering, plugins: readonly Plugin[]): Promise<Probe> {
  const router = createRouter();
  router.onError((_, c) => c.body(null, 500));
  for (const { install } of inOrder(plugins)) await install(router, answering);
  for (const { method, path, bound } of answering.routes) {
    const { bodyLimit } = bound.route.options;
    mount(router, { method, path, bodyLimit, handler: (c) => handlerOf(c) });
  }
  router.all("*", (c) => handlerOf(c));
  const type = { "content-type": "application/json" }; // which no check of forms refuses
  return async ({ method, path, origin }, handler) =>
    await router.request(path, { method, headers: { ...type, ...origin && { origin } } }, {
      handler,
    });
}

function handlerOf(c: Context): Promise<Response> {
  return (c.env as ProbeEnv).handler(); // as the probe passes it
}

/** Returns the first probe whose request reaches its handler, with the headers of the response. */
async function reached(
  probes: readonly Probe[],
  sent: Sent,
): Promise<{ readonly probe: Probe; readonly headers: Headers } | undefined> {
  for (const probe of probes) {
    let isReached = false;
    const { headers } = await probe(sent, () => {
      isReached = true;
      return Promise.resolve(new Response("ok"));
    });
    if (isReached) return { probe, headers };
  }
  return undefined;
}

/** Checks whether middleware answers a request whose handler never does. */
async function isAnsweredFor(
  probe: Probe | undefined,
  { waitMs, ...sent }: Sent & { readonly waitMs: number },
): Promise<boolean> {
  const handled = Promise.withResolvers<Response>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), waitMs);
  });
  const answered = probe?.(sent, () => handled.promise).then(() => true);
  try {
    return await Promise.race([answered ?? false, waited]);
  } finally {
    clearTimeout(timer);
    handled.resolve(new Response());
    await answered;
  }
}

/** Checks whether scripts of an origin can read a response with the cookies of a user. */
async function allowsOrigin(
  probe: Probe | undefined,
  sent: Sent & { readonly origin: string },
): Promise<boolean> {
  const response = await probe?.(sent, () => Promise.resolve(new Response("ok")));
  return response?.headers.get("access-control-allow-origin") === sent.origin &&
    response.headers.get("access-control-allow-credentials") === "true";
}

/** Lists the paths of the metrics and of the documentation. */
async function endpointPaths(answering: Answering): Promise<readonly string[]> {
  const router = createRouter();
  for (const { install } of answering.settings.plugins.filter(isReadable)) {
    await install(router, answering);
  }
  return [...new Set(router.routes.map(({ path }) => path))];
}

/** Returns a path that a pattern matches, unless it constrains its parameters. */
function examplePath(pattern: string): string {
  return pattern.replaceAll(CONSTRAINT, "").replaceAll(/:\w+\??/g, "1").replace("*", "1");
}

function receivesFiles({ body, bodyLimit, consumes = [] }: RouteOptions): boolean {
  return bodyLimit !== undefined && (body === undefined || consumes.includes("multipart"));
}

/** A policy can take the place of `X-Frame-Options`. */
function isSet(headers: Headers, name: string): boolean {
  if (headers.has(name)) return true;
  const policy = headers.get("content-security-policy") ?? "";
  return name === "x-frame-options" && policy.includes("frame-ancestors");
}

/** Checks whether a plugin is one of a builder method that is not run. */
function isLeftOut(plugin: Plugin): boolean {
  const { slot, key } = plugin;
  return isLimitPlugin(plugin) || NOT_RUN.includes(slot) && (key === slot || key === "roles");
}

/** Checks whether a plugin serves the metrics or the documentation. */
function isReadable({ slot, key }: Plugin): boolean {
  return slot === "endpoints" && (key === "metrics" || key === "openapi");
}

function isAuthentication(slot: PluginSlot): boolean {
  return slot === "authn" || slot === "oauth2";
}

function isProxyPlugin(plugin: Plugin): plugin is Plugin & TrustedProxyOptions {
  return plugin.slot === "trustedProxy" && "hops" in plugin;
}

function isLimitPlugin(
  plugin: Plugin,
): plugin is ReturnType<typeof import("./lazy_plugins.ts").rateLimitPlugin> {
  return limitsRate in plugin;
}
