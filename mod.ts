/**
 * The framework: modules, controllers and injected providers; routes that declare their validation,
 * types and protection once; middleware, and serving on Deno, Bun and Node.
 *
 * @example
 * ```ts
 * import { FwFactory, inject, module, NotFoundException, route } from "@fw/fw";
 *
 * class CatsService {
 *   readonly #cats = new Map([["tom", { name: "Tom" }]]);
 *   one(id: string) {
 *     return this.#cats.get(id) ?? NotFoundException.throw("No such cat");
 *   }
 * }
 *
 * class CatsController {
 *   static readonly prefix = "cats";
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
export type {
  AuthenticationOptions,
  FwApplication,
  UseRateLimitOptions,
} from "./src/application.ts";
export type { RequestOptions } from "./src/request_options.ts";
export type { CloseOptions } from "./src/serving.ts";
export { FwFactory, type FwFactoryOptions } from "./src/factory.ts";

export type { BodyFormat, ReadBodyOptions } from "./src/core/body.ts";
export { inject } from "./src/core/container.ts";
export type { Context } from "./src/core/context.ts";
export type { ControllerClass } from "./src/core/controller.ts";
export type { Deprecation } from "./src/core/deprecation.ts";
export { dto } from "./src/core/dto.ts";
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
  TooManyRequestsException,
  UnauthorizedException,
  UnprocessableEntityException,
  UnsupportedMediaTypeException,
} from "./src/core/http_exception.ts";
export { HttpException } from "./src/core/http_exception.ts";
export type { HttpExceptionOptions, HttpMappedError } from "./src/core/http_exception.ts";
export type { InputPart, ValidationIssue } from "./src/core/validation_issue.ts";
export { optional, validatedBody, validatedPath, validatedQuery } from "./src/core/extractor.ts";
export type { Extractor } from "./src/core/extractor.ts";
export type {
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleDestroy,
  OnModuleInit,
} from "./src/core/lifecycle.ts";
export { type MatchedRoute, matchedRoute } from "./src/core/matched_route.ts";
export { type Module, module, type ModuleOptions } from "./src/core/module.ts";
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
} from "./src/core/pipeline.ts";
export type { Problem } from "./src/core/problem.ts";
export { provide } from "./src/core/provider.ts";
export type {
  AbstractClass,
  Class,
  FactoryProvider,
  InjectionKey,
  Provider,
  StandIn,
} from "./src/core/provider.ts";
export { type Route, route } from "./src/core/route.ts";
export type {
  RouteDeclaration,
  RouteMethod,
  RouteOptions,
  SuccessStatus,
} from "./src/core/route.ts";
export type { RouteOpenApi, RouteResponse } from "./src/core/route_openapi.ts";
export type {
  Declared,
  OptionalParamNames,
  ParamNames,
  PathParams,
  RouteInput,
  RouteOutput,
} from "./src/core/route_input.ts";
export type { RouteProtection } from "./src/core/route_protection.ts";
export type { RouteInfo } from "./src/core/route_table.ts";
export type { AnySchema, SchemaInput, SchemaOutput } from "./src/core/validation.ts";

export type { OpenApiDocument } from "./src/openapi/openapi_document.ts";
export type { OpenApiOptions } from "./src/openapi/options.ts";

export { clientIp } from "./src/middleware/client_ip.ts";
export type { HealthCheckOptions, HealthIndicator } from "./src/middleware/health.ts";
export type { MetricsOptions, MetricsRegistry } from "./src/middleware/metrics.ts";
export {
  type FlexibleLimiter,
  FlexibleRateLimitStore,
} from "./src/middleware/flexible_rate_limit_store.ts";
export {
  MemoryRateLimitStore,
  type MemoryRateLimitStoreOptions,
} from "./src/middleware/memory_rate_limit_store.ts";
export { rateLimit, type RateLimitOptions } from "./src/middleware/rate_limit.ts";
export type { RateLimitHit, RateLimitStore } from "./src/middleware/rate_limit_store.ts";
export {
  RedisRateLimitStore,
  type RedisRateLimitStoreOptions,
} from "./src/middleware/redis_rate_limit_store.ts";
export { requestId, type RequestIdOptions } from "./src/middleware/request_id.ts";
export type { RequestTracingOptions } from "./src/middleware/request_tracing.ts";
export type { TrustedProxyOptions } from "./src/middleware/trusted_proxy.ts";

export { environment, EnvironmentError } from "./src/runtime/environment.ts";
export type { EnvironmentIssue, EnvironmentOptions } from "./src/runtime/environment.ts";
export type { TlsOptions, UnixAddress } from "./src/runtime/adapter.ts";
export type { DrainOptions, HttpServer } from "./src/runtime/http_server.ts";
export type { ListenOptions } from "./src/runtime/listen.ts";
export { ListenError, type ListenErrorCode } from "./src/runtime/listen_error.ts";
export { portFromEnv } from "./src/runtime/port.ts";
export { upgradeWebSocket } from "./src/runtime/websocket.ts";
