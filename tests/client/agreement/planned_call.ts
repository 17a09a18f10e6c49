/** Random calls of a route, and what of each arrives at its handler. */
import fc from "fast-check";
import { type FieldValues, valuesOf } from "./fields.ts";
import type { Result } from "./planned_answer.ts";
import type { PlannedBody, PlannedRoute, Version } from "./planned_route.ts";

/** The method of a call, as a member of a client. */
export type CallMethod = Exclude<PlannedRoute["method"], "all">;

/** A call of a route. */
export interface PlannedCall {
  readonly method: CallMethod;
  /** The version that is called, if the route has one. */
  readonly version: string | undefined;
  /** What the caller passes. */
  readonly input: Readonly<Record<string, unknown>>;
  /** What the handler receives, if nothing is wrong. */
  readonly received: Readonly<Record<string, unknown>>;
  /** What the path ends with, if it has a wildcard. */
  readonly rest?: string;
  /** The invalid fields, by part; the field of a whole body is empty. */
  readonly wrong: readonly (readonly [part: string, field: string])[];
  readonly result: Result;
}

/** A part of a call. */
interface Part {
  readonly sent: Readonly<Record<string, unknown>>;
  readonly received: Readonly<Record<string, unknown>>;
  readonly wrong: PlannedCall["wrong"];
  readonly rest?: string;
}

const NOTHING: Part = { sent: {}, received: {}, wrong: [] };

/** Random calls of a route. */
export function callsOf(route: PlannedRoute): fc.Arbitrary<PlannedCall> {
  const { query, headers, body, answer } = route;
  const version = route.version.own ?? route.version.controller;
  return fc.record({
    method: methodsOf(route),
    version: fc.constantFrom(...version === undefined ? [undefined] : versionsOf(version)),
    parts: fc.tuple(
      paramsOf(route),
      query ? valuesOf(query, { more: "not declared" }).map(partOf("query", "query")) : none,
      headers ? valuesOf(headers, { more: "x-more" }).map(partOf("headers", "header")) : none,
      body ? bodyOf(body) : none,
    ),
    result: answer.results,
  }).map(({ parts, ...call }) => ({
    ...call,
    ...parts[0].rest !== undefined && { rest: parts[0].rest },
    input: Object.assign({}, ...parts.map(({ sent }) => sent)),
    received: Object.assign({}, ...parts.map(({ received }) => received)),
    wrong: parts.flatMap(({ wrong }) => wrong),
  }));
}

const none: fc.Arbitrary<Part> = fc.constant(NOTHING);

function versionsOf(version: Version): readonly string[] {
  return typeof version === "string" ? [version] : version;
}

function methodsOf({ method, body }: PlannedRoute): fc.Arbitrary<CallMethod> {
  if (method !== "all") return fc.constant(method);
  const withBody = ["post", "put", "patch", "delete", "options"] as const;
  return fc.constantFrom<CallMethod>(...withBody, ...body ? [] : ["get"] as const);
}

function partOf(key: string, where: string): (values: FieldValues) => Part {
  return ({ sent, received, wrong }) => ({
    sent: { [key]: sent },
    received: { [key]: received },
    wrong: wrong.map((field) => [where, field]),
  });
}

/** Parameters: those without a schema are strings, and the handler has none of a wildcard. */
function paramsOf({ params, hasParams }: PlannedRoute): fc.Arbitrary<Part> {
  return valuesOf(params, { isValid: !hasParams }).map(({ sent, received, wrong }) => {
    const texts = Object.entries(hasParams ? received : sent).flatMap(([name, value]) => {
      if (name === "*" || value === undefined) return [];
      return [[name, hasParams ? value : String(value)] as const];
    });
    return {
      sent: params.length > 0 ? { params: sent } : {},
      received: { params: Object.fromEntries(texts) },
      ...restOf(sent["*"]),
      wrong: wrong.map((field) => ["path", field]),
    };
  });
}

/** What the path ends with for a wildcard. */
function restOf(value: unknown): { readonly rest?: string } {
  if (value === undefined) return {};
  return { rest: `/${String(value).split("/").map(encodeURIComponent).join("/")}` };
}

function bodyOf(body: PlannedBody): fc.Arbitrary<Part> {
  if ("fields" in body) {
    const values = valuesOf(body.fields, { more: "not declared" });
    return fc.tuple(values, fc.constantFrom(...body.formats)).map(([values, format]) => {
      const { sent, received, wrong } = partOf("body", "body")(values);
      return { sent: { [format]: sent.body }, received, wrong };
    });
  }
  const { samples, wrong } = body.kind;
  const good = samples.map(({ sent, received }): Part => ({
    sent: { body: sent },
    received: { body: received },
    wrong: [],
  }));
  if (!wrong) return good;
  const bad = wrong.map((sent): Part => ({
    sent: { body: sent },
    received: {},
    wrong: [["body", ""]],
  }));
  return fc.oneof({ arbitrary: good, weight: 9 }, { arbitrary: bad, weight: 1 });
}
