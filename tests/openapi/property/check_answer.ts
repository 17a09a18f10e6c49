/**
 * Holding an answer against the document.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { PlannedRequest, SentRequest } from "./planned_request.ts";
import type { DescribedOperation, DescribedResponse, ServedDocument } from "./served_document.ts";

/** An answer that was checked. */
export interface CheckedAnswer {
  /** The operation that has answered, if one has. */
  readonly operation: DescribedOperation | undefined;
  readonly status: number;
  /** Its body, if it is JSON. */
  readonly json: unknown;
}

/** What is checked. */
export interface Exchange {
  readonly document: ServedDocument;
  readonly planned: PlannedRequest;
  readonly sent: SentRequest;
  readonly response: Response;
  /** The media type of error responses; that of problem documents by default. */
  readonly problemType?: string | undefined;
}

/** Checks that a response is documented, and possible for the request. */
export async function checkAnswer(
  { document, planned, sent, response, problemType = "application/problem+json" }: Exchange,
): Promise<CheckedAnswer> {
  const { status } = response;
  const operation = document.operationAt(sent.method, sent.path);
  const described = operation?.responses.get(status);
  const type = essenceOf(response);
  const body = isJson(type) ? await response.text() : await beginningOf(response);
  const ensure = (isSo: boolean, what: string) => {
    if (!isSo) assert.fail(`${what}\n${told(planned, sent)}\n${toldAnswer(response, body)}`);
  };
  ensure(status < 500, "the server has failed");
  let json: unknown;
  try {
    json = isJson(type) && body !== "" ? JSON.parse(body) : undefined;
  } catch {
    ensure(false, "the body is not JSON");
  }
  if (!operation) {
    const isRefused = [404, 405].includes(status) ||
      status === 429 && planned.caller.isHasty === true;
    ensure(isRefused, "the document knows no such operation");
    ensure(type === problemType, "an unknown path is answered without a problem");
    return { operation, status, json };
  }
  ensure(described !== undefined, `${operation.id} documents no ${status}`);
  if (described) checkBody(described, { type, body, json }, ensure);
  for (const [name, { schema, holds }] of described?.headers ?? []) {
    const text = response.headers.get(name);
    const value = schema.type === "integer" ? Number(text) : text;
    ensure(text === null || holds(value), `the header ${name} is not what the document says`);
  }
  if (operation === planned.operation) {
    ensure(
      fits(status, planned),
      `a request that is ${planned.verdict} by the document gets ${status}`,
    );
  }
  return { operation, status, json };
}

type Ensure = (isSo: boolean, what: string) => void;

function checkBody(
  { content }: DescribedResponse,
  { type, body, json }: { readonly type: string; readonly body: string; readonly json: unknown },
  ensure: Ensure,
): void {
  if (!content) {
    ensure(body === "", "the document tells of no body, and there is one");
    return;
  }
  const schema = content.get(type) ?? content.get(type.replace(/\/.*/, "/*")) ?? content.get("*/*");
  ensure(schema !== undefined, `the document does not tell of ${type || "no type"}`);
  if (isJson(type)) ensure(schema?.holds(json) ?? false, "the body violates its schema");
}

/** Checks whether a status is possible for a request, by the verdict of the document. */
function fits(status: number, { verdict, caller }: PlannedRequest): boolean {
  if (status === 429) return caller.isHasty === true;
  // whoever sends it, a body that is announced as too large is refused before anything else
  if (status === 413) return verdict !== "valid";
  switch (verdict) {
    case "valid":
      return status < 400 || status === 404 || status === 409 ||
        status === 403 && caller.isLimited === true;
    case "invalid":
      return status >= 400 && ![401, 409].includes(status);
    case "unidentified":
      return status === 401;
    case "untold":
      return true;
  }
}

/** Reads no more than the first part of a body: it may be long in coming. */
async function beginningOf(response: Response): Promise<string> {
  if (!response.body) return "";
  const reader = response.body.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

/** Returns the media type of a body. Bun sets that of a text only when it sends it. */
function essenceOf({ headers, body }: Response): string {
  const usual = "Bun" in globalThis && body ? "text/plain" : "";
  return (headers.get("content-type") ?? usual).split(";")[0]?.trim().toLowerCase() ?? "";
}

function isJson(type: string): boolean {
  return type === "application/json" || type.endsWith("+json");
}

function told(
  { verdict, what, caller }: PlannedRequest,
  { method, path, headers, body }: SentRequest,
): string {
  const shown = body instanceof FormData
    ? JSON.stringify([...body].map(([name, value]) => [name, typeof value]))
    : typeof body === "string"
    ? JSON.stringify(body.slice(0, 500))
    : body?.toString();
  const line = `${method} ${path.slice(0, 500)}`;
  return `the request is ${verdict} (${what.slice(0, 200)}), by ${caller.name}:\n  ${line}\n` +
    `  ${JSON.stringify({ ...headers, authorization: undefined })}\n  ${shown ?? "no body"}`;
}

function toldAnswer({ status, headers }: Response, body: string): string {
  return `the answer:\n  ${status} ${headers.get("content-type")}\n  ${body.slice(0, 1000)}`;
}
