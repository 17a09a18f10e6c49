/**
 * Requests that have no context yet.
 *
 * @module
 */
import type { ExecutionContext, Handler, Hono } from "hono";
import { HonoBase } from "hono/hono-base";
import { HonoRequest } from "hono/request";
import type { Result } from "hono/router";
import type { RouterRoute } from "hono/types";

/** What the router has found for a request. */
export type Matched = Result<[Handler, RouterRoute]>;

/** A request whose path matches one route, and no middleware. */
export interface Incoming {
  readonly request: Request;
  /** The bindings of the runtime. */
  readonly env: unknown;
  readonly executionContext: ExecutionContext | undefined;
  readonly matched: Matched;
}

/** Returns Hono's view of a request, which reads its parameters and its query. */
export function honoRequestOf({ request, matched }: Incoming): HonoRequest {
  return new HonoRequest(request, undefined, matched);
}

/** Answers a request by a handler, which gets the context of the request. */
export type WithContext = (incoming: Incoming, handler: Handler) => Response | Promise<Response>;

/** Creates what makes contexts: an application of Hono with the error handler of another one. */
export function contextMaker(router: Hono, onError: Parameters<Hono["onError"]>[0]): WithContext {
  let matched: Matched = [[]];
  const once = {
    name: "once",
    add() {},
    match: (): Matched => matched,
  };
  const hono = new HonoBase({ router: once, getPath: router.getPath });
  hono.onError(onError);
  return ({ request, env, executionContext, matched: found }, handler) => {
    const [[first], stash] = found as [Matched[0], string[]?];
    const [[, route], params] = first as Matched[0][0]; // there is one
    matched = [[[[handler, route], params]], stash] as Matched; // Hono reads it at once
    return hono.fetch(request, env as object, executionContext);
  };
}
