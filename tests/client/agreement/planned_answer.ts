/** Random answers of routes: what they declare, what their handler returns, and what arrives. */
import fc from "fast-check";
import { streamSSE } from "hono/streaming";
import { type Context, HttpException } from "../../../mod.ts";
import type { AnySchema } from "../../../src/core/schema/validation.ts";
import { RECORDS, RESULTS } from "./data_kinds.ts";
import type { Kind, Library } from "./kind.ts";

/** What a caller observes. */
export type Outcome =
  | { readonly status: number; readonly data: unknown }
  | { readonly data: unknown }
  | { readonly problem: Readonly<Record<string, unknown>> }
  | { readonly status: number; readonly bytes: readonly number[] }
  | { readonly events: readonly unknown[] };

/** What a handler returns, and what its caller observes. */
export interface Result {
  /** Returns it; the context is only that of a route which answers with events. */
  readonly returned: (c: Context) => unknown;
  readonly outcome: Outcome;
}

/** An answer of a route. */
export interface Answer {
  readonly name: string;
  /** The options that a route declares for it. */
  readonly options: (library: Library) => object;
  readonly results: fc.Arbitrary<Result>;
  /** How a client reads it; by default whole. */
  readonly reads?: "response" | "events";
}

const SUCCESSES = [200, 201, 202, 203, 206, 207, 208, 226] as const;
const FAILURES = [400, 401, 403, 404, 409, 410, 418, 429, 451, 500, 503] as const;

/** Data with a response schema. */
const data = fc.record({ kind: RESULTS, status: fc.constantFrom(...SUCCESSES) }).map(
  ({ kind, status }): Answer => ({
    name: `${status}: ${kind.name}`,
    options: (library) => ({ response: kind[library], status }),
    results: fc.oneof({ arbitrary: dataOf(kind, status), weight: 9 }, brokenOf(kind)),
  }),
);

function dataOf({ samples }: Kind, status: number): fc.Arbitrary<Result> {
  return samples.map(({ sent, received }) => ({
    returned: () => sent,
    outcome: { status, data: received },
  }));
}

/** Data that violates the response schema: the server reports it without a value. */
function brokenOf({ wrong }: Kind): fc.Arbitrary<Result> {
  const values = wrong?.filter((value) => value !== undefined) ?? fc.constant(Symbol("wrong"));
  const detail = "The server could not answer this request";
  return values.map((value) => ({
    returned: () => value,
    outcome: { problem: { status: 500, detail } },
  }));
}

/** Data without a schema. */
const free = fc.constant<Answer>({
  name: "any JSON",
  options: () => ({}),
  results: fc.oneof(fc.jsonValue(), fc.constant(undefined)).map((value) => ({
    returned: () => value,
    outcome: {
      status: 200,
      data: value === undefined ? undefined : JSON.parse(JSON.stringify(value)),
    },
  })),
});

const nothing = fc.constant<Answer>({
  name: "204",
  options: () => ({ status: 204 }),
  results: fc.constant({ returned: () => undefined, outcome: { status: 204, data: undefined } }),
});

/** Several documented statuses, of which some are problems with members of their own. */
const documented = fc.record({
  kinds: fc.uniqueArray(
    fc.tuple(fc.constantFrom(...SUCCESSES, ...FAILURES), RECORDS),
    { minLength: 1, maxLength: 3, selector: ([status]) => status },
  ),
}).map(({ kinds }): Answer => ({
  name: kinds.map(([status, { name }]) => `${status}: ${name}`).join(" | "),
  options: (library) => ({
    openapi: {
      responses: Object.fromEntries(kinds.map(([status, kind]) => [
        status,
        { description: "documented", schema: kind[library] as AnySchema },
      ])),
    },
  }),
  results: fc.oneof(
    ...kinds.map(([status, { samples }]) =>
      samples.map(({ sent, received }): Result => ({
        returned: () => Response.json(sent, { status }),
        outcome: status < 400
          ? { status, data: JSON.parse(JSON.stringify(sent)) }
          : { problem: { ...(received as object), status } },
      }))
    ),
  ),
}));

const refusals = fc.constant<Answer>({
  name: "an exception",
  options: () => ({}),
  results: fc.tuple(fc.constantFrom(...FAILURES), fc.string({ minLength: 1, unit: "binary" }))
    .map(([status, detail]) => ({
      returned() {
        throw new HttpException(status, detail);
      },
      outcome: { problem: { status, detail } },
    })),
});

const text = fc.constant<Answer>({
  name: "text",
  options: () => ({
    openapi: { responses: { 200: { description: "text", contentType: "text/plain" } } },
  }),
  results: fc.string({ unit: "binary", maxLength: 300 }).map((text) => ({
    returned: () => new Response(text, { headers: { "content-type": "text/plain" } }),
    outcome: { status: 200, data: text.replace(/^\uFEFF/, "") || undefined },
  })),
});

const bytes = fc.constant<Answer>({
  name: "bytes",
  reads: "response",
  options: () => ({}),
  results: fc.tuple(fc.uint8Array({ maxLength: 2000 }), fc.constantFrom(...SUCCESSES)).map(
    ([bytes, status]) => ({
      returned: () => new Response(bytes as Uint8Array<ArrayBuffer>, { status }),
      outcome: { status, bytes: [...bytes] },
    }),
  ),
});

const EVENT = fc.record({
  event: fc.option(fc.stringMatching(/^[a-z]{1,5}$/), { nil: undefined }),
  data: fc.oneof(
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.string({ unit: fc.constantFrom("\n", "\r", " ", ":", "a"), maxLength: 8 }),
  ),
});

const events = fc.constant<Answer>({
  name: "events",
  reads: "events",
  options: () => ({}),
  results: fc.array(EVENT, { maxLength: 5 }).map((events) => ({
    returned: (c) =>
      streamSSE(c, async (stream) => {
        for (const { event, data } of events) {
          await stream.writeSSE({ data, ...event !== undefined && { event } });
        }
      }),
    outcome: {
      events: events.map(({ event = "message", data }) => [event, data.replaceAll(/\r\n?/g, "\n")]),
    },
  })),
});

/** Answers to `HEAD`, which have no body. */
export const HEADS: fc.Arbitrary<Answer> = fc.oneof(data, free, nothing, documented, refusals)
  .map((answer) => ({
    ...answer,
    results: answer.results.map(({ returned, outcome }) => ({
      returned,
      outcome: "problem" in outcome
        ? { problem: { status: outcome.problem.status } }
        : { ...outcome, data: undefined },
    })),
  }));

/** Any answers. */
export const ANSWERS: fc.Arbitrary<Answer> = fc.oneof(
  { arbitrary: data, weight: 6 },
  { arbitrary: documented, weight: 2 },
  free,
  nothing,
  refusals,
  text,
  bytes,
  events,
);
