/**
 * Requests as they are planned: what belongs to the moment is filled in when they are sent.
 *
 * @module
 */
import { ANONYMOUS, type Caller } from "../part.ts";
import { JSON_TYPE } from "./json_text.ts";
import { type PropertyPath, withProperty } from "./properties.ts";
import type { SentRequest } from "./sent_request.ts";
import type { DescribedOperation } from "./served_document.ts";

/**
 * The verdict of the document: the request is valid, invalid, has no known caller, or is undecided.
 */
export type Verdict = "valid" | "invalid" | "unidentified" | "undecided";

/** The body of a request. */
export interface PlannedBody {
  /** Its `Content-Type`; `undefined` for none, or for that of the body itself. */
  readonly type?: string | undefined;
  /** The content. */
  readonly content: string | Uint8Array<ArrayBuffer> | readonly FormEntry[];
  /** The JSON value that it is, if it is a valid one. */
  readonly json?: unknown;
}

/** A field of a form: files of `multipart/form-data` are marked. */
export interface FormEntry {
  readonly name: string;
  readonly value: string;
  readonly isFile: boolean;
}

/** The parts of a request. */
export interface Draft {
  /** The parameters of the path. */
  readonly path: Readonly<Record<string, string>>;
  /** Those in `path` that are percent-encoded already. */
  readonly raw?: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [name: string, text: string])[];
  /** A text to append to the query unchanged. */
  readonly rawQuery?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: PlannedBody | undefined;
}

/** What makes a request another one than it would be. */
export interface Alteration {
  /** In words. */
  readonly what: string;
  alter(draft: Draft): Draft;
}

/** A request as it is planned. */
export interface PlannedRequest {
  readonly operation: DescribedOperation;
  readonly verdict: Verdict;
  /** Its fault or oddity, in words. */
  readonly what: string;
  readonly caller: Caller;
  readonly draft: Draft;
  /** Which of the values that were seen to put in places of their names, if any. */
  readonly recall: { readonly path?: number; readonly body?: number };
}

/** Values by the names of their properties, to put into requests. */
export interface NamedValues {
  /** Whether there is one of a name. */
  has(name: string): boolean;
  /** Returns one of those of a name; `undefined` without any. */
  pick(name: string, which: number): unknown;
}

/** Fills in what was seen, and writes a request out. */
export function writeRequest(
  { operation, draft, caller, recall, verdict }: PlannedRequest,
  seen: NamedValues,
): SentRequest {
  const path = operation.template.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const raw = draft.raw?.[name];
    if (raw !== undefined) return raw;
    const recalled = recall.path === undefined ? undefined : seen.pick(name, recall.path);
    const described = operation.parameters.find((each) => each.in === "path" && each.name === name);
    const fits = recalled !== undefined &&
      (described?.holds(recalled) || described?.holds(String(recalled)));
    const text = fits ? String(recalled) : draft.path[name] ?? "";
    return encodeURIComponent(text.toWellFormed()); // it throws for half of a character
  });
  const isRecalled = verdict === "valid" && recall.path !== undefined && recall.path % 2 === 1;
  const texts = draft.query.map(([name, text]) => {
    const recalled = isRecalled ? seen.pick(name, recall.path ?? 0) : undefined;
    const fits = operation.parameters.find((each) => each.in === "query" && each.name === name)
      ?.holds(recalled);
    return [name, fits ? String(recalled) : text];
  });
  const query = new URLSearchParams(texts).toString();
  const queries = [query, draft.rawQuery].filter(Boolean).join("&");
  const body = verdict === "valid"
    ? recalledBody(operation, draft.body, { recall, seen })
    : draft.body;
  return {
    method: operation.method,
    path: path + (queries && `?${queries}`),
    headers: {
      ...caller.headers,
      ...body?.type !== undefined && { "content-type": body.type },
      ...draft.headers,
    },
    ...body && { body: contentOf(body) },
  };
}

/** Writes a valid request of no caller out, in which nothing has to be filled in. */
export function writeDraft(operation: DescribedOperation, draft: Draft): SentRequest {
  const planned = {
    operation,
    draft,
    caller: ANONYMOUS,
    verdict: "valid",
    what: "nothing",
  } as const;
  return writeRequest({ ...planned, recall: {} }, { has: () => false, pick: () => undefined });
}

/** Replaces a property of an object by a value that was seen, if the result is valid. */
function recalledBody(
  { body: described }: DescribedOperation,
  body: PlannedBody | undefined,
  { recall, seen }: { readonly recall: PlannedRequest["recall"]; readonly seen: NamedValues },
): PlannedBody | undefined {
  const { json } = body ?? {};
  const schema = described?.content?.get(JSON_TYPE);
  if (recall.body === undefined || typeof json !== "object" || json === null || !schema) {
    return body;
  }
  const paths = propertyPaths(json).filter(([name]) => seen.has(name));
  const [name, path] = paths[recall.body % paths.length] ?? [];
  if (name === undefined || path === undefined) return body;
  const recalled = withProperty(json, path, seen.pick(name, recall.body));
  return schema.holds(recalled) ? { ...body, content: JSON.stringify(recalled) } : body;
}

/** Returns the names and the paths of the properties of an object, and of the objects in it. */
function propertyPaths(object: object): readonly (readonly [name: string, path: PropertyPath])[] {
  return Object.entries(object).flatMap(([name, value]) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? propertyPaths(value).map(([inner, path]) => [inner, [name, ...path]] as const)
      : [[name, [name]] as const]
  );
}

function contentOf({ type, content }: PlannedBody): BodyInit {
  if (typeof content === "string" || content instanceof Uint8Array) return content;
  if (type !== undefined) {
    return new URLSearchParams(content.map(({ name, value }) => [name, value])).toString();
  }
  const form = new FormData();
  for (const { name, value, isFile } of content) {
    if (isFile) form.append(name, new File([value], "file.txt", { type: "text/plain" }));
    else form.append(name, value);
  }
  return form;
}
