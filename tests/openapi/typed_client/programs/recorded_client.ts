/** A client of the users example, typed by its document, and what its programs check answers with. */
import assert from "node:assert/strict";
import process from "node:process";
import createClient, { type Client } from "openapi-fetch";
// @ts-ignore: generated beside the copy of this file that is compiled and run
import type { components, paths } from "./users_document.ts";

export type Problem = components["schemas"]["ProblemDetails"];

/** The result of a call: data or an error. */
interface Answer {
  readonly data?: unknown;
  readonly error?: Problem;
  readonly response: Response;
}

const observed = new Set<string>();
const [, , baseUrl = ""] = process.argv;

/** Creates a client; its answers are noted as `GET /api/v1/users 200 application/json`. */
export function recordedClient(token?: string): Client<paths> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const client = createClient<paths>({ baseUrl, headers });
  client.use({
    onResponse({ request, schemaPath, response }) {
      const mediaType = response.headers.get("content-type") ?? "nothing";
      observed.add(`${request.method} ${schemaPath} ${response.status} ${mediaType}`);
    },
  });
  return client;
}

/** Prints what was noted, as a list of JSON. */
export function printObserved(): void {
  console.log(JSON.stringify([...observed].sort()));
}

/** Checks that a call was refused with this problem, with a unique request id. */
export function refused(
  { data, error, response }: Answer,
  expected: Omit<Problem, "type" | "requestId">,
): void {
  assert.equal(data, undefined);
  assert.ok(error?.requestId, JSON.stringify(error));
  assert.equal(response.headers.get("x-request-id"), error.requestId);
  assert.equal(response.headers.get("content-type"), "application/problem+json");
  assert.equal(response.status, expected.status);
  assert.deepEqual(error, { type: "about:blank", requestId: error.requestId, ...expected });
}
