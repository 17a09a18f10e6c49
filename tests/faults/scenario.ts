/** What the suite of faults runs, and what it reports. */
import type { RuntimeName } from "./server/instance.ts";

/** A fault that a running application must endure. */
export interface Scenario {
  /** What is broken, for example `PostgreSQL: killed and started`. */
  readonly fault: string;
  /** Whether the quick part has it, with smaller numbers. */
  readonly isQuick?: boolean;
  /** The runtimes that it concerns; all by default. */
  readonly runtimes?: readonly RuntimeName[];
  /** Injects the fault; rejects if it could not be injected. */
  run(given: Given): Promise<Outcome>;
}

/** What a scenario runs with. */
export interface Given {
  readonly runtime: RuntimeName;
  /** Whether this is the quick part: seconds and hundreds in place of minutes and thousands. */
  readonly isQuick: boolean;
  /** What random choices begin with: the same seed makes the same choices. */
  readonly seed: number;
  /** How long a long run takes, unless as long as it should. */
  readonly minutes?: number;
}

/** What a scenario has found. */
export interface Outcome {
  /** How often the fault was injected: kills, hostile requests, connections. */
  readonly injected: number;
  /** The requests beside it. */
  readonly requests: number;
  /** How many of the requests were answered as they should be. */
  readonly asExpected: number;
  /** Acknowledged writes that are not in the database exactly once; none where nothing is written. */
  readonly lost?: number;
  /** From the end of the fault to the first success, in milliseconds. */
  readonly recoveryMs?: number;
  /** Figures for the reader, for example `memory 81 MiB`. */
  readonly note?: string;
  /** Why it could not be injected here, such as a missing server; then nothing was tested. */
  readonly skipped?: string;
  /** Why it failed; empty if it did not. */
  readonly failures: readonly string[];
}

/** The outcome of a fault that cannot be injected here. */
export function skipped(reason: string): Outcome {
  return { injected: 0, requests: 0, asExpected: 0, skipped: reason, failures: [] };
}
