/**
 * The state of a job after a run.
 *
 * @module
 */
import type { RunResult } from "./active_run.ts";
import { waitAfter } from "../backoff.ts";
import { RunEnding } from "../run_ending.ts";
import type { ClaimedJob, RunEnd } from "../engine.ts";
import type { JobSettings } from "../job_kind.ts";

/** The longest reason that is stored, in UTF-16 units. */
const MAX_REASON = 1000;

/**
 * Returns how a run ends: the job is done, waits for its next run, is a dead letter, is cancelled,
 * or returns to the queue; `undefined` if another worker has it, or will have it.
 */
export function outcomeOf(
  result: RunResult,
  { claimed, settings, now }: {
    readonly claimed: ClaimedJob;
    readonly settings: JobSettings;
    readonly now: number;
  },
): RunEnd | undefined {
  if (result.isDone) {
    const { invalid } = result;
    return invalid === undefined ? { state: "done" } : { state: "dead", reason: stored(invalid) };
  }
  if (result.cause === "lost" || result.cause === "crashed") return undefined;
  if (result.cause === "stopped") return { state: "released" };
  if (result.cause === "cancelled") return { state: "cancelled" };
  const end = result.error instanceof RunEnding ? result.error.end : undefined;
  if (end && end.state !== "failed") return end;
  const failures = claimed.info.attempts - claimed.lost;
  const reason = reasonOf(end?.error ?? result.error);
  if (failures > settings.retries) return { state: "dead", reason };
  const runAt = new Date(now + waitAfter(failures, settings));
  return { state: "scheduled", reason, runAt, priority: end?.priority };
}

/** Returns an error as text; its getters can throw, too. */
function reasonOf(error: unknown): string {
  try {
    return stored(error instanceof Error ? `${error.name}: ${error.message}` : textOf(error));
  } catch {
    return "an error was thrown that has no readable text";
  }
}

function textOf(thrown: unknown): string {
  return typeof thrown === "object" ? "an object was thrown" : String(thrown); // it may have no text
}

/** Returns a text as every database stores it. */
function stored(text: string): string {
  return text.replaceAll("\0", "").slice(0, MAX_REASON).toWellFormed();
}
