/**
 * Stores the next occurrences of schedules.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { hexOf } from "../../db/connection/codecs.ts";
import type { JsonValue } from "../../db/model/stored_value.ts";
import { waitAfter } from "../backoff.ts";
import type { JobInfo } from "../engine.ts";
import type { JobHandler } from "../job_kind.ts";
import { type Times, timesOf } from "./times.ts";
import { type Plan, planOf, SCHEDULE_PREFIX, ScheduleKind } from "./schedule_kind.ts";
import type { NewOccurrence, ScheduleStore } from "./schedule_store.ts";

/** Options of a {@linkcode Planner}. */
export interface PlannerOptions {
  /** Stores them. */
  readonly store: ScheduleStore;
  /** The handlers of the application, among which are those of its schedules. */
  readonly handlers: ReadonlyMap<string, JobHandler>;
  /** After how long without a heartbeat a worker counts as lost, in milliseconds. */
  readonly leaseMs: number;
}

/** The longest delay of occurrences by a clock that is set back, in milliseconds: a day. */
const MAX_DELAY_MS = 86_400_000;
/** The number of leases after which an occurrence that no process handles is abandoned. */
const ABANDONED_LEASES = 10;
/** The number of calls of `plan` between two searches for abandoned occurrences. */
const LOOKS = 50;
/** The reason of an occurrence that was abandoned. */
const ABANDONED = "no process has handled its schedule";

/**
 * Stores the next occurrence of each schedule: when the one before it has ended, and at each
 * heartbeat if no job has it, such as after the process of a run was killed. Times that have passed
 * meanwhile are one occurrence. Its singleton key and its id, which is of the schedule and the
 * time, guarantee that each is stored once, whatever other processes do.
 */
export class Planner {
  readonly #options: PlannerOptions;
  /** The schedules of the application. */
  readonly #kinds: readonly ScheduleKind[];
  #times: Times = new Map();
  /** When the process has started. */
  #started = 0;
  /** When it has last looked at the stored occurrences. */
  #seen = 0;
  #looks = 0;

  /** Creates a planner of the schedules among the handlers. */
  constructor(options: PlannerOptions) {
    this.#options = options;
    this.#kinds = Array.from(options.handlers.values(), ({ job }) => job)
      .filter((job) => job instanceof ScheduleKind);
  }

  /**
   * Reads the patterns, and the time; it must be called before `plan`.
   *
   * @throws {TypeError} if a pattern is invalid or matches no time, or `croner` is not installed
   * @throws {DbError} if the database fails
   */
  async load(): Promise<void> {
    if (this.#kinds.length === 0) return;
    this.#times = await timesOf(this.#kinds);
    this.#seen = this.#started = await this.#options.store.clock.read();
  }

  /**
   * Adds the missing occurrences, and replaces those of other patterns: at the first call all of
   * them, later only those of processes that started earlier.
   */
  async plan(): Promise<void> {
    const { store } = this.#options;
    const now = await store.clock.read();
    const isFirst = this.#looks === 0;
    const stored = await store.holders(this.#kinds.map(({ singleton }) => singleton));
    for (const kind of this.#kinds) {
      const job = stored.find(({ name }) => name === kind.name);
      if (!job) await this.#add(kind, this.#afterEnd(await store.lastEnded(kind.name)));
      else if (this.#isOutdated(kind, { job, isFirst })) {
        await store.remove(job);
        await this.#add(kind, now);
      }
    }
    if (this.#looks++ % LOOKS === 0) await this.#abandon();
    this.#seen = now;
  }

  /** Adds the next occurrence after one that has ended, and may have been removed since. */
  async follow(claimed: JobInfo): Promise<void> {
    const { store } = this.#options;
    const kind = this.#kinds.find((kind) => kind.name === claimed.name);
    if (!kind) return;
    const ended = await store.find(claimed.id) ??
      { ...claimed, endedAt: new Date(store.clock.now()) };
    await this.#add(kind, this.#afterEnd(ended));
  }

  /** Adds the first occurrence after a time that was not stored before. */
  async #add(kind: ScheduleKind, after: number): Promise<void> {
    const { store } = this.#options;
    const nextTime = this.#times.get(kind.name)!; // it has those of all kinds
    let due = nextTime(after);
    for (;;) {
      const occurrence = await this.#occurrence(kind, due);
      if (await store.add(occurrence)) return;
      if ((await store.holders([kind.singleton])).length > 0) return;
      if (await store.find(occurrence.id)) due = nextTime(due);
    }
  }

  async #occurrence(kind: ScheduleKind, due: number): Promise<NewOccurrence> {
    const { name, pattern, timeZone, singleton, settings: { priority } } = kind;
    const planned = this.#options.store.clock.now();
    const plan: Plan = { due, planned, started: this.#started, pattern, timeZone };
    return {
      id: await idOf(`${name} ${due}`),
      name,
      body: plan as unknown as JsonValue, // an interface has no index signature
      priority,
      runAt: new Date(due),
      singleton,
      group: undefined,
      trace: undefined,
    };
  }

  /** Returns the time after which a schedule is due whose last occurrence has ended. */
  #afterEnd(last: JobInfo | undefined): number {
    const now = this.#options.store.clock.now();
    const plan = last && planOf(last.body);
    if (!plan || !last.endedAt) return Math.min(this.#seen, now);
    if (last.reason === ABANDONED) return plan.due - 1; // it was missed
    const ended = last.endedAt.getTime();
    const latest = last.attempts > 0 ? Math.max(plan.due, ended) : ended;
    if (latest > now + MAX_DELAY_MS) return now; // the clock was set back
    return Math.max(plan.due, ended);
  }

  /** Checks whether an occurrence has another pattern, or a time of a clock that was set back. */
  #isOutdated(
    { pattern, timeZone, settings }: ScheduleKind,
    { job: { state, attempts, body, runAt }, isFirst }: {
      readonly job: JobInfo;
      readonly isFirst: boolean;
    },
  ): boolean {
    const plan = planOf(body);
    const now = this.#options.store.clock.now();
    if (!plan || state !== "scheduled") return false;
    // a retry keeps its time
    if (attempts > 0) {
      return runAt.getTime() > now + MAX_DELAY_MS + waitAfter(attempts, settings);
    }
    if (plan.due <= now) return false; // it has its run
    if (plan.planned > now + MAX_DELAY_MS) return true;
    const isSame = plan.pattern === pattern && plan.timeZone === timeZone;
    return !isSame && (isFirst || plan.started < this.#started);
  }

  /** Cancels the occurrences of schedules that no process has anymore. */
  async #abandon(): Promise<void> {
    const { store, leaseMs } = this.#options;
    const names = await store.abandon({
      prefix: SCHEDULE_PREFIX,
      except: this.#kinds.map(({ name }) => name),
      before: new Date(store.clock.now() - ABANDONED_LEASES * leaseMs),
      reason: ABANDONED,
    });
    for (const name of names) {
      getLogger(["fw", "jobs"]).warn(`An occurrence of {name} is cancelled: ${ABANDONED}`, {
        name,
      });
    }
  }
}

/** Returns a UUID of version 8 for a text (RFC 9562 §5.8). */
async function idOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const bytes = new Uint8Array(digest, 0, 16);
  bytes[6] = bytes[6]! & 0x0f | 0x80;
  bytes[8] = bytes[8]! & 0x3f | 0x80;
  return hexOf(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
