/**
 * Requests that have no context yet.
 *
 * @module
 */
import type { Context as HonoContext, ExecutionContext, Handler, NotFoundHandler } from "hono";
import { HonoBase } from "hono/hono-base";
import { HonoRequest } from "hono/request";
import type { Result } from "hono/router";
import { TrieRouter } from "hono/router/trie-router";
import type { RouterRoute } from "hono/types";
import type { Context } from "../../http/context.ts";

/** What the router has found for a request. */
export type Matched = Result<[Handler, RouterRoute]>;

/** A request whose path matches one route, and no middleware. */
export interface Incoming {
  readonly request: Request;
  /** The bindings of the runtime. */
  readonly env: unknown;
  readonly executionContext: ExecutionContext | undefined;
  /** Its path, as the router has matched it. */
  readonly path: string;
  readonly matched: Matched;
}

/** Returns Hono's view of a request, which reads its parameters and its query. */
export function honoRequestOf({ request, matched }: Incoming): HonoRequest {
  return new HonoRequest(request, undefined, matched);
}

/** Creates the context of a request. */
export type ContextOf = (incoming: Incoming) => Context;

/** Creates what makes contexts, whose `notFound()` answers by `onNotFound`. */
export function contextMaker(onNotFound: NotFoundHandler): ContextOf {
  const Context = contextClass();
  return ({ request, env, executionContext, path, matched }) =>
    new Context(request, {
      env: env as object, // undefined without bindings, as Hono passes it
      executionCtx: executionContext,
      notFoundHandler: onNotFound,
      path,
      matchResult: matched,
    });
}

/** Returns the class of contexts, which Hono exports only together with all of its routers. */
function contextClass(): typeof HonoContext {
  let found: unknown;
  const hono = new HonoBase({ router: new TrieRouter() });
  void hono.notFound((c) => {
    found = c.constructor;
    return c.body(null);
  }).request("/");
  return found as typeof HonoContext; // of the application just created
}
