/** Calls of planned routes, and the check of what arrives on both sides. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Problem, ValidationIssue } from "../../../mod.ts";
import { ProblemError } from "../../../src/client/mod.ts";
import type { Outcome } from "./planned_answer.ts";
import type { PlannedCall } from "./planned_call.ts";
import type { ServedRoute } from "./served_routes.ts";

/** The calls of a method, of a client without the types of an API. */
export interface UntypedCalls {
  (path: string, input: object): Promise<unknown>;
  safe(path: string, input: object): Promise<UntypedAnswer>;
  response(path: string, input: object): Promise<Response>;
  events(path: string, input: object): AsyncIterable<{ event: string; data: string }>;
}

interface UntypedAnswer {
  readonly status: number;
  readonly data: unknown;
  readonly problem?: Problem;
}

/** A planned call of a route that is served. */
export interface Called {
  readonly path: string;
  readonly served: ServedRoute;
  readonly call: PlannedCall;
}

/**
 * Makes a call in each way that the answer allows, and compares what arrives with the plan.
 *
 * @throws {Error} with the route and the call, if they differ
 */
export async function checkCall(calls: UntypedCalls, called: Called): Promise<void> {
  try {
    await compare(calls, called);
  } catch (error) {
    const { path, call, served: { plan: { answer, ...plan } } } = called;
    const route = fc.stringify(withNames({ ...plan, answer: answer.name }));
    throw new Error(`${path}\nof ${route}\ncalled ${fc.stringify(call)}\n${String(error)}`);
  }
}

async function compare(calls: UntypedCalls, called: Called): Promise<void> {
  const { served, call } = called;
  const { reads } = served.plan.answer;
  for (const way of reads ? [reads] : ["safe", "data"] as const) {
    served.next = call.result;
    served.received.length = 0;
    const outcome = withKnown(await outcomeOf(calls, called, way), call);
    const received = served.received.map(({ pathname, ...input }) => {
      const rest = pathname === undefined ? undefined : call.rest;
      assert.ok(rest === undefined || pathname?.endsWith(rest), `${pathname} and ${rest}`);
      return plain(input);
    });
    const observed = { outcome: await plain(outcome), received: await Promise.all(received) };
    assert.deepEqual(observed, await expectedOf(call, way));
  }
}

type Way = "safe" | "data" | "response" | "events";

async function outcomeOf(
  calls: UntypedCalls,
  { path, call: { input } }: Called,
  way: Way,
): Promise<Outcome> {
  try {
    if (way === "data") return { data: await calls(path, input) };
    if (way === "safe") {
      const { problem, status, data } = await calls.safe(path, input);
      return problem ? { problem: { ...problem } } : { status, data };
    }
    if (way === "response") {
      const response = await calls.response(path, input);
      return { status: response.status, bytes: await bytesOf(response) };
    }
    const events: unknown[] = [];
    for await (const { event, data } of calls.events(path, input)) events.push([event, data]);
    return { events };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return { problem: { ...error.problem } };
  }
}

/** Returns what both sides observe of a call. */
async function expectedOf(
  { method, received, wrong, result: { outcome } }: PlannedCall,
  way: Way,
): Promise<{ readonly outcome: unknown; readonly received: readonly unknown[] }> {
  if (wrong.length > 0) {
    const errors = wrong.map(String).sort();
    const problem = { status: 422, ...method !== "head" && { errors } };
    return { outcome: { problem }, received: [] };
  }
  const observed = way === "data" && "data" in outcome ? { data: outcome.data } : outcome;
  return { outcome: await plain(observed), received: [await plain(received)] };
}

/** Returns a problem with the members that the plan knows, and errors as the plan writes them. */
function withKnown(outcome: Outcome, { wrong, result }: PlannedCall): Outcome {
  if (!("problem" in outcome)) return outcome;
  const { status, errors, ...rest } = outcome.problem;
  if (Array.isArray(errors)) {
    const names = errors.map(({ in: part, field }: ValidationIssue) =>
      String(wrong.find((it) => isOf(it, { part, field })) ?? [part, field])
    );
    return { problem: { status, errors: [...new Set(names)].sort() } };
  }
  const known = "problem" in result.outcome ? Object.keys(result.outcome.problem) : [];
  const members = Object.entries(rest).filter(([name]) => known.includes(name));
  return { problem: { status, ...Object.fromEntries(members) } };
}

/** Checks whether an issue is in a field of a part. */
function isOf(
  [part, field]: PlannedCall["wrong"][number],
  issue: { readonly part: string; readonly field: string },
): boolean {
  const isWithin = field === "" || issue.field === field || issue.field.startsWith(`${field}.`);
  return part === issue.part && isWithin;
}

/** Returns a value without `undefined` members, and with files as their content. */
async function plain(value: unknown): Promise<unknown> {
  if (value instanceof File) {
    const [type] = value.type.split(";"); // Bun adds a charset
    return { name: value.name, type, bytes: await bytesOf(value) };
  }
  if (Array.isArray(value)) return await Promise.all(value.map(plain));
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    await Promise.all(members.map(async ([name, member]) => [name, await plain(member)])),
  );
}

async function bytesOf(source: Blob | Response): Promise<readonly number[]> {
  return [...new Uint8Array(await source.arrayBuffer())];
}

/** Returns a value with the names of kinds in place of their schemas. */
function withNames(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withNames);
  if ("samples" in value && "name" in value) return value.name;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([name, member]) => [name, withNames(member)]));
}
