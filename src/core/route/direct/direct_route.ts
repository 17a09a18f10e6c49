/**
 * Answers a request by its route, without Hono's dispatch: see {@linkcode answerDirectly}.
 *
 * @module
 */
import { callerTracker } from "../../../platform/caller.ts";
import { isPromiseLike, orElse } from "../../../platform/ready.ts";
import { readBytes } from "../../../platform/request_body.ts";
import { headerOf } from "../../../platform/request_header.ts";
import { decodeJson, MEDIA_TYPES } from "../../http/body.ts";
import { DEFAULT_BODY_LIMIT, hasNoLength } from "../../http/body_limit.ts";
import { hasLimitedReads, inTime } from "../../http/body_timeout.ts";
import type { Context } from "../../http/context.ts";
import { isResponse, sendable } from "../../http/sendable.ts";
import { queryOf } from "../extractor.ts";
import { type Input, inputSteps, type Readers, readingOf, runSteps } from "../input_steps.ts";
import { applyFilters, type Pipeline } from "../pipeline.ts";
import { effectsOf } from "../../schema/response_effects.ts";
import { createResponder, createSerializer, jsonInit } from "../responder.ts";
import type { Route } from "../route.ts";
import { createRouteHandler, type RouteHandlerOptions } from "../route_handler.ts";
import { type ContextOf, honoRequestOf, type Incoming } from "./incoming.ts";
import { takesInputOnly } from "./input_only.ts";

/** Answers a request. */
export type DirectRoute = (incoming: Incoming) => Response | Promise<Response>;

/** Options of {@linkcode createDirectRoute}. */
export interface DirectRouteOptions extends Omit<RouteHandlerOptions, "isFinal"> {
  /** Makes the context of a request. */
  readonly contextOf: ContextOf;
  /** Answers what a route and its filters throw. */
  readonly answerError: (error: unknown, c: Context) => Promise<Response>;
  /** Whether the application has filters of all routes. */
  readonly hasGlobalFilters: boolean;
}

/**
 * Creates the direct answer of a route. The request is read, validated and answered without a
 * context, which is created only for an error, or for the handler of a `GET` that takes it. If the
 * route has guards, interceptors or extractors, or the request an unusual body, the general handler
 * of the route answers.
 */
export function createDirectRoute(
  route: Route,
  pipeline: Pipeline,
  routeOptions: DirectRouteOptions,
): DirectRoute {
  const { guards, interceptors, filters } = pipeline;
  const { path, bodyLimit, conditional, once, contextOf, answerError, hasGlobalFilters } =
    routeOptions;
  const { method, options, handler } = route;
  const { args = {}, body, consumes = ["json"], status } = options;
  const handle = createRouteHandler(route, pipeline, {
    path,
    bodyLimit,
    conditional,
    once,
    isFinal: true,
  });
  const answerGenerally: DirectRoute = (incoming) => {
    const c = contextOf(incoming);
    return orElse(() => handle(c), (error) => answerError(error, c));
  };
  const isSafe = method === "GET";
  const takesContext = !takesInputOnly(handler);
  const isGeneral = guards.length + interceptors.length + Object.keys(args).length > 0 ||
    method === "ALL" || (conditional ?? once) !== undefined ||
    effectsOf(options.response).setHeaders !== undefined ||
    // a filter or the handler can read the body, which the context limits and keeps
    !isSafe && (takesContext || filters.length > 0 || hasGlobalFilters) ||
    body !== undefined && !consumes.includes("json");
  if (isGeneral) return answerGenerally;

  const maxBytes = options.bodyLimit ?? bodyLimit;
  const steps = inputSteps(route, { path, readers: readers(maxBytes) });
  const respondInContext = createResponder(options, { isFinal: true });
  const serialize = createSerializer(options);
  const json = jsonInit(status);
  const sent = { method, isFinal: true };

  // Each step goes on at once where nothing waits: on Bun, a closure for each takes a fifth of the
  // time of a small request.
  function answer(incoming: Incoming, c?: Context): Response | Promise<Response> {
    try {
      const reading = readingOf(incoming);
      const read = runSteps(steps, reading);
      const answered = read ? read.then(() => call(reading.input, c)) : call(reading.input, c);
      return answered instanceof Promise
        ? answered.catch((error) => fail(error, c ?? contextOf(incoming)))
        : answered;
    } catch (error) {
      return fail(error, c ?? contextOf(incoming));
    }
  }

  function call(input: Input, c: Context | undefined): Response | Promise<Response> {
    const output: unknown = handler(input, c as Context); // one that takes only its input ignores it
    return isPromiseLike(output)
      ? Promise.resolve(output).then((output) => respond(output, c))
      : respond(output, c);
  }

  function respond(output: unknown, c: Context | undefined): Response | Promise<Response> {
    if (isResponse(output)) return sendable(output, sent);
    if (c) return respondInContext(output, c);
    const text = serialize(output);
    return text instanceof Promise ? text.then(respondText) : respondText(text);
  }

  function respondText(text: string | null): Response {
    return new Response(text, text === null ? { status: status ?? 200 } : json);
  }

  function fail(error: unknown, c: Context): Promise<Response> {
    return applyFilters(filters, error, c).catch((error) => answerError(error, c));
  }

  if (isSafe) {
    return (incoming) => {
      if (!hasNoLength(incoming.request, incoming.env)) return answerGenerally(incoming);
      const c = takesContext ? contextOf(incoming) : undefined;
      const track = callerTracker();
      if (!track) return answer(incoming, c);
      const caller = c ?? { req: { raw: incoming.request }, finalized: false };
      return track(caller, () => answer(incoming, c));
    };
  }
  const limit = Math.min(maxBytes, DEFAULT_BODY_LIMIT);
  const isPlain = body ? hasPlainJson : ({ request }: Incoming) => lengthOf(request, 0) <= limit;
  return (incoming) => isPlain(incoming, limit) ? answer(incoming) : answerGenerally(incoming);
}

/** How the input is read from a request without a context. */
function readers(maxBytes: number): Readers<Incoming> {
  return {
    params: (incoming) => honoRequestOf(incoming).param(),
    query: (incoming) => queryOf({ req: honoRequestOf(incoming) }),
    headers: (incoming) => honoRequestOf(incoming).header(),
    body({ request }) {
      const whole = readBytes(request);
      if (!(whole instanceof Promise)) return decodeJson(whole, maxBytes);
      return inTime(whole, { bytes: lengthOf(request, 0) })
        .then((whole) => decodeJson(whole, maxBytes));
    },
    isForm: () => false,
  };
}

/** Checks whether a request has a JSON body of a known length that nothing has read or limited. */
function hasPlainJson({ request }: Incoming, maxBytes: number): boolean {
  return headerOf(request, "content-type") === MEDIA_TYPES.json &&
    lengthOf(request, NaN) <= maxBytes &&
    headerOf(request, "content-encoding") === null &&
    headerOf(request, "transfer-encoding") === null &&
    !request.bodyUsed && !hasLimitedReads(request);
}

function lengthOf(request: Request, missing: number): number {
  return Number(headerOf(request, "content-length") ?? missing);
}
