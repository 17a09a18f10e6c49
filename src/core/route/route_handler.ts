/**
 * The Hono handler of a route: it runs guards, validates, calls the route's handler and checks the
 * result. Whatever boot can decide is decided here, once.
 *
 * @module
 */
import type { Handler } from "hono";
import { callerTracker } from "../../platform/caller.ts";
import { inTurn, whenReady } from "../../platform/ready.ts";
import { isForm, readBody } from "../http/body.ts";
import { bodyLimit, bodyLimitError, limitBody, limitOtherReads } from "../http/body_limit.ts";
import type { Context } from "../http/context.ts";
import { queryOf } from "./extractor.ts";
import { ForbiddenException } from "../http/http_exception.ts";
import type { InputPart } from "../http/validation_issue.ts";
import { dropBody, isResponse } from "../http/sendable.ts";
import { applyFilters, type InterceptorFn, type Pipeline } from "./pipeline.ts";
import { createResponder } from "./responder.ts";
import type { Route } from "./route.ts";
import { type AnySchema, type InputRefusal, InputSchema, refuse } from "../schema/validation.ts";

type Input = Record<string, unknown>;

/** The input of a path without parameters. */
const NO_PARAMS = Object.freeze({});

/** One part of the input: its source and its schema. */
interface Part {
  readonly key: string;
  readonly read: (c: Context) => unknown;
  readonly schema: InputSchema<AnySchema> | undefined;
  readonly mayBeForm: boolean;
}

/** The input of a request while it is read. */
interface Reading {
  readonly c: Context;
  readonly input: Input;
  readonly refusals: InputRefusal[];
}

/** Reads one part of the input, or checks what was read. */
type Step = (reading: Reading) => void | Promise<void>;

/** The path of a route, and defaults of the application. */
export interface RouteHandlerOptions {
  /** The full path pattern: prefixes can have parameters too. */
  readonly path: string;
  /** The largest body in bytes. */
  readonly bodyLimit: number;
}

/** Creates the Hono handler of a route. */
export function createRouteHandler(
  route: Route,
  pipeline: Pipeline,
  { path, bodyLimit: limit }: RouteHandlerOptions,
): Handler {
  const { guards, interceptors, filters } = pipeline;
  const { bodyLimit: ownLimit } = route.options;
  const isReadFirst = route.options.body !== undefined && guards.length === 0 &&
    interceptors.length === 0;
  const isSafe = route.method === "GET" || route.method === "HEAD";
  const respond = createResponder(route.options);
  const steps: readonly Step[] = [
    ...partSteps(route, path),
    ...Object.entries(route.options.args ?? {})
      .map(([key, read]) => partStep({ key, read, schema: undefined, mayBeForm: false })),
  ];

  function call(c: Context): unknown {
    const reading: Reading = { c, input: { params: NO_PARAMS }, refusals: [] };
    return whenReady(
      inTurn(steps, (step) => step(reading)),
      () => route.handler(reading.input, c),
    );
  }

  const wrapped = interceptors.reduceRight<(c: Context) => unknown>(
    (next, intercept) => (c) => around(intercept, next, c),
    call,
  );

  function handle(c: Context): Response | Promise<Response> {
    const answerError = (error: unknown) => {
      if (isReadFirst) limitOtherReads(c); // filters may read the body
      return applyFilters(filters, bodyLimitError(c) ?? error, c);
    };
    try {
      limitBody(c, ownLimit ?? bodyLimit.get(c) ?? limit, { isReadFirst });
      const admitted = inTurn(guards, (guard) => whenReady(guard(c), admit));
      const output = whenReady(admitted, () => wrapped(c));
      const response = whenReady(output, (result) => respond(result, c));
      return response instanceof Promise ? response.catch(answerError) : response;
    } catch (error) {
      return answerError(error);
    }
  }
  return isSafe ? abandonable(handle) : handle;
}

/** Calls an interceptor; a response that it has got is not sent if it fails. */
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
    return await intercept(c, rest);
  } catch (error) {
    hasFailed = true;
    if (response) dropBody(response);
    throw error;
  }
}

/** Throws 403 unless a guard has returned `true`. */
function admit(isAdmitted: boolean): void {
  if (isAdmitted !== true) throw new ForbiddenException();
}

/** Creates the steps that read and validate every part; then one error lists the issues of all. */
function partSteps({ options }: Route, path: string): readonly Step[] {
  const { params, query, headers, body, consumes } = options;
  const steps: Step[] = [];
  const add = (part: InputPart, it: Pick<Part, "key" | "read">, schema: AnySchema | undefined) =>
    steps.push(partStep({
      ...it,
      schema: schema && new InputSchema(part, schema),
      mayBeForm: part === "body" && consumes?.some((format) => format !== "json") === true,
    }));
  const hasParams = params || path.includes(":");
  if (hasParams) add("path", { key: "params", read: (c) => c.req.param() }, params);
  if (query) add("query", { key: "query", read: queryOf }, query);
  if (headers) add("header", { key: "headers", read: (c) => c.req.header() }, headers);
  if (body) add("body", { key: "body", read: (c) => readBody(c, { consumes }) }, body);
  return [...steps, ({ refusals }) => {
    if (refusals.length > 0) throw refuse(refusals);
  }];
}

function partStep({ key, read, schema, mayBeForm }: Part): Step {
  return ({ c, input, refusals }) =>
    whenReady(read(c), (value) => {
      if (!schema) return void (input[key] = value);
      const validated = schema.validate(value, mayBeForm ? { isFields: isForm(c) } : undefined);
      return whenReady(validated, ({ value, refusal }) => {
        if (refusal) refusals.push(refusal);
        input[key] = value;
      });
    });
}

/** Returns a handler of a safe method (RFC 9110 §9.2.1), whose work can be given up. */
function abandonable(handle: (c: Context) => Response | Promise<Response>): Handler {
  return (c) => callerTracker()?.(c, () => handle(c)) ?? handle(c);
}
