/**
 * The storage of jobs, which leases them to workers.
 *
 * @module
 */
import type { JsonValue } from "../db/model/stored_value.ts";

/**
 * The state of a job: `scheduled` until its time comes, then `ready`; `running`; and in the end
 * `done`, `dead` (a dead letter) or `cancelled`.
 */
export type JobState = "ready" | "scheduled" | "running" | "done" | "dead" | "cancelled";

/** The span that has enqueued a job (W3C Trace Context §3.2). */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** 1 if the trace is recorded, else 0. */
  readonly traceFlags: number;
}

/** A job to store. */
export interface NewJob {
  /** The name of its kind. */
  readonly name: string;
  /** Its payload. */
  readonly body: JsonValue;
  /** Its priority: the largest runs first. */
  readonly priority: number;
  /** When it is due; at once if it is `undefined`. */
  readonly runAt: Date | undefined;
  /** Its singleton key. */
  readonly singleton: string | undefined;
  /** Its group. */
  readonly group: string | undefined;
  /** The span that enqueues it. */
  readonly trace: TraceParent | undefined;
}

/** The result of enqueuing a job. */
export interface EnqueuedJob {
  /** Its id, or that of the job that has its singleton key. */
  readonly id: string;
  /** Whether it was stored. */
  readonly isNew: boolean;
}

/** A stored job. */
export interface JobInfo {
  /** Its id, a UUID. */
  readonly id: string;
  /** The name of its kind. */
  readonly name: string;
  /** Its state. */
  readonly state: JobState;
  /** Its payload, as it is stored. */
  readonly body: JsonValue;
  /** Its priority. */
  readonly priority: number;
  /** When it is due, or was. */
  readonly runAt: Date;
  /** When it was enqueued. */
  readonly enqueuedAt: Date;
  /** When it has ended; `null` until then. */
  readonly endedAt: Date | null;
  /** How many of its runs have begun, except those that a stop has returned to the queue. */
  readonly attempts: number;
  /** What its run has reported last; `null` if nothing. */
  readonly progress: JsonValue;
  /** Why its last run has failed; `null` if none has. */
  readonly reason: string | null;
  /** The span that has enqueued it; `null` without one. */
  readonly trace: TraceParent | null;
}

/** Selects the jobs of a list: those that match every property. */
export interface JobFilter {
  /** Their states; all by default. */
  readonly states?: readonly JobState[] | undefined;
  /** The name of their kind; all kinds by default. */
  readonly name?: string | undefined;
  /** The id of a job: only those that were enqueued before it, as for the next page. */
  readonly before?: string | undefined;
  /** How many at most, from 1 to 1000; default 100. */
  readonly take?: number | undefined;
}

/** Selects the jobs to remove, among those that have ended: those that match every property. */
export interface PurgeFilter {
  /** Their states. */
  readonly states: readonly ("done" | "dead" | "cancelled")[];
  /** They ended before this time. */
  readonly before: Date;
  /** The name of their kind; all kinds by default. */
  readonly name?: string | undefined;
}

/** A kind of job of which jobs wait. */
export interface WaitingKind {
  /** The name of the kind. */
  readonly name: string;
  /** How many of its jobs wait. */
  readonly count: number;
}

/** The claim of a worker on a job: once it has ended, it changes nothing. */
export interface Lease {
  /** The number of the job. */
  readonly seq: number;
  /** The claim. */
  readonly lease: string;
  /** The group of the job; `null` without one. */
  readonly group: string | null;
}

/** A job that a worker has claimed. */
export interface ClaimedJob extends Lease {
  /** The job. */
  readonly info: JobInfo;
  /** How many of its runs were lost with their worker. */
  readonly lost: number;
}

/** A job that is ready. */
export interface DueJob {
  /** Its id. */
  readonly id: string;
  /** The name of its kind. */
  readonly name: string;
  /** Its priority. */
  readonly priority: number;
}

/** A kind of job that a worker runs. */
export interface ClaimedKind {
  /** The name. */
  readonly name: string;
  /** How many of the kind may run at a time, in all processes together. */
  readonly globalConcurrency: number | undefined;
}

/** A job that runs, in any process, with its last heartbeat. */
export interface RunningJob extends Lease {
  /** The name of its kind. */
  readonly name: string;
  /** The number of its heartbeats. */
  readonly beat: number;
  /** How many of the job's runs were lost before. */
  readonly lost: number;
  /** Whether its run must be cancelled. */
  readonly cancelling: boolean;
}

/**
 * How a run ends: the state of its job, or `released` if the job returns to the queue as if the run
 * had not begun. One that runs again keeps its priority unless it gets another.
 */
export type RunEnd =
  | { readonly state: "done" | "cancelled" }
  | { readonly state: "dead"; readonly reason: string }
  | {
    readonly state: "scheduled";
    readonly reason: string;
    readonly runAt: Date;
    readonly priority?: number | undefined;
  }
  | { readonly state: "released"; readonly priority?: number | undefined };

/** What becomes of a job whose worker was lost: a dead letter, or it runs again after a wait. */
export type AfterLoss = { readonly deadBecause: string } | { readonly waitMs: number };

/**
 * Stores jobs and leases them. A lease has no time: a run ends it, or another worker does that has
 * seen no heartbeat of it for too long on its own clock, so that no change of a clock ends one.
 */
export interface JobEngine {
  /**
   * How many handlers can hold a connection while one is left for heartbeats and the ends of runs;
   * `Infinity` where a transaction of a handler is alone in any case.
   */
  readonly maxHandlers: number;

  /**
   * Returns the time of the database, or that of `DbOptions.now`, in milliseconds since the epoch.
   */
  now(): number;

  /**
   * Stores a job, in the transaction of the caller if there is one; returns its id, or that of the
   * job that has its singleton key.
   */
  enqueue(job: NewJob): Promise<EnqueuedJob>;

  /** Runs a function inside the transaction of the caller, or inside a new one. */
  inTransaction<T>(run: () => Promise<T>): Promise<T>;

  /** Calls a function once what the caller has enqueued is committed. */
  afterCommit(callback: () => void): Promise<void>;

  /**
   * Makes the jobs ready that are due; returns how many milliseconds the next one is away,
   * `undefined` without one.
   */
  promote(): Promise<number | undefined>;

  /** Claims ready jobs, at most `take`. */
  claim(kinds: readonly ClaimedKind[], take: number): Promise<readonly ClaimedJob[]>;

  /** Claims the job of an id if it could be claimed next; of a group, only the first could. */
  claimOne(kind: ClaimedKind, id: string): Promise<ClaimedJob | undefined>;

  /** Lists the jobs that could be claimed next, at most `take`, in that order. */
  due(kinds: readonly ClaimedKind[], take: number): Promise<readonly DueJob[]>;

  /** Ends a run; returns whether it still had its lease. */
  end(lease: Lease, end: RunEnd): Promise<boolean>;

  /**
   * Ends runs of one claim whose jobs are done, together, without those whose leases are lost or
   * whose jobs a transaction has locked; returns those that it has ended.
   */
  done(leases: readonly Lease[]): Promise<readonly Lease[]>;

  /** Stores the progress of a run; returns whether it still has its lease. */
  progress(lease: Lease, progress: JsonValue): Promise<boolean>;

  /** Counts a heartbeat of runs. */
  beat(leases: readonly Lease[]): Promise<void>;

  /** Lists the jobs that run, in all processes. */
  running(): Promise<readonly RunningJob[]>;

  /** Ends a lease whose heartbeats have ceased. */
  reclaim(job: RunningJob, next: AfterLoss): Promise<boolean>;

  /** Returns a job, if there is one of the id. */
  find(id: string): Promise<JobInfo | undefined>;

  /** Lists jobs, those that were enqueued last first. */
  list(filter: JobFilter & { readonly take: number }): Promise<readonly JobInfo[]>;

  /** Counts the jobs that wait, by their kinds, in the order of their names. */
  waitingKinds(): Promise<readonly WaitingKind[]>;

  /** Lists the jobs of a kind that wait, in the order in which they were enqueued. */
  enqueued(name: string): Promise<readonly JobInfo[]>;

  /** Cancels a job; returns whether it had not ended. */
  cancel(id: string): Promise<boolean>;

  /** Makes a job that is dead or cancelled ready again; returns whether it was. */
  retry(id: string): Promise<boolean>;

  /**
   * Returns when the oldest job was due that is ready, or would be if a worker ran, in milliseconds
   * since the epoch; `undefined` without one.
   */
  oldest(): Promise<number | undefined>;

  /**
   * Unblocks jobs that are the first of their groups, but are still blocked because a process was
   * killed, or rows were removed by hand; looks at some groups in each call.
   */
  unblock(): Promise<void>;

  /** Removes some of the jobs that have ended; returns how many. */
  purge(filter: PurgeFilter): Promise<number>;
}
