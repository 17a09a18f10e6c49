/**
 * Answers a request by its route, without Hono's dispatch: see {@linkcode answerDirectly}.
 *
 * @module
 */
import { callerTracker } from "../../../platform/caller.ts";
import { inTurn, orElse, whenReady } from "../../../platform/ready.ts";
import { headerOf } from "../../../platform/request_header.ts";
import { decodeJson, MEDIA_TYPES } from "../../http/body.ts";
import { DEFAULT_BODY_LIMIT, hasNoLength } from "../../http/body_limit.ts";
import { hasLimitedReads, inTime } from "../../http/body_timeout.ts";
import { isResponse, sendable } from "../../http/sendable.ts";
import { queryOf } from "../extractor.ts";
import { type Input, inputSteps, type Readers, readingOf } from "../input_steps.ts";
import { applyFilters, type Pipeline } from "../pipeline.ts";
import { createSerializer, jsonInit } from "../responder.ts";
import type { Route } from "../route.ts";
import { createRouteHandler, type RouteHandlerOptions } from "../route_handler.ts";
import { honoRequestOf, type Incoming, type WithContext } from "./incoming.ts";
import { takesInputOnly } from "./input_only.ts";

/** Answers a request. */
export type DirectRoute = (incoming: Incoming) => Response | Promise<Response>;

/** Options of {@linkcode createDirectRoute}. */
export interface DirectRouteOptions extends Omit<RouteHandlerOptions, "isFinal"> {
  /** Makes the context of a request. */
  readonly withContext: WithContext;
  /** Whether the application has filters of all routes. */
  readonly hasGlobalFilters: boolean;
}

/**
 * Creates the direct answer of a route. The request is read, validated and answered without a
 * context, which is created only for an error, unless guards, interceptors, extractors or the
 * handler of the route need it, or the request has an unusual body.
 */
export function createDirectRoute(
  route: Route,
  pipeline: Pipeline,
  routeOptions: DirectRouteOptions,
): DirectRoute {
  const { guards, interceptors, filters } = pipeline;
  const { path, bodyLimit, conditional, withContext, hasGlobalFilters } = routeOptions;
  const { method, options, handler } = route;
  const { args = {}, body, consumes = ["json"], status } = options;
  const handle = createRouteHandler(route, pipeline, {
    path,
    bodyLimit,
    conditional,
    isFinal: true,
  });
  const answerGenerally: DirectRoute = (incoming) => withContext(incoming, handle);
  const isSafe = method === "GET";
  const needsContext = guards.length + interceptors.length + Object.keys(args).length > 0 ||
    !takesInputOnly(handler) || method === "ALL" || conditional !== undefined ||
    // a filter can read the body, which the context limits and keeps
    !isSafe && (filters.length > 0 || hasGlobalFilters) ||
    body !== undefined && !consumes.includes("json");
  if (needsContext) return answerGenerally;

  const call = handler as (input: Input) => unknown; // it takes no context
  const maxBytes = options.bodyLimit ?? bodyLimit;
  const steps = inputSteps(route, { path, readers: readers(maxBytes) });
  const serialize = createSerializer(options);
  const json = jsonInit(status);

  function respond(output: unknown, request: Request): Response | Promise<Response> {
    if (isResponse(output)) return sendable(output, { method: request.method, isFinal: true });
    return whenReady(
      serialize(output),
      (text) => new Response(text, text === null ? { status: status ?? 200 } : json),
    );
  }

  function answer(incoming: Incoming): Response | Promise<Response> {
    const reading = readingOf(incoming);
    return orElse(
      () => {
        const read = inTurn(steps, (step) => step(reading));
        const output = whenReady(read, () => call(reading.input));
        return whenReady(output, (result) => respond(result, incoming.request));
      },
      (error) => withContext(incoming, (c) => applyFilters(filters, error, c)),
    );
  }

  if (isSafe) {
    return (incoming) => {
      if (!hasNoLength(incoming.request, incoming.env)) return answerGenerally(incoming);
      const track = callerTracker();
      if (!track) return answer(incoming);
      return track({ req: { raw: incoming.request }, finalized: false }, () => answer(incoming));
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
    body(incoming) {
      const { request } = incoming;
      const bytes = lengthOf(request, 0);
      const reading = inTime(request.arrayBuffer(), { bytes });
      return reading.then((whole) => decodeJson(whole, maxBytes));
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
