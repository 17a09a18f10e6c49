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
  /** Its path, as the router has matched it. */
  readonly path: string;
  readonly matched: Matched;
}

/** Returns Hono's view of a request, which reads its parameters and its query. */
export function honoRequestOf({ request, matched }: Incoming): HonoRequest {
  return new HonoRequest(request, undefined, matched);
}

/** Answers a request by a handler, which gets the context of the request. */
export type WithContext = (incoming: Incoming, handler: Handler) => Response | Promise<Response>;

/** Creates what makes contexts: an application of Hono whose router finds what is passed to it. */
export function contextMaker(
  onError: Parameters<Hono["onError"]>[0],
  onNotFound: Parameters<Hono["notFound"]>[0],
): WithContext {
  let path = "";
  let matched: Matched = [[]];
  const once = {
    name: "once",
    add() {},
    match: (): Matched => matched,
  };
  const hono = new HonoBase({ router: once, getPath: () => path });
  hono.onError(onError).notFound(onNotFound);
  return (incoming, handler) => {
    const [[first], stash] = incoming.matched as [Matched[0], string[]?];
    const [[, route], params] = first as Matched[0][0]; // there is one
    matched = [[[[handler, route], params]], stash] as Matched; // Hono reads both at once
    path = incoming.path;
    return hono.fetch(incoming.request, incoming.env as object, incoming.executionContext);
  };
}
