/**
 * The application: where core, middleware, runtime, OAuth2 and authn meet.
 *
 * @module
 */
import type { ExecutionContext, Handler, Hono, MiddlewareHandler } from "hono";
import { Answering } from "./answering.ts";
import { authnMiddleware } from "../authn/middleware.ts";
import { assemble, type Install, throwingErrors } from "../core/module/assembly.ts";
import { DEFAULT_BODY_LIMIT } from "../core/http/body.ts";
import type { Kernel } from "../core/module/boot.ts";
import { isProduction } from "../platform/env.ts";
import { composePath } from "../core/route/path.ts";
import type { PipelineDeclaration } from "../core/route/pipeline.ts";
import type { InjectionKey } from "../core/module/provider.ts";
import type { GlobalProtection } from "../core/route/route_protection.ts";
import {
  listRoutes,
  placeRoutes,
  type Prefixes,
  type RouteInfo,
} from "../core/route/route_table.ts";
import { mount, routerPattern } from "../core/route/router.ts";
import { Documentation } from "./documentation.ts";
import { healthCheck, type HealthCheckOptions } from "../middleware/health.ts";
import { createMetrics, type Metrics, type MetricsOptions } from "../middleware/metrics.ts";
import { rateLimit, type RateLimitOptions } from "../middleware/rate_limit/rate_limit.ts";
import { requestIdMiddleware, type RequestIdOptions } from "../middleware/request_id.ts";
import type { RequestTracingOptions } from "../middleware/request_tracing.ts";
import { skippedPaths } from "../middleware/skipped_paths.ts";
import { trustedProxy, type TrustedProxyOptions } from "../middleware/trusted_proxy.ts";
import { Installed, type Slot } from "./middleware_order.ts";
import { claimedRoles, type RolesReader } from "../oauth2/identity.ts";
import { oauth2Middleware, type TokenVerifier } from "../oauth2/middleware.ts";
import type { TokenSource } from "../oauth2/token_source.ts";
import type { OpenApiDocument } from "../openapi/openapi_document.ts";
import { type OpenApiOptions, resolveOptions } from "../openapi/options.ts";
import type { UnixAddress } from "../runtime/adapter.ts";
import { Background } from "../runtime/background.ts";
import type { DrainOptions, HttpServer } from "../runtime/http_server.ts";
import type { ListenOptions } from "../runtime/listen.ts";
import { requestInit, type RequestOptions } from "./request_options.ts";
import { type CloseOptions, Serving } from "./serving.ts";

/** Options of `app.useRateLimit()`. */
export interface UseRateLimitOptions extends RateLimitOptions {
  /**
   * Whether requests are counted once their tokens are verified, so that `key` may ask who the caller
   * is; `false` by default, which spares the verification of what is over the limit.
   */
  readonly afterAuthentication?: boolean;
}

/** Options of `app.useOAuth2()` and `app.useAuthn()`. */
export interface AuthenticationOptions {
  /** Whether every route needs an identity unless it declares `public: true`; `false` by default. */
  readonly require?: boolean;
  /** Where the token of a request is: `bearer()` by default, `scheme("Token")` or `cookie("session")`. */
  readonly from?: TokenSource;
}

/**
 * An application, made by {@linkcode FwFactory}. Its builder methods settle how it behaves, until the
 * first request or `listen`; then it is fixed.
 */
export class FwApplication {
  readonly #kernel: Kernel;
  readonly #installed = new Installed();
  #global: PipelineDeclaration = {};
  readonly #serving: Serving;
  #globalPrefix = "";
  #defaultVersion: string | undefined;
  #bodyLimit = DEFAULT_BODY_LIMIT;
  #production = false;
  #requiresIdentity = false;
  #rolesReader: RolesReader = claimedRoles;
  readonly #documentation = new Documentation(() => ({
    routes: placeRoutes(this.#kernel.routes, this.#prefixes),
    global: this.#globalProtection,
    isRateLimited: this.#installed.has("rateLimit") || this.#installed.has("callerRateLimit"),
    apiPrefix: `${this.#globalPrefix}/${this.#defaultVersion ?? ""}`,
  }));
  readonly #background = new Background();
  readonly #answering = new Answering({
    background: this.#background,
    check: () => this.#checkOpen(),
    assemble: () => this.#assemble(),
    openLog: async () => {
      if (!this.#kernel.isPreview) await this.#openLog();
    },
  });

  /** Creates an application; use {@linkcode FwFactory}. */
  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#serving = new Serving(this.fetch, {
      background: this.#background,
      stop: async (signal) => {
        await this.#answering.settled(); // what it has started is to be stopped too
        await kernel.stop(signal);
      },
    });
  }

  /** Puts a prefix before the paths of all controllers, such as `api`. */
  setGlobalPrefix(prefix: string): this {
    return this.#settle(() => this.#globalPrefix = prefix);
  }

  /**
   * Gives a version to the controllers that declare none. A version that a controller declares is a
   * segment of its path in any case.
   */
  enableUriVersioning({ defaultVersion }: { readonly defaultVersion?: string } = {}): this {
    return this.#settle(() => this.#defaultVersion = defaultVersion);
  }

  /**
   * Adds any Hono middleware, for all paths or for those that match a pattern (which is absolute: the
   * global prefix does not stand before it). It runs after request ids, tracing and metrics, and before
   * the rate limit and the routes.
   *
   * @example
   * ```ts
   * import { FwFactory, module } from "@fw/fw";
   * import { cors } from "hono/cors";
   *
   * const app = await FwFactory.create(module({}));
   * app.use(cors({ origin: "https://example.com" })).use("/api/*", async (c, next) => {
   *   await next();
   *   c.header("cache-control", "no-store");
   * });
   * ```
   */
  use(...middleware: readonly MiddlewareHandler[]): this;
  /** Adds any Hono middleware for the paths that match an absolute pattern. */
  use(path: string, ...middleware: readonly MiddlewareHandler[]): this;
  use(first: string | MiddlewareHandler, ...rest: readonly MiddlewareHandler[]): this {
    const isPath = typeof first === "string";
    const path = isPath ? routerPattern(composePath({ routePath: first })) : "*";
    const handlers = (isPath ? rest : [first, ...rest]).map(throwingErrors);
    return this.#install("use", (router) => void router.use(path, ...handlers));
  }

  /**
   * Adds guards of all routes, before those of controllers and routes. Classes among them are built as
   * the root module sees them.
   */
  useGlobalGuards(...guards: NonNullable<PipelineDeclaration["guards"]>): this {
    return this.#addGlobal({ guards });
  }

  /** Adds interceptors of all routes, around those of controllers and routes. */
  useGlobalInterceptors(...interceptors: NonNullable<PipelineDeclaration["interceptors"]>): this {
    return this.#addGlobal({ interceptors });
  }

  /** Adds exception filters, after those of routes and controllers. They see 404 and 405 as well. */
  useGlobalFilters(...filters: NonNullable<PipelineDeclaration["filters"]>): this {
    return this.#addGlobal({ filters });
  }

  /**
   * Gives every request an id, in the response header `x-request-id` and in what is logged.
   *
   * @throws {TypeError} if the name of the header is not a token
   */
  useRequestId(options?: RequestIdOptions): this {
    return this.#use("requestId", throwingErrors(requestIdMiddleware(options)));
  }

  /**
   * Logs one line a request, continues its trace, and names its OpenTelemetry span.
   *
   * @throws {TypeError} if a path to skip does not start with `/`
   */
  useRequestTracing(options: RequestTracingOptions = {}): this {
    skippedPaths(options.skipPaths); // throws now what is wrong with them
    return this.#install("requestTracing", async (router) => {
      const { requestTracing } = await import("../middleware/request_tracing.ts");
      router.use(requestTracing(options));
    }, "requestTracing");
  }

  /**
   * Believes `X-Forwarded-For` as far as the application's own proxies have written it.
   *
   * @throws {RangeError} if the number of hops is not a positive integer
   */
  useTrustedProxy(options: TrustedProxyOptions): this {
    return this.#use("trustedProxy", trustedProxy(options));
  }

  /**
   * Limits how many requests a client may make: by default 100 in 60 s. Limits of different names add
   * up; a second call with one name takes the place of the first.
   *
   * @throws {RangeError} if an option is out of range
   */
  useRateLimit({ afterAuthentication = false, ...options }: UseRateLimitOptions = {}): this {
    const limit = throwingErrors(rateLimit(options));
    const install: Install = (router) => void router.use(limit);
    const slot = afterAuthentication ? "callerRateLimit" : "rateLimit";
    return this.#install(slot, install, options.name ?? "default");
  }

  /**
   * Verifies the tokens of requests that have passed middleware and rate limits. A route is protected by
   * `OAuth2Guard`, `OAuth2Principal` or `roles`; with `require: true`, all routes are protected except
   * those with `public: true`. A second call replaces the verifier of the first; `require` of any call
   * stays in force.
   *
   * @throws {TypeError} if the `ValidationConfig` of a `JwtVerifier` names no issuer or no audience and
   * does not call `anyIssuer()` or `anyAudience()`
   */
  useOAuth2(verifier: TokenVerifier, options: AuthenticationOptions = {}): this {
    const roles: RolesReader = (claims) => this.#rolesReader(claims);
    const middleware = oauth2Middleware(verifier, { roles, from: options.from });
    return this.#authenticate("oauth2", middleware, options);
  }

  /**
   * Verifies the tokens that the application itself has issued, before `useOAuth2` verifies others: the
   * service is a `JwtService` of `@fw/fw/authn`.
   */
  useAuthn(service: TokenVerifier, options: AuthenticationOptions = {}): this {
    return this.#authenticate("authn", authnMiddleware(service, options), options);
  }

  /**
   * Sets how the roles of a caller are read from the claims of a token that `useOAuth2` has verified; by
   * default from `roles`, `realm_access.roles` and the words of `scope`. What it gives has to be a list
   * of strings, or `undefined` for none.
   */
  useRoles(reader: RolesReader): this {
    return this.#settle(() => this.#rolesReader = reader);
  }

  /**
   * Sets the largest body in bytes, 1 MiB by default; a route's `bodyLimit` goes before it.
   *
   * @throws {RangeError} if it is not a size
   */
  useBodyLimit(bytes: number): this {
    if (!Number.isSafeInteger(bytes) || bytes < 0) {
      throw new RangeError(`Cannot limit bodies to ${bytes} bytes: it is not a size`);
    }
    return this.#settle(() => this.#bodyLimit = bytes);
  }

  /** Counts and times requests, and serves the figures at a path in Prometheus' text format. */
  enableMetrics(path = "/metrics", options?: MetricsOptions): this {
    let metrics: Promise<Metrics> | undefined;
    const load = () => metrics ??= createMetrics(options);
    const count: Install = async (router) => void router.use((await load()).middleware);
    this.#install("metrics", count, "metrics");
    return this.#endpoint(path, async () => (await load()).handler, "metrics");
  }

  /**
   * Serves the application's health at a path: 200 while it is well, 503 when it is not. Each path is
   * a check of its own: `/live` without indicators, say, and `/ready` with them.
   *
   * @throws {RangeError} if the time limit is not one
   */
  enableHealthCheck(path = "/health", options: HealthCheckOptions = {}): this {
    const handler = healthCheck(options, () => this.#serving.isDraining());
    return this.#endpoint(path, () => handler);
  }

  /**
   * Serves the OpenAPI 3.1 document of the routes as JSON and YAML, and a page to read and try it:
   * `/openapi.json`, `/openapi.yaml` and `/docs` unless the options say otherwise. The document is made
   * once, when the application assembles; what is wrong with it is thrown by `ready` and `listen`.
   *
   * @throws {TypeError} if the options contradict each other, or a path is none
   */
  enableOpenApi(options: OpenApiOptions = {}): this {
    const resolved = resolveOptions(options);
    const { keepHeaders, serve } = this.#documentation;
    return this.#settle(() => this.#documentation.configure(resolved))
      .#install("docs", keepHeaders, "docs")
      .#install("endpoints", serve, "openapi");
  }

  /**
   * Makes the OpenAPI 3.1 document of the routes, as the options of `enableOpenApi` say.
   *
   * @throws {TypeError} naming the route: if two operations have one id, if a path and its `params` do not
   * have the same parameters, if two schemas have one name, or if the `rolesSecurityScheme` is not
   * declared
   */
  async openApi(): Promise<OpenApiDocument> {
    return (await this.#documentation.describe()).document;
  }

  /** Conceals what went wrong from the bodies of 5xx responses. */
  enableProductionErrors(enabled = true): this {
    return this.#settle(() => this.#production = enabled);
  }

  /**
   * Conceals what went wrong from the bodies of 5xx responses when `FW_ENV` is `production`. It throws
   * where the process may not read that, so that no missing permission reveals anything.
   */
  enableProductionErrorsFromEnv(): this {
    return this.enableProductionErrors(isProduction());
  }

  /**
   * Mounts the routes and all that is installed, which the first request or `listen` would do
   * otherwise: what is wrong with them is thrown here.
   *
   * @throws {TypeError} if two routes or endpoints have one method and path; the message names them
   */
  async ready(): Promise<this> {
    await this.#answering.router();
    return this;
  }

  /**
   * Answers a request. It is bound to the application, so `export default { fetch: app.fetch }`
   * serves on Deno, Bun and edge runtimes. `env` is what the runtime tells of the connection, or the
   * bindings of a Worker. Work that goes on after the response is handed to the execution context, as is
   * the request itself; without one, `close` waits for such work. Unless the application has configured
   * LogTape, what is logged is printed from the first call on.
   */
  readonly fetch: (
    request: Request,
    env?: object,
    executionContext?: ExecutionContext,
  ) => Response | Promise<Response> = this.#answering.fetch;

  /**
   * Answers a request without a server, as tests and scripts need.
   *
   * @example
   * ```ts
   * import { controller, FwFactory, module, route } from "@fw/fw";
   * import * as v from "valibot";
   *
   * class EchoController extends controller() {
   *   echo = route.post("/echo", { body: v.object({ word: v.string() }) }, ({ body }) => body.word);
   * }
   * const app = await FwFactory.create(module({ controllers: [EchoController] }));
   * const response = await app.request("/echo", { json: { word: "hello" } });
   * console.assert(await response.json() === "hello");
   * ```
   */
  async request(path: string, init: RequestOptions = {}): Promise<Response> {
    const router = await this.#answering.router();
    return await router.request(path, requestInit(init), init.env, this.#background);
  }

  /** Lists the routes of all controllers, the more specific before the less. */
  routes(): readonly RouteInfo[] {
    return listRoutes(placeRoutes(this.#kernel.routes, this.#prefixes), this.#globalProtection);
  }

  /**
   * Gives a provider: as the root module sees it, else from any module.
   *
   * @throws {TypeError} if no module provides it
   */
  get<T>(key: InjectionKey<T>): T {
    return this.#kernel.get(key);
  }

  /**
   * Serves on a port (0 for any that is free) or a Unix socket (`{ path: "/run/app.sock" }`); resolves
   * when it listens. Unless the application has configured LogTape, what is logged is printed from now
   * on.
   *
   * @throws {RangeError} if the port is not an integer from 0 to 65535
   * @throws {ListenError} if the address cannot be listened on, or the certificate is not valid
   * @throws {TypeError} if the routes collide, the application is closed or a preview, or a Unix socket
   * has an empty path, a host name or TLS
   */
  async listen(address: number | UnixAddress, options: ListenOptions = {}): Promise<HttpServer> {
    await this.#answering.router();
    await this.#openLog();
    return await this.#serving.listen(address, options);
  }

  /**
   * Serves on a port or a Unix socket until SIGINT or SIGTERM; resolves when it listens. On the signal,
   * health turns 503, connections are drained, background work is waited for, the stop hooks run, and
   * the process exits with 0 (1 if a hook fails). A second signal ends it at once. It throws what
   * {@linkcode FwApplication.listen} throws.
   */
  async listenGraceful(
    address: number | UnixAddress,
    { drainMs, lameDuckMs, ...options }: ListenOptions & DrainOptions = {},
  ): Promise<HttpServer> {
    await this.#serving.closeOnSignals({ drainMs, lameDuckMs }); // who reads that it listens may stop it
    try {
      return await this.listen(address, options);
    } catch (error) {
      this.#serving.releaseSignals();
      throw error;
    }
  }

  /**
   * Stops serving: drains every server, waits for what requests have left to `waitUntil` (both within
   * `drainMs`), then runs the stop hooks. Once; later calls wait for it.
   *
   * @throws {AggregateError} if stop hooks failed; all of them have run
   */
  close(options: CloseOptions = {}): Promise<void> {
    return this.#serving.close(options);
  }

  /** Closes the application. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get #prefixes(): Prefixes {
    return { globalPrefix: this.#globalPrefix, defaultVersion: this.#defaultVersion };
  }

  get #globalProtection(): GlobalProtection {
    return { guards: this.#global.guards ?? [], requiresIdentity: this.#requiresIdentity };
  }

  /** Prints what is logged, unless LogTape is configured; what does so is loaded by those who serve. */
  async #openLog(): Promise<void> {
    const { logToConsole } = await import("../runtime/console_log.ts");
    logToConsole();
    await this.#documentation.warn();
  }

  #checkOpen(): void {
    if (this.#kernel.isPreview) throw new TypeError("Cannot serve: the application is a preview");
    if (this.#serving.isDraining()) throw new TypeError("Cannot serve: the application is closed");
  }

  async #assemble(): Promise<Hono> {
    const router = await assemble(this.#kernel, {
      ...this.#prefixes,
      global: this.#global,
      requiresIdentity: this.#requiresIdentity,
      bodyLimit: this.#bodyLimit,
      production: this.#production,
      installs: this.#installed.inOrder(),
    });
    await this.#documentation.warn();
    return router;
  }

  /** Installs an endpoint outside of prefixes, versions and limits. */
  #endpoint(
    routePath: string,
    create: () => Handler | Promise<Handler>,
    key: string = routePath,
  ): this {
    const path = composePath({ routePath });
    const install: Install = async (router) =>
      mount(router, { method: "GET", path }, await create());
    return this.#install("endpoints", install, key);
  }

  /** Installs the one middleware of a slot; a second call takes the place of the first. */
  #use(slot: Slot, middleware: MiddlewareHandler): this {
    return this.#install(slot, (router) => void router.use(middleware), slot);
  }

  #authenticate(
    slot: Slot,
    middleware: MiddlewareHandler,
    { require = false }: AuthenticationOptions,
  ): this {
    this.#use(slot, middleware);
    return this.#settle(() => this.#requiresIdentity ||= require);
  }

  #install(slot: Slot, install: Install, key?: string): this {
    return this.#settle(() => this.#installed.add(slot, install, key));
  }

  #addGlobal(
    { guards = [], interceptors = [], filters = [] }: PipelineDeclaration,
  ): this {
    return this.#settle(() => {
      const before = this.#global;
      this.#global = {
        guards: [...before.guards ?? [], ...guards],
        interceptors: [...before.interceptors ?? [], ...interceptors],
        filters: [...before.filters ?? [], ...filters],
      };
    });
  }

  #settle(change: () => void): this {
    if (this.#answering.hasBegun) {
      throw new TypeError("Cannot change the application: it serves already");
    }
    change();
    return this;
  }
}
