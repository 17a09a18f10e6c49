/**
 * The jobs that a worker hands over to a queue.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { ClaimedKind, JobEngine } from "../engine.ts";
import type { JobConsumer, JobQueue, JobRelay } from "../relay/relay.ts";

/** Options of a {@linkcode HandOver}. */
export interface HandOverOptions extends JobConsumer {
  /** Opens the queue. */
  readonly relay: JobRelay;
  /** The jobs. */
  readonly engine: JobEngine;
  /** The kinds that are handed over. */
  readonly kinds: readonly ClaimedKind[];
  /** After how long a job that is still due is handed over again, in milliseconds. */
  readonly pollMs: number;
}

/** How many jobs wait in the queue for each that this process runs at a time. */
const AHEAD = 10;

/**
 * Hands the first jobs that are due over to a queue. They stay as they are in the table until the
 * queue delivers them and they are claimed: nothing is noted that a crash could leave behind.
 */
export class HandOver {
  readonly #options: HandOverOptions;
  #opening: Promise<JobQueue> | undefined;
  #queue: JobQueue | undefined;
  /** How many jobs wait in the queue at most. */
  readonly #take: number;
  /** When jobs that are due were handed over. */
  #handedMs: ReadonlyMap<string, number> = new Map();
  /** What has failed since jobs were last added, or since it last succeeded. */
  readonly #failing = new Set<"add" | "count">();

  /** Prepares to hand jobs over. */
  constructor(options: HandOverOptions) {
    this.#options = options;
    this.#take = AHEAD * options.concurrency;
  }

  /** Opens the queue, once; after a failure, the next call tries again. */
  async open(): Promise<void> {
    if (!this.#opening) {
      this.#opening = this.#options.relay.open();
      this.#opening.catch(() => this.#opening = undefined);
    }
    this.#queue = await this.#opening;
  }

  /** Begins to run jobs that the queue delivers. */
  consume(): void {
    this.#queue?.consume(this.#options);
  }

  /** Checks whether enough jobs wait in the queue, or none can be added. */
  async hasEnough(): Promise<boolean> {
    const count = await this.#ask("count", (queue) => queue.count());
    return count === undefined || count >= this.#take / 2;
  }

  /** Adds the jobs that are due; those that it still has not run after `pollMs`, again. */
  async handOver(): Promise<void> {
    const { engine, kinds, pollMs } = this.#options;
    const due = await engine.due(kinds, this.#take);
    const nowMs = performance.now();
    const before = this.#handedMs;
    const added = due.filter(({ id }) => nowMs - (before.get(id) ?? -Infinity) >= pollMs);
    const add = (queue: JobQueue) => queue.add(added);
    if (added.length > 0 && await this.#ask("add", add) === undefined) return;
    const addedIds = new Set(added.map(({ id }) => id));
    this.#handedMs = new Map(
      due.map(({ id }) => [id, addedIds.has(id) ? nowMs : before.get(id) ?? nowMs]),
    );
  }

  /** Returns an answer of the queue, or `undefined` if it fails, which is logged once. */
  async #ask<T>(
    what: "add" | "count",
    ask: (queue: JobQueue) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      const answer = await ask(this.#queue!); // `open` comes first
      if (what === "add") this.#failing.clear();
      else this.#failing.delete(what);
      return answer;
    } catch (error) {
      const log = getLogger(["fw", "jobs"]);
      if (this.#failing.size === 0) log.error("Jobs cannot be handed over: {error}", { error });
      this.#failing.add(what);
      return undefined;
    }
  }

  /** Begins no more runs. */
  pause(): void {
    this.#queue?.pause();
  }

  /** Closes the queue, within `limitMs` milliseconds. */
  async close(limitMs: number): Promise<void> {
    const queue = await this.#opening?.catch(() => undefined); // one that fails is not open
    await queue?.close(limitMs);
  }
}
