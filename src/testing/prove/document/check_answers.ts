/**
 * Requests that are made from the document of an application alone, and the check of its answers.
 *
 * @module
 */
import fc from "fast-check";
import { withTimeLimit } from "../../../platform/time_limit.ts";
import { RunEnded, type Send } from "../part.ts";
import { draftsOf, requestsFor, type RequestsOptions } from "../request/arbitrary_requests.ts";
import { checkAnswer, type CheckedAnswer } from "./check_answer.ts";
import type { FindLeak } from "./leaks.ts";
import { type Draft, type PlannedRequest, writeRequest } from "../request/planned_request.ts";
import { type Reduction, Reproduction } from "./reproduction.ts";
import { SeenValues } from "../request/seen_values.ts";
import { sendRequest, type SentRequest } from "../request/sent_request.ts";
import type { ServedDocument } from "../request/served_document.ts";
import { describeRequest, WrongAnswer } from "./wrong_answer.ts";

/** How answers are checked. */
export interface CheckOptions extends RequestsOptions {
  /** The media type of error responses; that of problem documents by default. */
  readonly problemType?: string | undefined;
  /** Finds what no answer may contain; nothing by default. */
  readonly findLeak?: FindLeak | undefined;
  /** How many requests are made. */
  readonly requests: number;
  /** Determines the requests. */
  readonly seed: number;
  /** The longest path and headers that a client or a server takes; longer ones are not sent. */
  readonly maxHeadLength?: number;
  /** For how long an answer is awaited, in milliseconds. */
  readonly timeoutMs: number;
}

/** What came of it. */
export interface TrialResult {
  /** How many answers were checked. */
  readonly answers: number;
  /** How many of them were 429. */
  readonly limited: number;
  /** The statuses of the answers of each operation. */
  readonly seen: ReadonlyMap<string, ReadonlySet<number>>;
  /** The documented headers of the answers of each operation, as `201 Location`. */
  readonly headers: ReadonlyMap<string, ReadonlySet<string>>;
  /** The documented statuses of each operation. */
  readonly documented: ReadonlyMap<string, ReadonlySet<number>>;
}

/** An application that is tried out. */
export interface TriedApplication {
  readonly document: ServedDocument;
  readonly send: Send;
  /** Sends requests from one address, to reach its limit. */
  readonly sendHastily?: Send;
  /** How failures are reproduced in as few requests as possible; not by default. */
  readonly reduction?: Reduction;
  /** How many failures end the trial; 1 by default. */
  readonly maxFailures?: number;
}

/**
 * Sends N requests, and returns the wrong answers, each once. The application keeps its state from
 * one to the next, so that some are for what others have made.
 */
export async function findWrongAnswers(
  application: TriedApplication,
  options: CheckOptions,
): Promise<TrialResult & { readonly failures: readonly WrongAnswer[] }> {
  const trial = new AnswerTrial(application, options);
  await trial.sendRequests();
  await trial.reachLimits();
  const { failures, answers, limited, seen, headers } = trial;
  const documented = new Map(
    application.document.operations.map(({ id, responses }) => [id, new Set(responses.keys())]),
  );
  return { answers, limited, seen, headers, documented, failures };
}

/** Sends requests, and keeps the wrong answers and what the others have covered. */
class AnswerTrial {
  readonly failures: WrongAnswer[] = [];
  readonly seen: ReadonlyMap<string, Set<number>>;
  readonly headers: ReadonlyMap<string, Set<string>>;
  answers = 0;
  limited = 0;
  readonly #application: TriedApplication;
  readonly #options: CheckOptions;
  readonly #values = new SeenValues();
  readonly #reproduction: Reproduction;
  /** The ids of operations that have not answered in time. */
  readonly #silent = new Set<string>();
  /** The ids of operations of which a body did not begin in time. */
  readonly #idle = new Set<string>();

  constructor(application: TriedApplication, options: CheckOptions) {
    const { document, reduction } = application;
    this.#application = application;
    this.#options = options;
    this.seen = new Map(document.operations.map(({ id }) => [id, new Set()]));
    this.headers = new Map(document.operations.map(({ id }) => [id, new Set()]));
    this.#reproduction = new Reproduction(reduction, {
      exchange: (planned, sent, send) => exchange(planned, sent, this.#by(send)),
    });
  }

  /** Sends requests until their number, or that of the failures, is reached. */
  async sendRequests(): Promise<void> {
    const { document, reduction, maxFailures = 1 } = this.#application;
    const { requests, seed } = this.#options;
    const property = () =>
      fc.asyncProperty(
        requestsFor(document, this.#options),
        (planned) =>
          this.#reproduction.isUnderWay ? this.#reproduction.attempt(planned) : this.#next(planned),
      );
    let left = document.operations.length === 0 ? 0 : requests;
    while (left > 0 && this.failures.length < maxFailures) {
      const details = await fc.check(property(), {
        numRuns: left,
        seed: seed + this.failures.length,
        endOnFailure: reduction === undefined,
      });
      left -= details.numRuns;
      if (!details.failed) return;
      const found = this.#reproduction.end() ?? details.errorInstance;
      if (!(found instanceof WrongAnswer)) throw found;
      this.failures.push(found);
    }
  }

  /** Repeats requests whose documented 429 was not seen, unless there is a failure. */
  async reachLimits(): Promise<void> {
    const { document, sendHastily: send } = this.#application;
    if (!send || this.failures.length > 0) return;
    const options = this.#options;
    for (const planned of hastyRequests(document, { options, seen: this.seen })) {
      const sent = writeRequest(planned, this.#values);
      const statuses = this.seen.get(planned.operation.id);
      try {
        for (let n = 0; n < Math.min(options.requests, MAX_HASTY) && !statuses?.has(429); n++) {
          this.#note(await exchange(planned, sent, this.#by(send)));
        }
      } catch (error) {
        if (!(error instanceof WrongAnswer)) throw error;
        this.failures.push(error);
      }
      if (!statuses?.has(429)) return; // the limit is higher, for the others as well
    }
  }

  /** Sends a request; a failure that is new begins a reproduction. */
  async #next(planned: PlannedRequest): Promise<void> {
    if (this.#silent.has(planned.operation.id)) return;
    const values = this.#values;
    values.picked = [];
    const sent = writeRequest(planned, values);
    const { maxHeadLength = Infinity } = this.#options;
    fc.pre(sent.path.length + headLength(sent.headers) <= maxHeadLength);
    const number = this.answers++;
    const { picked } = values;
    const { send } = this.#application;
    try {
      const answer = await exchange(planned, sent, this.#by(send));
      this.#note(answer);
      const { status, json } = answer;
      if (status === 429) this.limited += 1;
      if (status >= 300) return;
      values.note(json, number);
      this.#reproduction.note(number, { planned, picked });
    } catch (error) {
      if (!(error instanceof WrongAnswer)) throw error;
      if (error.isLate) this.#silent.add(planned.operation.id);
      if (this.failures.some((each) => each.isLike(error))) return;
      await this.#reproduction.begin(error, { planned, picked, seen: values });
      throw error;
    }
  }

  /** Returns how a request is sent and its answer checked. */
  #by(send: Send): Exchanging {
    const { document } = this.#application;
    return { document, send, options: this.#options, idle: this.#idle };
  }

  #note({ operation, status, headers }: CheckedAnswer): void {
    if (!operation) return;
    this.seen.get(operation.id)?.add(status);
    for (const name of headers) this.headers.get(operation.id)?.add(`${status} ${name}`);
  }
}

/** How many requests are made to reach a limit. */
const MAX_HASTY = 2000;

/** Returns a request for each operation whose documented 429 was not seen. */
function hastyRequests(
  document: ServedDocument,
  { options, seen }: {
    readonly options: CheckOptions;
    readonly seen: ReadonlyMap<string, ReadonlySet<number>>;
  },
): readonly PlannedRequest[] {
  const { callers, undocumented, seed } = options;
  const caller = callers.find(({ isKnown }) => isKnown) ?? callers[0];
  if (!caller) return [];
  return document.operations
    .filter(({ id, responses }) => responses.has(429) && !seen.get(id)?.has(429))
    .map((operation) => {
      const resolve = (reference: string) => document.resolve(reference);
      const drafts = draftsOf(operation, { resolve, undocumented });
      const [draft] = fc.sample(drafts, { seed, numRuns: 1 }) as [Draft]; // one for each run
      const what = "it is repeated";
      return { operation, verdict: "undecided", what, caller, draft, recall: {} };
    });
}

interface Exchanging {
  readonly document: ServedDocument;
  readonly send: Send;
  readonly options: CheckOptions;
  readonly idle: Set<string>;
}

/**
 * Sends a request, and checks its answer.
 *
 * @throws {WrongAnswer} if it is wrong, or does not come in time
 */
async function exchange(
  planned: PlannedRequest,
  sent: SentRequest,
  { document, send, options, idle }: Exchanging,
): Promise<CheckedAnswer> {
  const { problemType, findLeak, timeoutMs } = options;
  const answer = async () => {
    const response = await sendRequest(send, sent);
    return await checkAnswer({ document, planned, sent, response, problemType, findLeak, idle });
  };
  try {
    return await withTimeLimit(answer(), timeoutMs);
  } catch (error) {
    if (error instanceof WrongAnswer || error instanceof RunEnded) throw error;
    const isLate = error instanceof DOMException && error.name === "TimeoutError";
    const { method, template } = planned.operation;
    throw new WrongAnswer({
      subject: `${method} ${template}`,
      message: isLate ? `no answer in ${timeoutMs} ms` : `the application throws ${error}`,
      details: describeRequest(planned, sent),
    }, { isLate });
  }
}

function headLength(headers: Readonly<Record<string, string>> = {}): number {
  return Object.entries(headers).flat().reduce((length, text) => length + text.length, 0);
}
