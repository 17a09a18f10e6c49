/**
 * Runs whose jobs are done, whose ends are stored together.
 *
 * @module
 */
import { setImmediate } from "node:timers";
import type { JobEngine, Lease } from "../engine.ts";

/** The part of an engine that ends runs. */
type Ends = Pick<JobEngine, "done" | "end">;

/** A run that waits for its end to be stored. */
interface Ending extends PromiseWithResolvers<boolean> {
  readonly lease: Lease;
}

/**
 * Stores by one statement the ends of the runs of a claim that end in the same turn of the event
 * loop.
 */
export class DoneRuns {
  readonly #engine: Ends;
  #endings: Ending[] = [];

  /** Ends runs of the jobs of an engine. */
  constructor(engine: Ends) {
    this.#engine = engine;
  }

  /** Ends a run; returns whether it still had its lease. */
  end(lease: Lease): Promise<boolean> {
    const ending = { lease, ...Promise.withResolvers<boolean>() };
    if (this.#endings.push(ending) === 1) void turn().then(() => this.#storeAll());
    return ending.promise;
  }

  #storeAll(): void {
    const claims = Map.groupBy(this.#endings, ({ lease }) => lease.lease);
    this.#endings = [];
    for (const endings of claims.values()) void this.#store(endings);
  }

  /** Stores the ends of runs of one claim. */
  async #store(endings: readonly Ending[]): Promise<void> {
    const leases = endings.map(({ lease }) => lease);
    try {
      const ended = new Set(leases.length > 1 ? await this.#engine.done(leases) : []);
      for (const { lease, resolve, reject } of endings) {
        if (ended.has(lease)) resolve(true);
        // lost, or locked by a transaction, whose end it waits for
        else this.#engine.end(lease, { state: "done" }).then(resolve, reject);
      }
    } catch (error) {
      for (const { reject } of endings) reject(error);
    }
  }
}

/** Resolves at the end of this turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
