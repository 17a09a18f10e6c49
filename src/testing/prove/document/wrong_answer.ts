/**
 * Answers that are not as documented, and the requests that lead to them.
 *
 * @module
 */
import type { Failure } from "../part.ts";
import { curl } from "../request/exchange_lines.ts";
import type { PlannedRequest } from "../request/planned_request.ts";
import type { SentRequest } from "../request/sent_request.ts";

/** An answer that is wrong. */
export class WrongAnswer extends Error {
  /** The route, the fault, and the request and its answer. */
  readonly failure: Failure;
  /** Whether the answer did not come in time. */
  readonly isLate: boolean;

  /** Creates an error of a failure. */
  constructor(failure: Failure, { isLate = false }: { readonly isLate?: boolean } = {}) {
    const { subject, message, details = [] } = failure;
    super([`${subject}: ${message}`, ...details].join("\n  "));
    this.name = "WrongAnswer";
    this.failure = failure;
    this.isLate = isLate;
  }

  /** Whether another answer is wrong in the same way. */
  isLike({ failure }: WrongAnswer): boolean {
    return failure.subject === this.failure.subject && failure.message === this.failure.message;
  }
}

/** Describes a request: its verdict, and a `curl` command that sends it. */
export function describeRequest(
  { verdict, what, caller }: PlannedRequest,
  sent: SentRequest,
): readonly string[] {
  const reason = what === "nothing" ? "" : `, as ${what.slice(0, 200)}`;
  return [`# ${verdict} by the document${reason}; by ${caller.name}`, curl(sent, caller)];
}
