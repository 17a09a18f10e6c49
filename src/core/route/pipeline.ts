/**
 * The pipeline of a route: guards accept or refuse a request, interceptors wrap the handler,
 * exception filters handle errors.
 *
 * @module
 */
import type { Context } from "../http/context.ts";
import { checkedResponse, sendable } from "../http/sendable.ts";
import { asError } from "../http/http_exception.ts";
import type { Class } from "../../platform/class.ts";

/**
 * The result of a guard: only `true` accepts a request; anything else refuses it with 403, or with
 * 401 if the route needs an identity and the caller has none. For another response, the guard
 * throws.
 */
export type GuardResult = boolean | Promise<boolean>;

/** A guard as a function: accepts or refuses a request. */
export type CanActivateFn = (c: Context) => GuardResult;

/** A guard as a class, which the container creates, so that it can inject. */
export interface CanActivate {
  /** Returns `true` to accept the request, and `false` to refuse it; or throws. */
  canActivate(c: Context): GuardResult;
}

/** Calls the rest of the chain, and returns the result of the handler. */
export type NextHandler = () => Promise<unknown>;

/**
 * An interceptor as a function. It wraps validation and the handler: it can run code before and
 * after, map the result of the handler, or answer without calling it.
 */
export type InterceptorFn = (c: Context, next: NextHandler) => unknown;

/** An interceptor as a class, which the container creates, so that it can inject. */
export interface Interceptor {
  /** Wraps the handler, and returns a result in place of that of the handler. */
  intercept(c: Context, next: NextHandler): unknown;
}

/** The result of a filter: a response, or `undefined` to pass the error to the next filter. */
export type FilterResult = Response | void | undefined | Promise<Response | void | undefined>;

/**
 * An exception filter as a function: it returns a response for the errors that it handles. What it
 * throws is passed to the next filter. An error that no filter handles becomes a problem document.
 */
export type ExceptionFilterFn = (error: unknown, c: Context) => FilterResult;

/** An exception filter as a class, which the container creates, so that it can inject. */
export interface ExceptionFilter {
  /** Returns a response for an error, or `undefined`. */
  catch(error: unknown, c: Context): FilterResult;
}

/** Guards, interceptors and filters as functions. */
export interface Pipeline {
  readonly guards: readonly CanActivateFn[];
  readonly interceptors: readonly InterceptorFn[];
  readonly filters: readonly ExceptionFilterFn[];
}

/**
 * Guards, interceptors and filters, as a route or a controller declares them: functions, and
 * classes that the container creates.
 */
export interface PipelineDeclaration {
  /**
   * Guards: the global ones run first, then the controller's, then the route's; then an identity,
   * a role and scopes are required.
   */
  readonly guards?: readonly (CanActivateFn | Class<CanActivate>)[];
  /** Interceptors: the global ones are outermost, then the controller's, then the route's. */
  readonly interceptors?: readonly (InterceptorFn | Class<Interceptor>)[] | undefined;
  /**
   * Exception filters: the route's see an error first, then the controller's, then the global ones.
   */
  readonly filters?: readonly (ExceptionFilterFn | Class<ExceptionFilter>)[] | undefined;
}

/** Builds an instance of a class, with its injected providers. */
export type CreateInstance = <T>(key: Class<T>) => Promise<T>;

const NONE: Pipeline = { guards: [], interceptors: [], filters: [] };

/** Resolves declared guards, interceptors and filters to functions; `create` builds the classes. */
export async function resolvePipeline(
  { guards, interceptors, filters }: PipelineDeclaration,
  create: CreateInstance,
): Promise<Pipeline> {
  if (!guards && !interceptors && !filters) return NONE;
  return {
    guards: await resolveAll(guards, "canActivate", create),
    interceptors: await resolveAll(interceptors, "intercept", create),
    filters: await resolveAll(filters, "catch", create),
  };
}

/** Calls the filters in order; returns the first response, or throws the remaining error. */
export async function applyFilters(
  filters: Pipeline["filters"],
  thrown: unknown,
  c: Context,
): Promise<Response> {
  let error = thrown;
  for (const filter of filters) {
    try {
      const response = await filter(error, c);
      if (response) return sendable(checkedResponse(response, "a filter"), c.req);
    } catch (next) {
      error = next;
    }
  }
  throw asError(error);
}

async function resolveAll<F extends (...args: never[]) => unknown, Method extends string>(
  declared: readonly (F | Class<Record<Method, F>>)[] = [],
  method: Method,
  create: CreateInstance,
): Promise<F[]> {
  const resolved: F[] = [];
  for (const entry of declared) {
    if (typeof entry !== "function") {
      throw new TypeError(
        `Cannot use ${typeof entry}: it is neither a function nor a class with ${method}()`,
      );
    }
    if (!isClass(entry)) {
      resolved.push(entry as F); // it is not a class
      continue;
    }
    const instance = await create(entry as Class<Record<Method, F>>);
    if (typeof instance[method] !== "function") {
      throw new TypeError(`Cannot use ${entry.name}: it has no ${method}()`);
    }
    resolved.push(instance[method].bind(instance) as F);
  }
  return resolved;
}

/** Checks whether a function is a class: the `prototype` of a class is not writable. */
function isClass(value: { readonly name: string }): boolean {
  return Object.getOwnPropertyDescriptor(value, "prototype")?.writable === false;
}
