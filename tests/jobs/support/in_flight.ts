/** Counts what runs at the same time. */
import { setTimeout as delay } from "node:timers/promises";

/** What runs, and what has ended. */
export interface InFlight {
  /** The most that ran at a time. */
  readonly most: number;
  /** The keys of what has ended, in that order. */
  readonly ended: readonly string[];
  /** Runs for a few milliseconds under a key, then does the work. */
  readonly during: (key: string, work?: () => void) => Promise<void>;
}

/** Begins to count. Each run waits until `together` have run at the same time. */
export function inFlight({ together = 1 } = {}): InFlight {
  let running = 0;
  let most = 0;
  const ended: string[] = [];
  return {
    get most() {
      return most;
    },
    ended,
    async during(key, work) {
      most = Math.max(most, ++running);
      try {
        do await delay(3 + Math.random() * 10); while (most < together);
        work?.();
      } finally {
        running--;
        ended.push(key);
      }
    },
  };
}
