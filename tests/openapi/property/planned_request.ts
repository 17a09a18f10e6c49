/**
 * Requests as they are planned: what belongs to the moment is filled in when they are sent.
 *
 * @module
 */
import type { DescribedOperation } from "./served_document.ts";

/**
 * The verdict of the document: the request is valid, invalid, has no known
 * caller, or is undecided.
 */
export type Verdict = "valid" | "invalid" | "unidentified" | "untold";

/** Who makes a request. */
export interface Caller {
  /** For messages. */
  readonly name: string;
  /** The headers that identify it. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it is known to the application. */
  readonly isKnown: boolean;
  /** Whether it may not do all that those may who are known. */
  readonly isLimited?: boolean;
  /** Whether it makes more requests than it may. */
  readonly isHasty?: boolean;
}

/** The body of a request. */
export interface PlannedBody {
  /** Its `Content-Type`; `undefined` for none, or for that of the body itself. */
  readonly type?: string | undefined;
  /** What is sent. */
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

/** What is sent in which place. */
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
  /** What is wrong or odd, in words. */
  readonly what: string;
  readonly caller: Caller;
  readonly draft: Draft;
  /** Which of the values that were seen to put in places of their names, if any. */
  readonly recall: { readonly path?: number; readonly body?: number };
}

/** A request that can be sent. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
}

/** Values of answers by the names of their properties, from which later requests take some. */
export class SeenValues {
  readonly #byName = new Map<string, unknown[]>();

  /** Keeps the values of an answer. */
  note(json: unknown): void {
    for (const each of [json].flat()) {
      if (typeof each !== "object" || each === null) continue;
      for (const [name, value] of Object.entries(each)) {
        if (typeof value === "object") continue;
        if (typeof value === "string" && [...value].length < value.length) continue; // see hasLength()
        const values = this.#byName.get(name) ?? [];
        values.unshift(value);
        this.#byName.set(name, values.slice(0, 50));
      }
    }
  }

  /** Returns one of the values of a name; the last first. */
  pick(name: string, which: number): unknown {
    const values = this.#byName.get(name) ?? [];
    return values[which % values.length];
  }
}

/** Fills in what was seen, and writes a request out. */
export function writeRequest(
  { operation, draft, caller, recall, verdict }: PlannedRequest,
  seen: SeenValues,
): SentRequest {
  const path = operation.template.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const raw = draft.raw?.[name];
    if (raw !== undefined) return raw;
    const recalled = recall.path === undefined ? undefined : seen.pick(name, recall.path);
    const fits = operation.parameters.find((each) => each.in === "path" && each.name === name)
      ?.holds(recalled);
    return encodeURIComponent(
      recalled !== undefined && fits ? String(recalled) : draft.path[name] ?? "",
    );
  });
  const query = new URLSearchParams(draft.query.map(([name, text]) => [name, text])).toString();
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

/** Replaces one property of a JSON object by a value that was seen, if the result satisfies the schema. */
function recalledBody(
  { body: described }: DescribedOperation,
  body: PlannedBody | undefined,
  { recall, seen }: { readonly recall: PlannedRequest["recall"]; readonly seen: SeenValues },
): PlannedBody | undefined {
  const { json } = body ?? {};
  const schema = described?.content?.get("application/json");
  if (recall.body === undefined || typeof json !== "object" || json === null || !schema) {
    return body;
  }
  const names = Object.keys(json).filter((name) => seen.pick(name, 0) !== undefined);
  const name = names[recall.body % names.length];
  if (name === undefined) return body;
  const recalled = { ...json, [name]: seen.pick(name, recall.body) };
  return schema.holds(recalled) ? { ...body, content: JSON.stringify(recalled) } : body;
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
