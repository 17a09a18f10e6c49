/**
 * Trying an application out by its document alone.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { requestsFor, type RequestsOptions } from "./arbitrary_requests.ts";
import { checkAnswer } from "./check_answer.ts";
import { type PlannedRequest, SeenValues, writeRequest } from "./planned_request.ts";
import { ServedDocument } from "./served_document.ts";

/** Sends a request. */
export type Send = (path: string, init?: RequestInit) => Promise<Response>;

/** What is tried out, and how. */
export interface Trial extends RequestsOptions {
  readonly send: Send;
  /** Where the document is; `/openapi.json` by default. */
  readonly jsonPath?: string;
  /** The media type of error responses; that of problem documents by default. */
  readonly problemType?: string;
  /** How many requests are made. */
  readonly requests: number;
  /** What the requests begin with; random by default. */
  readonly seed?: number;
  /** The longest path and headers that a client or a server takes; longer ones are not sent. */
  readonly maxHeadLength?: number;
}

/** What came of it. */
export interface TrialResult {
  /** How many answers were checked. */
  readonly answers: number;
  /** The statuses of the answers of each operation. */
  readonly seen: ReadonlyMap<string, ReadonlySet<number>>;
  /** The documented statuses of each operation. */
  readonly documented: ReadonlyMap<string, ReadonlySet<number>>;
}

/**
 * Sends N requests, and checks each response. The application keeps its state from one to the next,
 * so that some are for what others have made.
 */
export async function checkAnswers(trial: Trial): Promise<TrialResult> {
  const { send, jsonPath, problemType, requests, seed, maxHeadLength = Infinity } = trial;
  using document = await ServedDocument.fetch(send, jsonPath);
  const values = new SeenValues();
  const seen = new Map(document.operations.map(({ id }) => [id, new Set<number>()]));
  let answers = 0;
  const check = async (planned: PlannedRequest) => {
    const sent = writeRequest(planned, values);
    const { path, ...init } = sent;
    fc.pre(path.length + headLength(init.headers) <= maxHeadLength);
    const response = await send(path, { ...init, redirect: "manual" } as RequestInit);
    const exchange = { document, planned, sent, response, problemType };
    const { operation, status, json } = await checkAnswer(exchange);
    if (status < 300) values.note(json);
    if (operation) seen.get(operation.id)?.add(status);
    answers += 1;
  };
  await fc.assert(fc.asyncProperty(requestsFor(document, trial), check), {
    numRuns: requests,
    reporter: report,
    ...seed !== undefined && { seed, endOnFailure: true },
  });
  const documented = document.operations.map(({ id, responses }) =>
    [id, new Set(responses.keys())] as const
  );
  return { answers, seen, documented: new Map(documented) };
}

function headLength(headers: Readonly<Record<string, string>> = {}): number {
  return Object.entries(headers).flat().reduce((length, text) => length + text.length, 0);
}

/** Reports of a failure by the request and the answer, and by the seed that makes the same requests again. */
function report(
  { failed, seed, counterexamplePath, numRuns, errorInstance }: fc.RunDetails<[PlannedRequest]>,
): void {
  if (!failed) return;
  const reason = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  assert.fail(`request ${numRuns} of seed ${seed} (path ${counterexamplePath}): ${reason}`);
}
