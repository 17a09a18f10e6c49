/**
 * Answers to the same request in two databases, and how they differ.
 *
 * @module
 */
import { within, withTimeLimit } from "../../../platform/time_limit.ts";
import { parsedJson } from "../request/json_text.ts";

/** An answer that was read. */
export interface Answer {
  readonly response: Response;
  readonly body: string;
  /** Whether it goes on, so that only its beginning was read. */
  readonly isStream: boolean;
}

/** For how long each part of a body that may not end is awaited. */
const PART_MS = 300;

/** How much is read of a body that may not end, in parts. */
const MAX_PARTS = 50;

/** Headers that differ from answer to answer, or follow from the body. */
const VOLATILE =
  /^(?:date|age|set-cookie|content-length|server-timing|trace(?:parent|state)|x-response-time|.*request-id|(?:x-)?ratelimit.*)$/;

/** Reads an answer; `undefined` if it does not come in time, or the application throws. */
export async function answerOf(
  response: Promise<Response>,
  timeoutMs: number,
): Promise<Answer | undefined> {
  try {
    return await withTimeLimit(readAnswer(response), timeoutMs);
  } catch {
    return undefined; // which the part `document` reports
  }
}

async function readAnswer(promise: Promise<Response>): Promise<Answer> {
  const response = await promise;
  if (!response.body) return { response, body: "", isStream: false };
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let body = "";
  for (let part = 0; part < MAX_PARTS; part++) {
    const reading = reader.read();
    if (!await within(reading, PART_MS)) break;
    const { value, done } = await reading;
    body += decoder.decode(value, { stream: !done });
    if (done) return { response, body, isStream: false };
  }
  await reader.cancel();
  return { response, body, isStream: true };
}

/**
 * Returns how an answer differs from that to the same request in another database, in words;
 * `undefined` if it does not. Times and UUIDs that neither request nor rows have are not compared.
 */
export function differenceOf(
  a: Answer,
  b: Answer,
  { isKnown }: { readonly isKnown: (text: string) => boolean },
): string | undefined {
  if (a.response.status !== b.response.status) {
    return `it is ${a.response.status}, and ${b.response.status} without them`;
  }
  const plain = (text: string) =>
    text.replaceAll(VARYING, (found) => isKnown(found) ? found : "<varies>");
  const names = new Set([...a.response.headers.keys(), ...b.response.headers.keys()]);
  for (const name of names) {
    if (VOLATILE.test(name)) continue;
    const [left, right] = [a, b].map(({ response }) => response.headers.get(name));
    if (plain(left ?? "") !== plain(right ?? "")) {
      return `its header ${name} is ${shown(left)}, and ${shown(right)} without them`;
    }
  }
  if (a.isStream || b.isStream || plain(a.body) === plain(b.body)) return undefined;
  const [left, right] = [parsedJson(a.body), parsedJson(b.body)];
  if (left === undefined || right === undefined) return "its body differs without them";
  return jsonDifference([left, right], { path: "", plain }) ??
    "the order or the form of its body differs without them";
}

/** Times and UUIDs. */
const VARYING =
  /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)|\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi;

function jsonDifference(
  [a, b]: readonly [unknown, unknown],
  { path, plain }: { readonly path: string; readonly plain: (text: string) => string },
): string | undefined {
  const name = path === "" ? "its body" : path;
  if (Array.isArray(a) && Array.isArray(b) && a.length !== b.length) {
    return `${name} has ${rows(a.length)}, and ${b.length} without them`;
  }
  if (typeof a === "object" && typeof b === "object" && a !== null && b !== null) {
    // lists first: what else differs may follow from them
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])]
      .toSorted((one, other) => Number(isList(a, other)) - Number(isList(a, one)));
    for (const key of keys) {
      const inner = Array.isArray(a) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      const pair = [(a as Members)[key], (b as Members)[key]] as const;
      const found = jsonDifference(pair, { path: inner, plain });
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (plain(JSON.stringify(a) ?? "") === plain(JSON.stringify(b) ?? "")) return undefined;
  return `${name} is ${shown(a)}, and ${shown(b)} without them`;
}

type Members = Readonly<Record<string, unknown>>;

function isList(object: object, key: string): boolean {
  return Array.isArray((object as Members)[key]);
}

function rows(count: number): string {
  return count === 1 ? "1 element" : `${count} elements`;
}

function shown(value: unknown): string {
  const text = value === undefined || value === null ? "missing" : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}
