/**
 * The part `document`: requests from the OpenAPI document, and answers as it documents them.
 *
 * @module
 */
import {
  ANONYMOUS,
  type Caller,
  type Failure,
  type Part,
  type PartResult,
  type ProveContext,
  type StartedApplication,
} from "../part.ts";
import { changedLines, type Lines, writeLines } from "../recorded.ts";
import { findWrongAnswers, type TrialResult } from "./check_answers.ts";
import { leakFinder } from "./leaks.ts";
import type { ServedDocument } from "../request/served_document.ts";
import { withDocument } from "../request/with_document.ts";

/** How many failures are reported: each is reproduced, which takes seconds. */
const MAX_FAILURES = 10;

/** Makes requests from the document, and checks the answers. */
export const documentPart: Part = { name: "document", run };

function run(context: ProveContext): Promise<PartResult> {
  return withDocument(context, (started, document) => check(context, { started, document }));
}

/** An application and its document. */
interface Subject {
  readonly started: StartedApplication;
  readonly document: ServedDocument;
}

async function check(
  context: ProveContext,
  { started, document }: Subject,
): Promise<PartResult> {
  const { options, seed, requests, timeoutMs, reduceMs } = context;
  const { undocumented, problemType, secrets } = options;
  const restart = async () => {
    const again = await context.start();
    return Object.assign(again, { callers: callersOf(again) });
  };
  const { failures, ...result } = await findWrongAnswers({
    document,
    send: started.send,
    sendHastily: started.sendHastily,
    ...reduceMs > 0 && { reduction: { restart, reduceMs } },
    maxFailures: MAX_FAILURES,
  }, {
    callers: callersOf(started),
    undocumented,
    problemType,
    timeoutMs,
    findLeak: leakFinder(secrets),
    requests,
    seed,
  });
  const { documented, unreached, unsent } = coverageOf(document, result);
  const missing: Lines = new Map([...unreached, ...unsent]);
  const { recorded } = context;
  const listed = context.isAsRecorded || !Array.isArray(recorded) ? missing.size : recorded.length;
  return {
    checked: `${grouped(result.answers)} requests`,
    outcome: "every answer as documented, no 5xx; " +
      `${documented - unreached.size} of ${documented} (operation, status) pairs seen` +
      (listed > 0 ? `, ${listed} listed in prove.json` : ""),
    failures: [
      ...failures.map(({ failure }) => failure),
      ...coverageChanges(missing, context),
    ],
    ...result.limited > result.answers / 10 && {
      notes: [
        `${grouped(result.limited)} answers were 429: raise the limits of callers in setUp`,
      ],
    },
    record: writeLines(missing),
  };
}

function callersOf({ callers, forger }: StartedApplication): readonly Caller[] {
  const others = [ANONYMOUS, forger].map((caller) => ({ ...caller, isLimited: true }));
  return [...others, ...callers];
}

/**
 * Returns the number of documented statuses, those that were not seen, and the documented headers
 * of the others that no answer had.
 */
function coverageOf(
  { operations }: ServedDocument,
  { seen, headers }: TrialResult,
): { readonly documented: number; readonly unreached: Lines; readonly unsent: Lines } {
  const pairs = operations.flatMap(({ id, method, template, responses }) =>
    [...responses].map(([status, response]) => ({
      key: `${method} ${template} ${status}`,
      order: `${template} ${method} ${status}`,
      isSeen: seen.get(id)?.has(status) ?? false,
      missing: [...response.headers.keys()]
        .filter((name) => !headers.get(id)?.has(`${status} ${name}`)),
    }))
  ).toSorted((a, b) => a.order < b.order ? -1 : 1);
  const unreached = pairs.filter(({ isSeen }) => !isSeen);
  const unsent = pairs.filter(({ isSeen }) => isSeen)
    .flatMap(({ key, missing }) => missing.map((name) => `${key} ${name}`));
  return {
    documented: pairs.length,
    unreached: new Map(unreached.map(({ key }) => [key, "unreached"])),
    unsent: new Map(unsent.map((key) => [key, "unsent"])),
  };
}

/** Compares what was not reached or sent with `prove.json`, if the seed is that of it. */
function coverageChanges(missing: Lines, context: ProveContext): readonly Failure[] {
  if (!context.isAsRecorded) return [];
  return changedLines(missing, context.recorded).map(({ key, was, is }) => {
    const done = (is ?? was) === "unsent" ? "sent" : "reached";
    return {
      subject: key,
      message: is === undefined
        ? `is ${done}, or not documented, and prove.json lists it; --update removes it`
        : `is not ${done}, and prove.json does not list it; --update does`,
    };
  });
}

function grouped(number: number): string {
  return String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, " ");
}
