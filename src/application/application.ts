/**
 * The application: where core, middleware, runtime, OAuth2, authn and OpenAPI meet.
 *
 * @module
 */
import type { ExecutionContext, MiddlewareHandler } from "hono";
import { authnMiddleware } from "../authn/middleware.ts";
import { checkedBodyLimit } from "../core/http/body_limit.ts";
import type { Kernel } from "../core/module/boot.ts";
import {
  addPlugin,
  middlewarePlugin,
  type Plugin,
  type UseArguments,
  usePlugin,
} from "../core/module/plugin.ts";
import type { InjectionKey } from "../core/module/provider.ts";
import type { PipelineDeclaration } from "../core/route/pipeline.ts";
import { listRoutes, type RouteInfo } from "../core/route/route_table.ts";
import { type TrustedProxyOptions, trustedProxyPlugin } from "../middleware/client_ip.ts";
import { type HealthCheckOptions, healthCheckPlugin } from "../middleware/health.ts";
import { type MetricsOptions, metricsPlugins } from "../middleware/metrics.ts";
import { rateLimitPlugin, type UseRateLimitOptions } from "../middleware/rate_limit/rate_limit.ts";
import { type RequestIdOptions, requestIdPlugin } from "../middleware/request_id.ts";
import { type RequestTracingOptions, requestTracingPlugin } from "../middleware/request_tracing.ts";
import type { RolesReader } from "../oauth2/identity.ts";
import { oauth2Middleware, type TokenVerifier } from "../oauth2/middleware.ts";
import type { TokenSource } from "../oauth2/token_source.ts";
import type { OpenApiDocument } from "../openapi/openapi_document.ts";
import { type OpenApiOptions, resolveOptions } from "../openapi/options.ts";
import { isProduction } from "../platform/env.ts";
import type { UnixAddress } from "../runtime/adapter.ts";
import { Background } from "../runtime/background.ts";
import type { DrainOptions, HttpServer } from "../runtime/http_server.ts";
import type { ListenOptions } from "../runtime/listen.ts";
import { Answering, type RequestOptions } from "./answering.ts";
import { describe, documentationPlugins } from "./documentation.ts";
import { type CloseOptions, Serving } from "./serving.ts";
import { type Settings, withGlobal } from "./settings.ts";

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
  readonly #answering: Answering;
  readonly #serving: Serving;

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
  ) => Response | Promise<Response>;

  /** Creates an application; use {@linkcode FwFactory}. */
  constructor(kernel: Kernel) {
    const background = new Background();
    this.#kernel = kernel;
    this.#answering = new Answering({ kernel, background });
    this.#serving = new Serving({ kernel, background, answering: this.#answering });
    this.fetch = this.#answering.fetch;
  }

  /** Puts a prefix before the paths of all controllers, such as `api`. */
  setGlobalPrefix(prefix: string): this {
    return this.#configure({ globalPrefix: prefix });
  }

  /**
   * Gives a version to the controllers that declare none. A version that a controller declares is a
   * segment of its path in any case.
   */
  enableUriVersioning({ defaultVersion }: { readonly defaultVersion?: string } = {}): this {
    return this.#configure({ defaultVersion });
  }

  /**
   * Adds a plugin: middleware or endpoints at a chosen place in the order that a request passes; see
   * {@linkcode Plugin} for the slots. It takes the place of one with the same slot and key.
   *
   * @throws {TypeError} if the slot is unknown
   */
  plug(...plugins: readonly Plugin[]): this {
    return this.#configure({
      plugins: plugins.reduce(addPlugin, this.#answering.settings.plugins),
    });
  }

  /**
   * Adds any Hono middleware, for all paths or for those that match a pattern (which is absolute: the
   * global prefix does not stand before it). It runs after request ids, tracing and metrics, and before
   * the rate limit and the routes; with `afterAuthentication: true` as the last argument, it runs after
   * `useAuthn` and `useOAuth2` and can read the caller's identity.
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
  use(...middleware: UseArguments): this;
  /** Adds any Hono middleware for the paths that match an absolute pattern. */
  use(path: string, ...middleware: UseArguments): this;
  use(...args: readonly [string, ...UseArguments] | UseArguments): this {
    return this.plug(usePlugin(args));
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
    return this.plug(requestIdPlugin(options));
  }

  /**
   * Logs one line a request, continues its trace, and names its OpenTelemetry span.
   *
   * @throws {TypeError} if a path to skip does not start with `/`
   */
  useRequestTracing(options?: RequestTracingOptions): this {
    return this.plug(requestTracingPlugin(options));
  }

  /**
   * Believes `X-Forwarded-For` as far as the application's own proxies have written it.
   *
   * @throws {RangeError} if the number of hops is not a positive integer
   */
  useTrustedProxy(options: TrustedProxyOptions): this {
    return this.plug(trustedProxyPlugin(options));
  }

  /**
   * Limits how many requests a client may make: by default 100 in 60 s. Limits of different names add
   * up; a second call with one name takes the place of the first.
   *
   * @throws {RangeError} if an option is out of range
   */
  useRateLimit(options?: UseRateLimitOptions): this {
    return this.plug(rateLimitPlugin(options));
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
    const roles: RolesReader = (claims) => this.#answering.settings.roles(claims);
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
    return this.#configure({ roles: reader });
  }

  /**
   * Sets the largest body in bytes, 1 MiB by default; a route's `bodyLimit` goes before it.
   *
   * @throws {RangeError} if it is not a size
   */
  useBodyLimit(bytes: number): this {
    return this.#configure({ bodyLimit: checkedBodyLimit(bytes) });
  }

  /** Counts and times requests, and serves the figures at a path in Prometheus' text format. */
  enableMetrics(path = "/metrics", options?: MetricsOptions): this {
    return this.plug(...metricsPlugins(path, options));
  }

  /**
   * Serves the application's health at a path: 200 while it is well, 503 when it is not. Each path is
   * a check of its own: `/live` without indicators, say, and `/ready` with them.
   *
   * @throws {RangeError} if the time limit is not one
   */
  enableHealthCheck(path = "/health", options?: HealthCheckOptions): this {
    return this.plug(healthCheckPlugin(path, options));
  }

  /**
   * Serves the OpenAPI 3.1 document of the routes as JSON and YAML, and a page to read and try it:
   * `/openapi.json`, `/openapi.yaml` and `/docs` unless the options say otherwise. The document is made
   * once, when the application assembles; what is wrong with it is thrown by `ready` and `listen`.
   *
   * @throws {TypeError} if the options contradict each other, or a path is none
   */
  enableOpenApi(options?: OpenApiOptions): this {
    return this.#configure({ openApi: resolveOptions(options) })
      .plug(...documentationPlugins(this.#answering));
  }

  /**
   * Makes the OpenAPI 3.1 document of the routes, as the options of `enableOpenApi` say.
   *
   * @throws {TypeError} naming the route: if two operations have one id, if a path and its `params` do not
   * have the same parameters, if two schemas have one name, or if the `rolesSecurityScheme` is not
   * declared
   */
  async openApi(): Promise<OpenApiDocument> {
    return (await describe(this.#answering)).document;
  }

  /** Conceals what went wrong from the bodies of 5xx responses. */
  enableProductionErrors(enabled = true): this {
    return this.#configure({ production: enabled });
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
  request(path: string, init: RequestOptions = {}): Promise<Response> {
    return this.#answering.request(path, init);
  }

  /** Lists the routes of all controllers, the more specific before the less. */
  routes(): readonly RouteInfo[] {
    return listRoutes(this.#answering.routes, this.#answering.protection);
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
    await this.#answering.openLog();
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

  #authenticate(
    slot: "authn" | "oauth2",
    middleware: MiddlewareHandler,
    { require = false }: AuthenticationOptions,
  ): this {
    const requiresIdentity = require || this.#answering.settings.requiresIdentity;
    return this.#configure({ requiresIdentity }).plug(middlewarePlugin(slot, middleware));
  }

  #addGlobal(declaration: PipelineDeclaration): this {
    return this.#configure({ global: withGlobal(this.#answering.settings.global, declaration) });
  }

  #configure(change: Partial<Settings>): this {
    this.#answering.configure(change);
    return this;
  }
}
