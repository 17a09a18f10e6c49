/**
 * The framework: modules, controllers and injected providers; routes that declare their validation,
 * types and protection once; middleware, and serving on Deno, Bun and Node.
 *
 * @example
 * ```ts
 * import { controller, FwFactory, inject, module, NotFoundException, route } from "@fw/fw";
 *
 * class CatsService {
 *   readonly #cats = new Map([["tom", { name: "Tom" }]]);
 *   one(id: string) {
 *     return this.#cats.get(id) ?? NotFoundException.throw("No such cat");
 *   }
 * }
 *
 * class CatsController extends controller("cats") {
 *   readonly #cats = inject(CatsService);
 *
 *   one = route.get("/:id", ({ params }) => this.#cats.one(params.id));
 * }
 *
 * const AppModule = module({ providers: [CatsService], controllers: [CatsController] });
 * const app = await FwFactory.create(AppModule);
 * const response = await app.setGlobalPrefix("api").request("/api/cats/tom");
 * console.assert((await response.json()).name === "Tom");
 * ```
 *
 * @module
 */
export type { FwApplication } from "./src/application/application.ts";
export type { RequestOptions } from "./src/application/answering.ts";
export type {
  RouteSafeguards,
  Safeguards,
  SafeguardsOptions,
} from "./src/application/safeguards.ts";
export type { CloseOptions } from "./src/application/serving.ts";
export { FwFactory, type FwFactoryOptions } from "./src/application/factory.ts";

export type { BodyFormat, ReadBodyOptions } from "./src/core/http/body.ts";
export { bodyLimit } from "./src/core/http/body_limit.ts";
export { bodyTimeout } from "./src/core/http/body_timeout.ts";
export { inject } from "./src/core/module/container.ts";
export { controller } from "./src/core/route/controller.ts";
export type {
  DeclaredVersion,
  HeaderVersioningOptions,
  MediaTypeVersioningOptions,
  UriVersioningOptions,
} from "./src/core/route/version.ts";
export type {
  Controller,
  ControllerClass,
  ControllerDeclaration,
  ControllerOptions,
} from "./src/core/route/controller.ts";
export type { Deprecation } from "./src/core/http/deprecation.ts";
export { dto } from "./src/core/schema/dto.ts";
export {
  BadGatewayException,
  BadRequestException,
  ConflictException,
  ForbiddenException,
  GatewayTimeoutException,
  GoneException,
  InternalServerErrorException,
  MethodNotAllowedException,
  NotAcceptableException,
  NotFoundException,
  NotImplementedException,
  PayloadTooLargeException,
  PreconditionFailedException,
  RequestTimeoutException,
  ServiceUnavailableException,
  StatusException,
  TooManyRequestsException,
  UnauthorizedException,
  UnprocessableEntityException,
  UnsupportedMediaTypeException,
} from "./src/core/http/http_exception.ts";
export { HttpException } from "./src/core/http/http_exception.ts";
export type { HttpExceptionOptions, HttpMappedError } from "./src/core/http/http_exception.ts";
export type { InputPart, ValidationIssue } from "./src/core/http/validation_issue.ts";
export {
  optional,
  validatedBody,
  validatedPath,
  validatedQuery,
} from "./src/core/route/extractor.ts";
export type { Extractor } from "./src/core/route/extractor.ts";
export type {
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnMetrics,
  OnModuleDestroy,
  OnModuleInit,
  OnWorkersStart,
  OnWorkersStop,
  WorkersStart,
  WorkersStop,
} from "./src/core/module/lifecycle.ts";
export { type MatchedRoute, matchedRoute } from "./src/core/http/matched_route.ts";
export { type Imports, type Module, module, type ModuleOptions } from "./src/core/module/module.ts";
export type {
  CanActivate,
  CanActivateFn,
  ExceptionFilter,
  ExceptionFilterFn,
  FilterResult,
  GuardResult,
  Interceptor,
  InterceptorFn,
  NextHandler,
  PipelineDeclaration,
} from "./src/core/route/pipeline.ts";
export type { Problem } from "./src/core/http/problem.ts";
export type { AbstractClass, Class } from "./src/platform/class.ts";
export {
  type CallerIdentity,
  callerIdentity,
  callerRoles,
  callerScopes,
} from "./src/core/route/caller.ts";
export { type Context, type Slot, slot, type SlotOptions } from "./src/core/http/context.ts";
export { provide } from "./src/core/module/provider.ts";
export type {
  FactoryProvider,
  InjectionKey,
  Provider,
  StandIn,
} from "./src/core/module/provider.ts";
export { type Route, route } from "./src/core/route/route.ts";
export type { RouteDeclaration, RouteDeclarations } from "./src/core/route/route.ts";
export type {
  MatchingMethod,
  RouteMethod,
  RouteOptions,
  RouteStatus,
  SuccessStatus,
  VersionedModel,
} from "./src/core/route/route_options.ts";
export type { PlainRouteTypes, RouteTypes } from "./src/core/route/route_input.ts";
export type {
  RouteOpenApi,
  RouteResponse,
  RouteResponses,
} from "./src/core/route/route_openapi.ts";
export type {
  Declared,
  MatchedVersion,
  OptionalParamNames,
  ParamNames,
  PathParams,
  RouteInput,
  RouteOutput,
  VersionedData,
} from "./src/core/route/route_input.ts";
export type { RouteProtection } from "./src/core/route/route_protection.ts";
export type {
  Install,
  Plugin,
  PluginHost,
  PluginSlot,
  UseArguments,
  UseOptions,
} from "./src/core/module/plugin.ts";
export type { RouteInfo } from "./src/core/route/route_table.ts";
export type { AnySchema, SchemaInput, SchemaOutput } from "./src/core/schema/validation.ts";

export type { AuthenticationOptions } from "./src/oauth2/authentication_options.ts";
export {
  bearer,
  cookie,
  type CookieSourceOptions,
  scheme,
  type TokenChallenges,
  type TokenSource,
} from "./src/oauth2/token_source.ts";

export type { DescribeOptions } from "./src/application/documentation.ts";
export type { OpenApiDocument } from "./src/openapi/openapi_document.ts";
export type { OpenApiOptions } from "./src/openapi/options.ts";

export { clientIp, type TrustedProxyOptions } from "./src/middleware/client_ip.ts";
export type { HealthCheckOptions, HealthIndicator } from "./src/middleware/health.ts";
export type { MetricsOptions, MetricsRegistry } from "./src/middleware/metrics.ts";
export type {
  GaugeValues,
  Meter,
  MetricLabels,
  MetricOptions,
} from "./src/platform/telemetry/meter.ts";
export type { PoolOwner, PoolUsage } from "./src/platform/pool_usage.ts";
export {
  type FlexibleLimiter,
  FlexibleRateLimitStore,
  RedisRateLimitStore,
  type RedisRateLimitStoreOptions,
  type RedisScriptClient,
} from "./src/middleware/rate_limit/flexible_rate_limit_store.ts";
export {
  MemoryRateLimitStore,
  type MemoryRateLimitStoreOptions,
} from "./src/middleware/rate_limit/memory_rate_limit_store.ts";
export { rateLimit } from "./src/middleware/rate_limit/rate_limit.ts";
export type {
  RateLimitOptions,
  UseRateLimitOptions,
} from "./src/middleware/rate_limit/rate_limit_options.ts";
export type { RateLimitHit, RateLimitStore } from "./src/middleware/rate_limit/rate_limit_store.ts";
export { requestId, type RequestIdOptions } from "./src/middleware/request_id.ts";
export type { RequestTracingOptions } from "./src/middleware/request_tracing_options.ts";

export { environment, EnvironmentError } from "./src/runtime/environment.ts";
export type { EnvironmentIssue, EnvironmentOptions } from "./src/runtime/environment.ts";
export type { TlsOptions, UnixAddress } from "./src/runtime/adapter.ts";
export type { DrainOptions, HttpServer } from "./src/runtime/http_server.ts";
export type { ListenOptions } from "./src/runtime/listen.ts";
export { ListenError, type ListenErrorCode } from "./src/runtime/listen_error.ts";
export { portFromEnv } from "./src/platform/env.ts";
export { upgradeWebSocket } from "./src/runtime/websocket/websocket.ts";
export type {
  MessageEvents,
  MessageSocket,
  SocketEvents,
  WebSocketMessages,
} from "./src/runtime/websocket/messages.ts";
export type { WebSocketOptions } from "./src/runtime/websocket/options.ts";
