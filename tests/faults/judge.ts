/** Decides which answers of a load are as they should be, around a fault. */
import type { Answer, Load } from "./load.ts";
import type { Outcome } from "./scenario.ts";

/** When the application was broken, in milliseconds of `performance.now()`. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** The longest time from the end of a fault until the last answer that is a 503. */
const SETTLING_MS = 5_000;
/** A request that is refused after so long met a limit in time: a cold or busy machine, not a fault. */
const LIMIT_MS = 1_500;

/**
 * Counts the answers as they should be: successes; and, if a request met the fault or a limit in
 * time before it, also a problem document with the status 503. Every answer has to arrive before the
 * deadline of the load.
 */
export function judge(load: Load, broken: Interval): Pick<
  Outcome,
  "requests" | "asExpected" | "failures"
> {
  const wrong = load.answers.filter((answer) => !isExpected(answer, broken));
  return {
    requests: load.answers.length,
    asExpected: load.answers.length - wrong.length,
    failures: [...new Set(wrong.map(describe))].slice(0, 5),
  };
}

function isExpected(answer: Answer, { from, to }: Interval): boolean {
  const { status, isProblem, sentAt, answeredAt } = answer;
  if (status >= 200 && status < 300) return true;
  const metFault = answeredAt >= from && sentAt <= to + SETTLING_MS;
  const metLimit = answeredAt < from && answeredAt - sentAt >= LIMIT_MS;
  return (metFault || metLimit) && status === 503 && isProblem;
}

function describe({ what, status, detail }: Answer): string {
  return `${what}: ${status || "no answer"} ${detail.replace(/,"requestId":"[^"]*"/, "")}`;
}
