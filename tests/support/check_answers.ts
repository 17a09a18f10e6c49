/** The check of an application by `document` of `fw prove`, through its requests alone. */
import {
  type CheckOptions,
  findWrongAnswers,
  type TrialResult,
} from "../../src/testing/prove/document/check_answers.ts";
import { ServedDocument } from "../../src/testing/prove/request/served_document.ts";
import type { Send } from "../../src/testing/prove/part.ts";

/** An application, and how it is checked. */
export interface CheckedApplication
  extends Omit<CheckOptions, "seed" | "timeoutMs">, Partial<Pick<CheckOptions, "seed">> {
  readonly send: Send;
  /** Where the document is; `/openapi.json` by default. */
  readonly jsonPath?: string;
}

/**
 * Sends N requests, and checks each response.
 *
 * @throws {WrongAnswer} if a response is wrong
 */
export async function checkAnswers(
  { send, jsonPath, seed = Date.now() & 0x7fffffff, ...options }: CheckedApplication,
): Promise<TrialResult> {
  using document = await fetchDocument(send, jsonPath);
  const checking = { ...options, seed, timeoutMs: 10_000 };
  const { failures: [failure], ...result } = await findWrongAnswers({ document, send }, checking);
  if (failure) throw failure;
  return result;
}

/** Fetches the document of an application. */
export async function fetchDocument(
  send: (path: string) => Promise<Response>,
  path = "/openapi.json",
): Promise<ServedDocument> {
  const response = await send(path);
  if (response.status !== 200) {
    throw new TypeError(`Cannot read document: ${path} answers ${response.status}`);
  }
  return await ServedDocument.read(await response.json());
}
