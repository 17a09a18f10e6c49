/**
 * Answers a request by its route without a context: see {@linkcode answerDirectly}.
 *
 * @module
 */
import { callerTracker } from "../../../platform/caller.ts";
import { inTurn, orElse, whenReady } from "../../../platform/ready.ts";
import { headerOf } from "../../../platform/request_header.ts";
import { complete, decodeJson, MEDIA_TYPES } from "../../http/body.ts";
import { DEFAULT_BODY_LIMIT, hasNoLength } from "../../http/body_limit.ts";
import { hasLimitedReads, inTime } from "../../http/body_timeout.ts";
import { isResponse, sendable } from "../../http/sendable.ts";
import { queryOf } from "../extractor.ts";
import { type Input, inputSteps, type Readers, readingOf } from "../input_steps.ts";
import { applyFilters, type Pipeline } from "../pipeline.ts";
import { createSerializer, JSON_TYPE } from "../responder.ts";
import type { Route } from "../route.ts";
import type { RouteHandlerOptions } from "../route_handler.ts";
import { honoRequestOf, type Incoming, type WithContext } from "./incoming.ts";
import { takesInputOnly } from "./input_only.ts";

/** Answers a request, or returns `undefined` if it needs a context. */
export type DirectRoute = (incoming: Incoming) => Response | Promise<Response> | undefined;

/** Options of {@linkcode createDirectRoute}. */
export interface DirectRouteOptions extends RouteHandlerOptions {
  /** Makes the context for filters and for the response to an error. */
  readonly withContext: WithContext;
  /** Whether the application has filters of all routes. */
  readonly hasGlobalFilters: boolean;
}

const SAFE: readonly string[] = ["GET"];
const METHODS: readonly string[] = [...SAFE, "POST", "PUT", "PATCH", "DELETE"];

/**
 * Creates the direct answer of a route; `undefined` if the route needs the context of each request:
 * for guards, interceptors, extractors or its handler.
 */
export function createDirectRoute(
  route: Route,
  { guards, interceptors, filters }: Pipeline,
  { path, bodyLimit, withContext, hasGlobalFilters }: DirectRouteOptions,
): DirectRoute | undefined {
  const { method, options, handler } = route;
  const { args = {}, body, consumes = ["json"], status } = options;
  const isSafe = SAFE.includes(method);
  const needsContext = guards.length + interceptors.length + Object.keys(args).length > 0 ||
    !takesInputOnly(handler) || !METHODS.includes(method) ||
    // a filter can read the body, which the context limits and keeps
    !isSafe && (filters.length > 0 || hasGlobalFilters) ||
    body !== undefined && !consumes.includes("json");
  if (needsContext) return undefined;

  const call = handler as (input: Input) => unknown; // it takes no context
  const maxBytes = options.bodyLimit ?? bodyLimit;
  const steps = inputSteps(route, { path, readers: readers(maxBytes) });
  const serialize = createSerializer(options);
  const json = { headers: JSON_TYPE, ...status && { status } };

  function respond(output: unknown, request: Request): Response | Promise<Response> {
    if (isResponse(output)) return sendable(output, request);
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
      if (!hasNoLength(incoming.request, incoming.env)) return undefined;
      return callerTracker()?.(callerOf(incoming), () => answer(incoming)) ?? answer(incoming);
    };
  }
  const isPlain = body ? hasPlainJson : hasShortBody;
  const limit = Math.min(maxBytes, DEFAULT_BODY_LIMIT);
  return (incoming) => isPlain(incoming, limit) ? answer(incoming) : undefined;
}

/** How the input is read from a request without a context. */
function readers(maxBytes: number): Readers<Incoming> {
  return {
    params: (incoming) => honoRequestOf(incoming).param(),
    query: (incoming) => queryOf({ req: honoRequestOf(incoming) }),
    headers: (incoming) => honoRequestOf(incoming).header(),
    body(incoming) {
      const { request } = incoming;
      const bytes = Number(headerOf(request, "content-length"));
      const reading = complete(inTime(request.arrayBuffer(), { bytes }));
      return reading.then((whole) => decodeJson(whole, maxBytes));
    },
    isForm: () => false,
  };
}

function callerOf({ request }: Incoming) {
  return { req: { raw: request }, finalized: false };
}

/** Checks whether a request has a JSON body of a known length that nothing has read or limited. */
function hasPlainJson({ request }: Incoming, maxBytes: number): boolean {
  return headerOf(request, "content-type") === MEDIA_TYPES.json &&
    Number(headerOf(request, "content-length") ?? NaN) <= maxBytes &&
    headerOf(request, "content-encoding") === null &&
    headerOf(request, "transfer-encoding") === null &&
    !request.bodyUsed && !hasLimitedReads(request);
}

function hasShortBody({ request }: Incoming, maxBytes: number): boolean {
  return Number(headerOf(request, "content-length") ?? 0) <= maxBytes;
}
