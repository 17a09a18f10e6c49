/**
 * Finds runs whose workers are lost.
 *
 * @module
 */
import type { RunningJob } from "../engine.ts";
import { leaseMsOf } from "../lease_id.ts";

/** How often a run is seen without a heartbeat before its worker counts as lost. */
export const MISSED_BEATS = 5;

/**
 * Watches the heartbeats of runs. It counts how often it sees a run without a new one, and reads no
 * clock: neither a change of the clock nor a pause of the whole machine ends a lease.
 */
export class LostRuns {
  /** After how long without a heartbeat a run of this process counts as lost, in milliseconds. */
  readonly #leaseMs: number;
  #seen: ReadonlyMap<string, { readonly beat: number; readonly misses: number }> = new Map();

  /** Watches runs at each beat of a process. */
  constructor({ leaseMs }: { readonly leaseMs: number }) {
    this.#leaseMs = leaseMs;
  }

  /** Compares the runs of others with the last call; returns those whose heartbeats have ceased. */
  note(runs: readonly RunningJob[]): readonly RunningJob[] {
    const seen = new Map(runs.map((run) => {
      const before = this.#seen.get(keyOf(run));
      const misses = before?.beat === run.beat ? before.misses + 1 : 0;
      return [keyOf(run), { beat: run.beat, misses }];
    }));
    this.#seen = seen;
    return runs.filter((run) => seen.get(keyOf(run))!.misses >= this.#allowed(run));
  }

  /** Returns how many looks without a new heartbeat end a lease: its own, but not a shorter one. */
  #allowed({ lease }: RunningJob): number {
    const leases = leaseMsOf(lease) / this.#leaseMs;
    return Math.ceil(MISSED_BEATS * Math.max(1, leases));
  }
}

function keyOf({ seq, lease }: RunningJob): string {
  return `${seq} ${lease}`;
}
