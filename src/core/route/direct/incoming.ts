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
import { headerOf } from "../../../platform/request_header.ts";

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

/** The part of the bindings of `@hono/node-server` that is used here. */
interface NodeBindings {
  readonly incoming?: { readonly headers?: Readonly<Record<string, string | undefined>> };
}

/** Returns a header of a request, or `undefined`; the name is in lower case. */
export function headerIn({ request, env }: Incoming, name: string): string | undefined {
  const headers = (env as NodeBindings | undefined)?.incoming?.headers;
  return headers ? headers[name] : headerOf(request, name) ?? undefined;
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
