/**
 * What stands around a handler: guards let a request in, interceptors wrap the handler, exception
 * filters see what was thrown.
 *
 * @module
 */
import type { Context } from "../http/context.ts";
import { asError } from "../http/http_exception.ts";
import type { Class } from "../../platform/class.ts";

/** What a guard answers: `false` refuses with 403; to refuse otherwise, it throws. */
export type GuardResult = void | boolean | Promise<void | boolean>;

/** A guard as a function: lets a request in or refuses it. */
export type CanActivateFn = (c: Context) => GuardResult;

/** A guard as a class, created by the container, so that it can inject. */
export interface CanActivate {
  /** Lets the request in, unless it returns `false` (403) or throws. */
  canActivate(c: Context): GuardResult;
}

/** Calls the rest of the chain: what it gives is what the handler returned. */
export type NextHandler = () => Promise<unknown>;

/**
 * An interceptor as a function: it wraps validation and handler, so that it can run code before and
 * after, map what the handler returned, or answer without calling it.
 */
export type InterceptorFn = (c: Context, next: NextHandler) => unknown;

/** An interceptor as a class, created by the container, so that it can inject. */
export interface Interceptor {
  /** Wraps the handler; what it returns takes the place of what the handler returned. */
  intercept(c: Context, next: NextHandler): unknown;
}

/** What a filter answers: a response, or nothing to leave the error to the next filter. */
export type FilterResult = Response | void | undefined | Promise<Response | void | undefined>;

/**
 * An exception filter as a function: it answers for errors of its choice. What it throws goes on to
 * the next filter; what all of them leave becomes a problem document.
 */
export type ExceptionFilterFn = (error: unknown, c: Context) => FilterResult;

/** An exception filter as a class, created by the container, so that it can inject. */
export interface ExceptionFilter {
  /** Answers for an error, or leaves it. */
  catch(error: unknown, c: Context): FilterResult;
}

/** Guards, interceptors and filters as plain functions, ready to be called. */
export interface Pipeline {
  readonly guards: readonly CanActivateFn[];
  readonly interceptors: readonly InterceptorFn[];
  readonly filters: readonly ExceptionFilterFn[];
}

/**
 * What stands around routes, as a route or a controller declares it: functions, and classes for the
 * container to create.
 */
export interface PipelineDeclaration {
  /** Guards: the global ones run first, then the controller's, then the route's. */
  readonly guards?: readonly (CanActivateFn | Class<CanActivate>)[] | undefined;
  /** Interceptors: the global ones are outermost, then the controller's, then the route's. */
  readonly interceptors?: readonly (InterceptorFn | Class<Interceptor>)[] | undefined;
  /** Exception filters: the route's see an error first, then the controller's, then the global ones. */
  readonly filters?: readonly (ExceptionFilterFn | Class<ExceptionFilter>)[] | undefined;
}

/** Builds an instance of a class, with its injected providers. */
export type CreateInstance = <T>(key: Class<T>) => Promise<T>;

/** Makes plain functions of what was declared; `create` builds the classes among them. */
export async function resolvePipeline(
  { guards, interceptors, filters }: PipelineDeclaration,
  create: CreateInstance,
): Promise<Pipeline> {
  return {
    guards: await resolveAll(guards, "canActivate", create),
    interceptors: await resolveAll(interceptors, "intercept", create),
    filters: await resolveAll(filters, "catch", create),
  };
}

/** Asks the filters in order; gives the first response, or throws what is left as an `Error`. */
export async function applyFilters(
  filters: Pipeline["filters"],
  thrown: unknown,
  c: Context,
): Promise<Response> {
  let error = thrown;
  for (const filter of filters) {
    try {
      const response = await filter(error, c);
      if (response) return response;
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
        `Cannot use ${typeof entry}: it is no function and no class with ${method}()`,
      );
    }
    if (!isClass(entry)) {
      resolved.push(entry as F); // what is no class is a function
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

/** Tells a class from a function: the `prototype` of a class cannot be replaced. */
function isClass(value: { readonly name: string }): boolean {
  return Object.getOwnPropertyDescriptor(value, "prototype")?.writable === false;
}
