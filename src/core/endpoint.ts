/**
 * The end of a route: one Hono handler that guards, validates, calls the route's handler and checks
 * what it returns. All that can be decided at boot is decided here, once.
 *
 * @module
 */
import type { Handler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { readBody } from "./body.ts";
import type { Context } from "./context.ts";
import { dtoName } from "./dto.ts";
import {
  ForbiddenException,
  InternalServerErrorException,
  PayloadTooLargeException,
} from "./exceptions.ts";
import { queryOf } from "./extractor.ts";
import type { InputPart, ValidationIssue } from "./http_exception.ts";
import { applyFilters, type Pipeline } from "./pipeline.ts";
import type { Route } from "./route.ts";
import { type AnySchema, InputRefusal, issuesOf, validate } from "./validation.ts";

/** The largest body where neither the application nor the route says otherwise: 1 MiB, in bytes. */
export const DEFAULT_BODY_LIMIT: number = 1024 * 1024;

type Input = Record<string, unknown>;

/** The parameters of a path that has none. */
const NO_PARAMS = Object.freeze({});

/** One part of the input: where it comes from, and the schema it must satisfy. */
interface Part {
  readonly key: string;
  readonly in: InputPart;
  readonly schema: AnySchema | undefined;
  readonly read: (c: Context) => unknown;
}

/** Where a route stands, and what holds for it if it does not say otherwise. */
export interface EndpointOptions {
  /** The full path pattern: prefixes may have parameters too. */
  readonly path: string;
  /** The largest body in bytes. */
  readonly bodyLimit: number;
}

/** Makes the Hono handler of a route. */
export function createEndpoint(
  route: Route,
  pipeline: Pipeline,
  { path, bodyLimit: limit }: EndpointOptions,
): Handler {
  const { guards, interceptors, filters } = pipeline;
  const limitBody = mayHaveBody(route) ? limitTo(route.options.bodyLimit ?? limit) : undefined;
  const parts = partsOf(route, path);
  const args = Object.entries(route.options.args ?? {});

  async function call(c: Context): Promise<unknown> {
    const input: Input = { params: NO_PARAMS };
    if (parts.length > 0) await readParts(parts, c, input);
    for (const [key, extract] of args) input[key] = await extract(c);
    return route.handler(input, c);
  }

  const wrapped = interceptors.reduceRight<(c: Context) => Promise<unknown>>(
    (next, intercept) => async (c) => await intercept(c, () => next(c)),
    call,
  );

  return async (c) => {
    try {
      if (limitBody) await limitBody(c);
      for (const guard of guards) {
        if (await guard(c) === false) throw new ForbiddenException();
      }
      const output = await wrapped(c);
      return isResponse(output) ? output : await respond(route, output, c);
    } catch (error) {
      return await applyFilters(filters, error, c);
    }
  };
}

function mayHaveBody({ method }: Route): boolean {
  return method !== "GET" && method !== "HEAD";
}

function limitTo(maxSize: number): (c: Context) => Promise<unknown> {
  const onError = () => {
    // the rest of the body stays unread, so the connection cannot be used again (RFC 9112 §9.3)
    throw new PayloadTooLargeException(`The body is larger than ${maxSize} bytes`, {
      headers: { connection: "close" },
    });
  };
  const limit = bodyLimit({ maxSize, onError });
  return (c) => limit(c, () => Promise.resolve());
}

function partsOf({ options }: Route, path: string): readonly Part[] {
  const { params, query, headers, body, consumes = ["json"] } = options;
  const parts: Part[] = [];
  if (params || path.includes(":")) {
    parts.push({ key: "params", in: "path", schema: params, read: (c) => c.req.param() });
  }
  if (query) parts.push({ key: "query", in: "query", schema: query, read: queryOf });
  if (headers) {
    parts.push({ key: "headers", in: "header", schema: headers, read: (c) => c.req.header() });
  }
  if (body) {
    parts.push({ key: "body", in: "body", schema: body, read: (c) => readBody(c, consumes) });
  }
  return parts;
}

/** Reads and validates every part; what is wrong with any of them is refused at once. */
async function readParts(parts: readonly Part[], c: Context, input: Input): Promise<void> {
  let refusal: InputRefusal | undefined;
  for (const { key, in: part, schema, read } of parts) {
    let value = read(c);
    if (value instanceof Promise) value = await value;
    if (!schema) {
      input[key] = value;
      continue;
    }
    let result = validate(schema, value);
    if (result instanceof Promise) result = await result;
    if (!result.issues) input[key] = result.value;
    else (refusal ??= new InputRefusal()).add(schema, issuesOf(result.issues, value, part));
  }
  if (refusal) throw refusal.toException();
}

async function respond({ options }: Route, output: unknown, c: Context): Promise<Response> {
  const { response: schema, status } = options;
  let data = output;
  if (schema) {
    let result = validate(schema, output);
    if (result instanceof Promise) result = await result;
    if (result.issues) throw mismatch(schema, issuesOf(result.issues, output, "body"));
    data = result.value;
  }
  if (data === undefined || status === 204) return c.body(null, status);
  return status === undefined ? c.json(data) : c.json(data, status);
}

/** A handler's own mistake: the reasons go to the log, without the values. */
function mismatch(
  schema: AnySchema,
  issues: readonly ValidationIssue[],
): InternalServerErrorException {
  const reasons = issues.map(({ field, message }) => field ? `${field}: ${message}` : message);
  const what = `The response does not satisfy ${dtoName(schema) ?? "its schema"}`;
  const cause = new TypeError(`${what} (${reasons.join("; ")})`);
  return new InternalServerErrorException(what, { cause });
}

/** Tells a response of any origin: Node's server replaces the global class while it runs. */
function isResponse(value: unknown): value is Response {
  return value instanceof Response ||
    Object.prototype.toString.call(value) === "[object Response]";
}
