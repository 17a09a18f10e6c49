/**
 * The Hono handler of a route: it runs guards, validates, calls the route's handler and checks the
 * result. Whatever boot can decide is decided here, once.
 *
 * @module
 */
import { callerTracker } from "../../platform/caller.ts";
import { inTurn, orElse, whenReady } from "../../platform/ready.ts";
import { isForm, readBody } from "../http/body.ts";
import { bodyLimit, bodyLimitError, limitBody, limitOtherReads } from "../http/body_limit.ts";
import type { Context } from "../http/context.ts";
import { requireIdentity } from "./caller.ts";
import { queryOf } from "./extractor.ts";
import { ForbiddenException } from "../http/http_exception.ts";
import { inputSteps, partStep, type Readers, readingOf, runSteps } from "./input_steps.ts";
import { dropBody, isResponse } from "../http/sendable.ts";
import { applyFilters, type InterceptorFn, type Pipeline } from "./pipeline.ts";
import type { ConditionalRoute } from "./conditional_request.ts";
import { createResponder } from "./responder.ts";
import type { Route } from "./route.ts";
import { answeredQuery, effectsOf } from "../schema/response_effects.ts";

/** How the input is read from a context. */
const READERS: Readers<Context> = {
  params: (c) => c.req.param(),
  query: queryOf,
  headers: (c) => c.req.header(),
  body: (c, consumes) => readBody(c, { consumes }),
  isForm,
};

/** The path of a route, and defaults of the application. */
export interface RouteHandlerOptions {
  /** The full path pattern: prefixes can have parameters too. */
  readonly path: string;
  /** The largest body in bytes. */
  readonly bodyLimit: number;
  /**
   * Whether no middleware sees its responses, so that nothing changes their headers, and none of
   * them is to HEAD.
   */
  readonly isFinal?: boolean;
  /** What it does with `etag`. */
  readonly conditional?: ConditionalRoute | undefined;
  /** What answers its requests with `idempotent`. */
  readonly once?: AnswerOnce | undefined;
}

/** Answers a request that matches a route. */
export type Handle = (c: Context) => Response | Promise<Response>;

/**
 * Answers a request as an earlier one with the same key, or else by what is after the guards of its
 * route.
 */
export type AnswerOnce = (c: Context, answer: Handle) => Promise<Response>;

/** Creates the Hono handler of a route. */
export function createRouteHandler(
  route: Route,
  pipeline: Pipeline,
  { path, bodyLimit: limit, isFinal = false, conditional, once }: RouteHandlerOptions,
): Handle {
  const { guards, interceptors, filters } = pipeline;
  const { bodyLimit: ownLimit } = route.options;
  const isReadFirst = route.options.body !== undefined && guards.length === 0 &&
    interceptors.length === 0;
  const isSafe = route.method === "GET" || route.method === "HEAD";
  const { handler } = conditional ?? route;
  const respond = createResponder(route.options, { isFinal, isKnown: conditional?.isKnown });
  const { setHeaders } = effectsOf(route.options.response);
  const steps = [
    ...inputSteps(route, { path, readers: READERS }),
    ...Object.entries(route.options.args ?? {}).map(([key, read]) => partStep({ key, read })),
  ];

  function call(c: Context): unknown {
    const reading = readingOf(c);
    return whenReady(
      runSteps(steps, reading),
      () => {
        if (setHeaders) answeredQuery.set(c, reading.input.query);
        return handler(reading.input, c);
      },
    );
  }

  const wrapped = interceptors.reduceRight<(c: Context) => unknown>(
    (next, intercept) => (c) => around(intercept, next, c),
    call,
  );
  const answer: Handle = (c) => whenReady(wrapped(c), (result) => respond(result, c));
  const answered: Handle = once ? (c) => once(c, answer) : answer;

  function handle(c: Context): Response | Promise<Response> {
    return orElse(
      () => {
        limitBody(c, ownLimit ?? bodyLimit.get(c) ?? limit, { isReadFirst });
        const admitted = inTurn(guards, (guard) =>
          whenReady(guard(c), (isAdmitted: boolean) => {
            if (isAdmitted === true) return;
            if (guards.includes(requireIdentity)) requireIdentity(c);
            throw new ForbiddenException();
          }));
        return whenReady(admitted, () => answered(c));
      },
      (error) => {
        if (isReadFirst) limitOtherReads(c); // filters may read the body
        return applyFilters(filters, bodyLimitError(c) ?? error, c);
      },
    );
  }
  return isSafe ? abandonable(handle) : handle;
}

/** Calls an interceptor; a response that it has got is not sent if it fails, or returns data. */
async function around(
  intercept: InterceptorFn,
  next: (c: Context) => unknown,
  c: Context,
): Promise<unknown> {
  let response: Response | undefined;
  let hasFailed = false;
  function rest(): Promise<unknown> {
    const output = call();
    output.catch(() => {}); // an interceptor may await something else first, or fail itself
    return output;
  }
  async function call(): Promise<unknown> {
    const output = await next(c);
    if (isResponse(output)) {
      response = output;
      if (hasFailed) dropBody(output);
    }
    return output;
  }
  try {
    const result = await intercept(c, rest);
    // in another response, its body may be sent
    if (response && !isResponse(result)) dropBody(response);
    return result;
  } catch (error) {
    hasFailed = true;
    if (response) dropBody(response);
    throw error;
  }
}

/** Returns a handler of a safe method (RFC 9110 §9.2.1), whose work can be given up. */
function abandonable(handle: Handle): Handle {
  return (c) => {
    const track = callerTracker();
    return track ? track(c, () => handle(c)) : handle(c);
  };
}
