/**
 * Controllers: plain classes whose fields are routes.
 *
 * @module
 */
import type {
  CanActivate,
  CanActivateFn,
  ExceptionFilter,
  ExceptionFilterFn,
  Interceptor,
  InterceptorFn,
} from "./pipeline.ts";
import type { Class } from "./provider.ts";
import { Route } from "./route.ts";

/**
 * A controller: a class whose fields are routes. Its static fields place and protect them all.
 *
 * @example
 * ```ts
 * import { route } from "@fw/fw";
 *
 * export class CatsController {
 *   static readonly prefix = "cats";
 *   static readonly version = "v1";
 *
 *   list = route.get("/", () => ["Tom"]);
 * }
 * ```
 */
export interface ControllerClass extends Class<object> {
  /** The path before its routes' own, without the global prefix and version; default none. */
  readonly prefix?: string;
  /** A path segment between the global prefix and `prefix`, such as `v1`; default none. */
  readonly version?: string;
  /** The OpenAPI tag of its operations. */
  readonly tag?: string;
  /** Guards of all its routes, after the global ones. */
  readonly guards?: readonly (CanActivateFn | Class<CanActivate>)[];
  /** Interceptors of all its routes, inside the global ones. */
  readonly interceptors?: readonly (InterceptorFn | Class<Interceptor>)[];
  /** Exception filters of all its routes, after the route's own. */
  readonly filters?: readonly (ExceptionFilterFn | Class<ExceptionFilter>)[];
}

/** Lists the routes of a controller in the order of its fields, with the fields' names. */
export function routesOf(controller: object): readonly (readonly [name: string, route: Route])[] {
  return Object.entries(controller).filter((entry): entry is [string, Route] =>
    entry[1] instanceof Route
  );
}
