/**
 * The check of an answer against the document.
 *
 * @module
 */
import { PROBLEM_MEDIA_TYPE } from "../../../core/http/problem.ts";
import { undocumentedProperty } from "../request/plain_schema.ts";
import type { FindLeak } from "./leaks.ts";
import { describeAnswer } from "../request/exchange_lines.ts";
import { isJsonType } from "../request/json_text.ts";
import type { PlannedRequest } from "../request/planned_request.ts";
import type { SentRequest } from "../request/sent_request.ts";
import type {
  DescribedOperation,
  DescribedResponse,
  ServedDocument,
} from "../request/served_document.ts";
import { describeRequest, WrongAnswer } from "./wrong_answer.ts";
import { within } from "../../../platform/time_limit.ts";

/** An answer that was checked. */
export interface CheckedAnswer {
  /** The operation that has answered, if one has. */
  readonly operation: DescribedOperation | undefined;
  readonly status: number;
  /** The documented headers that it has. */
  readonly headers: readonly string[];
  /** Its body, if it is JSON. */
  readonly json: unknown;
}

/** A request and its answer. */
export interface Exchange {
  readonly document: ServedDocument;
  readonly planned: PlannedRequest;
  readonly sent: SentRequest;
  readonly response: Response;
  /** The media type of error responses; that of problem documents by default. */
  readonly problemType?: string | undefined;
  /** Finds what no answer may contain; nothing by default. */
  readonly findLeak?: FindLeak | undefined;
  /** The ids of operations of which a body did not begin in time; those are added. */
  readonly idle?: Set<string> | undefined;
}

/** For how long the first part of a body that may not end is awaited. */
const FIRST_PART_MS = 1000;

/** The same after a body of the operation that did not begin: a stream may wait for an event. */
const IDLE_PART_MS = 10;

/**
 * Checks that a response is documented, and possible for the request.
 *
 * @throws {WrongAnswer} if it is not
 */
export async function checkAnswer(
  { document, planned, sent, response, problemType = PROBLEM_MEDIA_TYPE, findLeak, idle }: Exchange,
): Promise<CheckedAnswer> {
  const { status } = response;
  const operation = document.operationAt(sent.method, sent.path);
  const described = operation?.responses.get(status);
  const type = essenceOf(response);
  const id = (operation ?? planned.operation).id;
  const beginning = isJsonType(type)
    ? await response.text()
    : await beginningOf(response, idle?.has(id) ? IDLE_PART_MS : FIRST_PART_MS);
  if (beginning === undefined) idle?.add(id);
  const body = beginning ?? "";
  const ensure: Ensure = (isSo, message, reasons) => {
    if (isSo) return;
    const { method, template } = operation ?? planned.operation;
    const details = [
      ...describeRequest(planned, sent),
      describeAnswer(response, body),
      ...(reasons?.() ?? []).map((reason) => `# ${reason}`),
    ];
    throw new WrongAnswer({ subject: `${method} ${template}`, message, details });
  };
  const leak = findLeak?.([...[...response.headers].flat(), body].join("\n"));
  ensure(leak === undefined, `the answer ${status} contains ${leak}`);
  ensure(status < 500, `the server has failed with ${status}`);
  let json: unknown;
  try {
    json = isJsonType(type) && body !== "" ? JSON.parse(body) : undefined;
  } catch {
    ensure(false, `the body of ${status} is not JSON`);
  }
  if (!operation) {
    const isRefused = [404, 405].includes(status) ||
      status === 429 && planned.caller.isHasty === true;
    ensure(isRefused, `a path that is not documented is answered with ${status}`);
    ensure(type === problemType, `${status} of an unknown path is not a problem document`);
    return { operation, status, headers: [], json };
  }
  ensure(described !== undefined, `status ${status} is not documented`);
  if (described) checkBody({ document, type, body, json, status }, described, ensure);
  const headers = [...described?.headers ?? []].filter(([name]) => response.headers.has(name));
  for (const [name, { schema, holds }] of headers) {
    const text = response.headers.get(name);
    const value = schema.type === "integer" ? Number(text) : text;
    ensure(holds(value), `the header ${name} of ${status} violates its schema`);
  }
  if (operation === planned.operation) {
    const article = /^[aeiou]/.test(planned.verdict) ? "an" : "a";
    ensure(
      fits(status, planned),
      `${article} ${planned.verdict} request is answered with ${status}`,
    );
  }
  return { operation, status, headers: headers.map(([name]) => name), json };
}

type Ensure = (isSo: boolean, message: string, reasons?: () => readonly string[]) => void;

interface Body {
  readonly document: ServedDocument;
  readonly type: string;
  readonly body: string;
  readonly json: unknown;
  readonly status: number;
}

function checkBody(
  { document, type, body, json, status }: Body,
  { content }: DescribedResponse,
  ensure: Ensure,
): void {
  if (!content) {
    ensure(body === "", `${status} has a body, and none is documented`);
    return;
  }
  const schema = content.get(type) ?? content.get(type.replace(/\/.*/, "/*")) ?? content.get("*/*");
  ensure(schema !== undefined, `${status} has ${type || "no media type"}, which is not documented`);
  if (!isJsonType(type) || !schema) return;
  ensure(
    schema.holds(json),
    `the body of ${status} violates its schema`,
    () => schema.violations(json),
  );
  const property = undocumentedProperty(json, schema.schema, document);
  ensure(property === undefined, `the body of ${status} has ${property}, which is not documented`);
}

/** Checks whether a status is possible for a request, by the verdict of the document. */
function fits(status: number, { verdict, caller, operation }: PlannedRequest): boolean {
  if (status === 429) return caller.isHasty === true;
  // whoever sends it, a body that is announced as too large is refused before anything else
  if (status === 413) return verdict !== "valid";
  switch (verdict) {
    case "valid":
      return status < 400 || status === 404 || status === 409 ||
        status === 403 && caller.isLimited === true ||
        // what only a state decides, such as whether a cursor is that of a page
        status === 400 && operation.body === undefined ||
        // a login refuses credentials of the right form
        status === 401 && !operation.needsIdentity;
    case "invalid":
      // the need of a token may be undocumented
      if (status === 401) return !operation.needsIdentity && !caller.isKnown;
      return status >= 400 && status !== 409;
    case "unidentified":
      return status === 401;
    case "undecided":
      return true;
  }
}

/** Reads no more than the first part of a body; `undefined` if it does not come in time. */
async function beginningOf(response: Response, limitMs: number): Promise<string | undefined> {
  if (!response.body) return "";
  const reader = response.body.getReader();
  const reading = reader.read();
  const isRead = await within(reading, limitMs);
  const { value } = isRead ? await reading : {};
  await reader.cancel();
  return isRead ? new TextDecoder().decode(value) : undefined;
}

/** Returns the media type of a body. Bun sets that of a text only when it sends it. */
function essenceOf({ headers, body }: Response): string {
  const usual = "Bun" in globalThis && body ? "text/plain" : "";
  return (headers.get("content-type") ?? usual).split(";")[0]?.trim().toLowerCase() ?? "";
}
