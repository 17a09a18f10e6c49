/**
 * Finds runs whose workers are lost.
 *
 * @module
 */
import type { RunningJob } from "../engine.ts";

/** How often a run is seen without a heartbeat before its worker counts as lost. */
export const MISSED_BEATS = 5;

/**
 * Watches the heartbeats of runs. It counts how often it sees a run without a new one, and reads no
 * clock: neither a change of the clock nor a pause of the whole machine ends a lease.
 */
export class LostRuns {
  #seen: ReadonlyMap<string, { readonly beat: number; readonly misses: number }> = new Map();

  /** Compares the runs of others with the last call; returns those whose heartbeats have ceased. */
  note(runs: readonly RunningJob[]): readonly RunningJob[] {
    const seen = new Map(runs.map((run) => {
      const before = this.#seen.get(keyOf(run));
      const misses = before?.beat === run.beat ? before.misses + 1 : 0;
      return [keyOf(run), { beat: run.beat, misses }];
    }));
    this.#seen = seen;
    return runs.filter((run) => seen.get(keyOf(run))!.misses >= MISSED_BEATS);
  }
}

function keyOf({ seq, lease }: RunningJob): string {
  return `${seq} ${lease}`;
}
