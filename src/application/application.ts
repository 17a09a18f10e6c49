/**
 * The application: where core, middleware, runtime, OAuth2, authn and OpenAPI meet.
 *
 * @module
 */
import type { ExecutionContext } from "hono";
import { checkedBodyLimit } from "../core/http/body_limit.ts";
import type { Kernel } from "../core/module/boot.ts";
import { type Plugin, type UseArguments, usePlugin } from "../core/module/plugin.ts";
import type { InjectionKey } from "../core/module/provider.ts";
import type { PipelineDeclaration } from "../core/route/pipeline.ts";
import { listRoutes, type RouteInfo } from "../core/route/route_table.ts";
import * as version from "../core/route/version.ts";
import type { TrustedProxyOptions } from "../middleware/client_ip.ts";
import type { HealthCheckOptions } from "../middleware/health.ts";
import type { MetricsOptions } from "../middleware/metrics.ts";
import type { UseRateLimitOptions } from "../middleware/rate_limit/rate_limit_options.ts";
import type { RequestIdOptions } from "../middleware/request_id.ts";
import type { RequestTracingOptions } from "../middleware/request_tracing_options.ts";
import type { AuthenticationOptions, TokenVerifier } from "../oauth2/authentication_options.ts";
import type { RolesReader } from "../oauth2/identity.ts";
import type { OpenApiDocument } from "../openapi/openapi_document.ts";
import { type OpenApiOptions, resolveOptions } from "../openapi/options.ts";
import { isProduction } from "../platform/env.ts";
import type { UnixAddress } from "../runtime/adapter.ts";
import { Background } from "../runtime/background.ts";
import type { DrainOptions, HttpServer } from "../runtime/http_server.ts";
import type { ListenOptions } from "../runtime/listen.ts";
import { Answering, type RequestOptions } from "./answering.ts";
import type { DescribeOptions } from "./documentation.ts";
import * as plugins from "./lazy_plugins.ts";
import type { Safeguards, SafeguardsOptions } from "./safeguards.ts";
import type { CloseOptions, Serving, ServingParts } from "./serving.ts";
import { type Settings, withGlobal, withPlugins, withVersioning } from "./settings.ts";

/**
 * An application, created by {@linkcode FwFactory}. Its builder methods configure it until the
 * first request or `listen`; they throw a `TypeError` after that, and a `TypeError` or a
 * `RangeError` if an option is invalid.
 */
export class FwApplication {
  readonly #answering: Answering;
  readonly #parts: ServingParts;
  #serving: Promise<Serving> | undefined;

  /**
   * Answers a request. It is bound: `export default { fetch: app.fetch }` serves on Deno, Bun and
   * edge runtimes. `env` describes the connection, or holds the bindings of a Worker.
   * `executionContext` receives work that outlives the response; without one, `close` waits for it.
   * The first call prints the log on the console, unless the application has configured LogTape.
   */
  readonly fetch: (
    request: Request,
    env?: object,
    executionContext?: ExecutionContext,
  ) => Response | Promise<Response>;

  /** Creates an application; use {@linkcode FwFactory}. */
  constructor(kernel: Kernel) {
    const background = new Background();
    this.#answering = new Answering({ kernel, background });
    this.#parts = { kernel, background, answering: this.#answering };
    this.fetch = this.#answering.fetch;
  }

  /** The prefix before the paths of all controllers; empty by default. */
  get globalPrefix(): string {
    return this.#answering.settings.globalPrefix;
  }

  /** Puts a prefix before the paths of all controllers, such as `api`. */
  setGlobalPrefix(prefix: string): this {
    return this.#configure({ globalPrefix: prefix });
  }

  /** Puts the versions of routes into their paths, after the global prefix: `/api/v1/cats`. */
  enableUriVersioning(options?: version.UriVersioningOptions): this {
    return this.#configure(
      withVersioning(this.#answering.settings, version.uriVersioning(options)),
    );
  }

  /** Selects among the versions of a path by a header, `API-Version` by default. */
  enableHeaderVersioning(options?: version.HeaderVersioningOptions): this {
    return this.#configure(
      withVersioning(this.#answering.settings, version.headerVersioning(options)),
    );
  }

  /** Selects among the versions of a path by a media type in `Accept`: `application/json;v=v2`. */
  enableMediaTypeVersioning(options?: version.MediaTypeVersioningOptions): this {
    return this.#configure(
      withVersioning(this.#answering.settings, version.mediaTypeVersioning(options)),
    );
  }

  /**
   * Adds plugins: middleware or endpoints, each in its slot of the order that a request passes (see
   * {@linkcode Plugin}). A plugin replaces an earlier one with the same slot and key.
   */
  plug(...plugins: readonly Plugin[]): this {
    return this.#configure(withPlugins(this.#answering.settings, plugins));
  }

  /**
   * Adds Hono middleware, for all paths or for those that match a pattern (to which no global
   * prefix is added). It runs after request ids, tracing and metrics and before the rate
   * limit; with `{ afterAuthentication: true }` at the end, after `useAuthn` and `useOAuth2`:
   * it knows the caller.
   */
  use(...middleware: UseArguments): this;
  /** Adds Hono middleware for the paths that match a pattern. */
  use(path: string, ...middleware: UseArguments): this;
  use(...args: readonly [string, ...UseArguments] | UseArguments): this {
    return this.plug(usePlugin(args));
  }

  /** Adds guards of all routes, before those of controllers and routes. */
  useGlobalGuards(...guards: NonNullable<PipelineDeclaration["guards"]>): this {
    return this.#configure(withGlobal(this.#answering.settings, { guards }));
  }

  /** Adds interceptors of all routes, around those of controllers and routes. */
  useGlobalInterceptors(...interceptors: NonNullable<PipelineDeclaration["interceptors"]>): this {
    return this.#configure(withGlobal(this.#answering.settings, { interceptors }));
  }

  /** Adds exception filters, after those of routes and controllers; they see 404 and 405 too. */
  useGlobalFilters(...filters: NonNullable<PipelineDeclaration["filters"]>): this {
    return this.#configure(withGlobal(this.#answering.settings, { filters }));
  }

  /** Assigns an id to every request, for the response header `x-request-id` and the log. */
  useRequestId(options?: RequestIdOptions): this {
    return this.plug(plugins.requestIdPlugin(options));
  }

  /** Logs one line per request, continues its trace, and names its OpenTelemetry span. */
  useRequestTracing(options?: RequestTracingOptions): this {
    return this.plug(plugins.requestTracingPlugin(options));
  }

  /** Reads client addresses from `X-Forwarded-For`, as far as trusted proxies have written it. */
  useTrustedProxy(options: TrustedProxyOptions): this {
    return this.plug(plugins.trustedProxyPlugin(options));
  }

  /** Limits each client's requests, by default to 100 in 60 s. Limits add up; each has a name. */
  useRateLimit(options?: UseRateLimitOptions): this {
    return this.plug(plugins.rateLimitPlugin(options, this.#answering.settings.plugins));
  }

  /**
   * Verifies the tokens of requests. `OAuth2Guard`, `OAuth2Principal`, `roles` and `scopes` protect
   * a route; `require: true` protects all routes except those with `public: true`, and stays in
   * force when a later call replaces the verifier. It throws if a `JwtVerifier` names no issuer or
   * no audience, unless its `ValidationConfig` calls `anyIssuer()` or `anyAudience()`.
   */
  useOAuth2(verifier: TokenVerifier, options?: AuthenticationOptions): this {
    return this.plug(plugins.oauth2Plugin(verifier, options)).#require(options);
  }

  /** Verifies tokens that the application itself issues with a `JwtService`, before `useOAuth2`. */
  useAuthn(service: TokenVerifier, options?: AuthenticationOptions): this {
    return this.plug(plugins.authnPlugin(service, options)).#require(options);
  }

  /**
   * Sets how roles are read from the claims of tokens that `useOAuth2` has verified; by default
   * from `roles` and `realm_access.roles`. Without `useOAuth2`, the application is not assembled.
   */
  useRoles(reader: RolesReader): this {
    return this.plug(plugins.rolesPlugin(reader, { answering: this.#answering }));
  }

  /** Sets the largest body in bytes, 1 MiB by default; the `bodyLimit` of a route overrides it. */
  useBodyLimit(bytes: number): this {
    return this.#configure({ bodyLimit: checkedBodyLimit(bytes) });
  }

  /** Counts and times requests, and serves the metrics in the text format of Prometheus. */
  enableMetrics(path = "/metrics", options?: MetricsOptions): this {
    const instances = () => this.#parts.kernel.instances();
    return this.plug(...plugins.metricsPlugins(path, { options, instances }));
  }

  /**
   * Serves a health check: 200 if its indicators are up, else 503. Each path has a check of its
   * own, such as `/live` without indicators and `/ready` with them.
   */
  enableHealthCheck(path = "/health", options?: HealthCheckOptions): this {
    return this.plug(plugins.healthCheckPlugin(path, options));
  }

  /**
   * Serves the OpenAPI 3.1 document of the routes as `/openapi.json` and `/openapi.yaml`, and a
   * page to read and try it at `/docs`. `ready` and `listen` throw what
   * {@linkcode FwApplication.openApi} throws.
   */
  enableOpenApi(options?: OpenApiOptions): this {
    return this.#configure({ openApi: resolveOptions(options) })
      .plug(...plugins.documentationPlugins(this.#answering));
  }

  /**
   * Creates the OpenAPI 3.1 document of the routes, or of those of one version, with the options of
   * `enableOpenApi`.
   *
   * @throws {TypeError} if no route has the version; naming the route: if two operations have the
   * same id or two schemas the same name, if a path and its `params` have different parameters, or
   * if the `rolesSecurityScheme` is unknown
   */
  async openApi(options?: DescribeOptions): Promise<OpenApiDocument> {
    const documentation = await import("./documentation.ts");
    return (await documentation.describe(this.#answering, options)).document;
  }

  /** Removes error details from all 5xx; else from unexpected ones unless in development. */
  enableProductionErrors(enabled = true): this {
    return this.#configure({ production: enabled });
  }

  /** Does so if `FW_ENV` is `production`; throws if the process may not read that. */
  enableProductionErrorsFromEnv(): this {
    return this.enableProductionErrors(isProduction());
  }

  /**
   * Assembles the application, which the first request or `listen` does otherwise. It throws a
   * `TypeError` if two routes or endpoints have the same method and path.
   */
  async ready(): Promise<this> {
    await this.#answering.router();
    return this;
  }

  /** Answers a request without a server, as tests and scripts need. */
  request(path: string, init: RequestOptions = {}): Promise<Response> {
    return this.#answering.request(path, init);
  }

  /** Lists the routes of all controllers, the more specific first. */
  routes(): readonly RouteInfo[] {
    return listRoutes(this.#answering.routes, this.#answering.protection);
  }

  /**
   * Reports which safe defaults are in force, for tools and tests; of a preview as well. It sends
   * requests through middleware, except for that of `useRequestTracing`, `enableMetrics`,
   * `useRateLimit`, `useAuthn` and `useOAuth2`, to handlers of its own: no guard and no handler of
   * the application runs.
   */
  async safeguards(options?: SafeguardsOptions): Promise<Safeguards> {
    const safeguards = await import("./safeguards.ts");
    return await safeguards.safeguardsOf(this.#answering, options);
  }

  /** Returns a provider of the root module, else of any module; throws if none provides it. */
  get<T>(key: InjectionKey<T>): T {
    return this.#parts.kernel.get(key);
  }

  /**
   * Serves on a port (0 for a free one) or a Unix socket (`{ path: "/run/app.sock" }`); resolves
   * when it listens. It prints the log, unless the application has configured LogTape.
   *
   * @throws {RangeError} if the port is not an integer from 0 to 65535
   * @throws {ListenError} if the address cannot be listened on, or the certificate is invalid
   * @throws {TypeError} if routes collide, the application is closed or a preview, or a Unix socket
   * has an empty path, a host name or TLS
   */
  async listen(address: number | UnixAddress, options?: ListenOptions): Promise<HttpServer> {
    return (await this.#loadServing()).listen(address, options);
  }

  /**
   * Serves until SIGINT or SIGTERM; throws what {@linkcode FwApplication.listen} throws. On the
   * signal, health checks answer 503, connections are drained, background work is awaited, the stop
   * hooks run, and the process exits with 0 (1 if a hook fails). A second signal ends it at once.
   * An unhandled rejection or uncaught exception is logged and does the same, with exit code 1.
   */
  async listenGraceful(
    address: number | UnixAddress,
    options?: ListenOptions & DrainOptions,
  ): Promise<HttpServer> {
    return (await this.#loadServing()).listenGraceful(address, options);
  }

  /**
   * Runs jobs until SIGINT or SIGTERM, as `listenGraceful` does, but serves no HTTP; resolves when
   * the workers have started.
   *
   * @throws {RangeError} if a time is not a number of 0 or more
   * @throws {TypeError} if the application is closed or a preview; and what a hook throws
   */
  async startWorkers(options?: DrainOptions): Promise<void> {
    await (await this.#loadServing()).startWorkers(options);
  }

  /**
   * Stops serving: drains servers, and waits for jobs and background work, within `drainMs`, then
   * runs all stop hooks. It throws an `AggregateError` if hooks failed. Later calls wait for the
   * first.
   */
  async close(options: CloseOptions = {}): Promise<void> {
    this.#answering.drain();
    await (await this.#loadServing()).close(options);
  }

  /** Closes the application. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #loadServing(): Promise<Serving> {
    return this.#serving ??= import("./serving.ts").then((it) => new it.Serving(this.#parts));
  }

  #require({ require = false }: AuthenticationOptions = {}): this {
    return require ? this.#configure({ requiresIdentity: true }) : this;
  }

  #configure(change: Partial<Settings>): this {
    this.#answering.configure(change);
    return this;
  }
}
