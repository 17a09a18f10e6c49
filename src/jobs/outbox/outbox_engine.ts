/**
 * Jobs in a table of the application's database.
 *
 * @module
 */
import type { CreateInput } from "../../db/model/row.ts";
import type { JsonValue } from "../../db/model/stored_value.ts";
import { type JobsDatabase, tableOf } from "../database.ts";
import { JobClaims } from "./job_claims.ts";
import type {
  AfterLoss,
  ClaimedJob,
  ClaimedKind,
  DueJob,
  EnqueuedJob,
  JobEngine,
  JobFilter,
  JobInfo,
  Lease,
  NewJob,
  PurgeFilter,
  RunEnd,
  RunningJob,
  WaitingKind,
} from "../engine.ts";
import { JobGroups } from "./job_groups.ts";
import { JobLeases } from "./job_leases.ts";
import { infoOf, rowOf } from "./job_row.ts";
import { JOB_TABLE, type JobModel } from "./job_table.ts";
import { JobWrites } from "./job_writes.ts";
import { OutboxSchedules } from "./outbox_schedules.ts";

/** How often the holder of a singleton key may end while it is looked up. */
const MAX_LOOKUPS = 5;
/** How many rows become ready at a time. */
const PROMOTED_ROWS = 1000;
/** How many rows are removed at a time: the transaction must not take long. */
const PURGED_ROWS = 2000;

/** Stores jobs in a table, and leases them by its rows. */
export class OutboxEngine implements JobEngine {
  /** The occurrences of schedules. */
  readonly schedules: OutboxSchedules;
  readonly #writes: JobWrites;
  readonly #claims: JobClaims;
  readonly #groups: JobGroups;
  readonly #leases: JobLeases;

  /**
   * Uses the table of a service. For its claims, workers with a shorter lease wait for `leaseMs`.
   *
   * @throws {TypeError} if the service has no such table
   */
  constructor(db: JobsDatabase, { leaseMs = 0 }: { readonly leaseMs?: number } = {}) {
    const table = tableOf(db, JOB_TABLE);
    if (!table) {
      throw new TypeError(
        "Cannot use jobs: the service lacks their table; add ...jobTables to its models",
      );
    }
    this.#writes = new JobWrites(table);
    this.#claims = new JobClaims(this.#writes, { leaseMs });
    this.#groups = new JobGroups(this.#writes);
    this.#leases = new JobLeases(this.#writes, this.#groups);
    this.schedules = new OutboxSchedules(this.#writes);
  }

  /** Whether the caller is inside a transaction of the database. */
  get isInTransaction(): boolean {
    return this.#writes.connection.isInTransaction;
  }

  /** Runs work that the function of the caller's transaction, if any, has to await. */
  during<T>(work: () => Promise<T>): Promise<T> {
    return this.#writes.connection.during(work);
  }

  /** How many handlers can hold a connection while one is left for the engine. */
  get maxHandlers(): number {
    const { transactionsLock, poolMax } = this.#writes.connection;
    return transactionsLock ? Infinity : poolMax - 1; // where one waits for all others, none is left
  }

  /** Returns the time of the database, or that of `DbOptions.now`. */
  now(): number {
    return this.#writes.clock.now();
  }

  /** Stores a job. */
  async enqueue(job: NewJob): Promise<EnqueuedJob> {
    const id = crypto.randomUUID();
    const { group = null } = job;
    const { clock } = this.#writes;
    const isBlocked = group !== null && await this.#groups.isBusy(group);
    if (job.runAt) await clock.read(); // it decides whether the job is due
    const row = rowOf(job, { id, now: clock.date(), isBlocked });
    const enqueued = await this.#insert(row);
    if (isBlocked) await this.#groups.unblockAfterCommit(group); // those before it may have ended
    return enqueued;
  }

  async #insert(row: CreateInput<JobModel>): Promise<EnqueuedJob> {
    const { id, name, singleton = null } = row;
    const data = [row];
    if (singleton === null) {
      await this.#writes.jobs.createMany({ data });
      return { id, isNew: true };
    }
    for (let lookups = 0; lookups < MAX_LOOKUPS; lookups++) {
      const added = await this.#writes.jobs.createMany({ data, skipDuplicates: true });
      if (added === 1) return { id, isNew: true };
      // a lock reads what was committed after the snapshot of the transaction, and is kept until
      // its end; PostgreSQL seldom needs it, as its statements see what was committed before them
      const { brand } = this.#writes.connection.grammar;
      const needsLock = this.isInTransaction && (brand !== "PostgreSQL" || lookups > 0);
      const lock = needsLock ? { lock: "share" as const } : {};
      const holder = await this.#writes.jobs.findUnique({ where: { singleton }, ...lock });
      if (holder) return { id: holder.id, isNew: false };
    }
    throw new Error(`Cannot enqueue ${name}: the job of its singleton key keeps changing`);
  }

  /** Runs a function inside a transaction. */
  inTransaction<T>(run: () => Promise<T>): Promise<T> {
    return this.#writes.connection.atomically(run);
  }

  /** Calls a function after the commit. */
  afterCommit(callback: () => void): Promise<void> {
    return this.#writes.connection.afterCommit(callback);
  }

  /** Makes jobs ready that are due. */
  async promote(): Promise<number | undefined> {
    const { clock } = this.#writes;
    await clock.read();
    const wait = await this.#nextDue();
    if (wait === undefined || wait > 0) return wait;
    const promoted = await this.#writes.unlocked(
      {
        where: { state: "scheduled", run_at: { lte: clock.date() } },
        orderBy: { run_at: "asc" },
        take: PROMOTED_ROWS,
      },
      (where) => this.#writes.jobs.updateMany({ where, data: { state: "ready" } }),
    );
    const nextMs = await this.#nextDue();
    return promoted === undefined && nextMs === 0 ? undefined : nextMs;
  }

  /** Claims ready jobs. */
  async claim(kinds: readonly ClaimedKind[], take: number): Promise<readonly ClaimedJob[]> {
    if (take <= 0) return [];
    return await this.#claims.claim(kinds, take);
  }

  /** Claims the job of an id. */
  claimOne(kind: ClaimedKind, id: string): Promise<ClaimedJob | undefined> {
    return this.#claims.claimOne(kind, id);
  }

  /** Lists the jobs that could be claimed next. */
  due(kinds: readonly ClaimedKind[], take: number): Promise<readonly DueJob[]> {
    return this.#claims.due(kinds, take);
  }

  /** Ends a run. */
  end(lease: Lease, end: RunEnd): Promise<boolean> {
    return this.#leases.end(lease, end);
  }

  /** Ends runs of one claim whose jobs are done and not locked. */
  done(leases: readonly Lease[]): Promise<readonly Lease[]> {
    return this.#leases.done(leases);
  }

  /** Stores the progress of a run. */
  progress(lease: Lease, progress: JsonValue): Promise<boolean> {
    return this.#leases.progress(lease, progress);
  }

  /** Counts a heartbeat. */
  beat(leases: readonly Lease[]): Promise<void> {
    return this.#leases.beat(leases);
  }

  /** Lists the jobs that run. */
  running(): Promise<readonly RunningJob[]> {
    return this.#leases.running();
  }

  /** Ends the lease of a worker that is lost. */
  reclaim(job: RunningJob, next: AfterLoss): Promise<boolean> {
    return this.#leases.reclaim(job, next);
  }

  /** Returns a job. */
  async find(id: string): Promise<JobInfo | undefined> {
    const row = await this.#writes.jobs.findUnique({ where: { id } });
    return row ? infoOf(row) : undefined;
  }

  /** Lists jobs. */
  async list(
    { states, name, before, take }: JobFilter & { readonly take: number },
  ): Promise<readonly JobInfo[]> {
    const last = before === undefined ? undefined : await this.#seqOf(before);
    const where = {
      ...states && { state: { in: [...states] } },
      ...name !== undefined && { name },
      ...last !== undefined && { seq: { lt: last } },
    };
    const rows = await this.#writes.jobs.findMany({ where, orderBy: { seq: "desc" }, take });
    return rows.map(infoOf);
  }

  /** Counts the jobs that wait. */
  async waitingKinds(): Promise<readonly WaitingKind[]> {
    const groups = await this.#writes.jobs.groupBy({
      by: ["name"],
      where: { state: { in: ["ready", "scheduled"] } },
      _count: true,
      orderBy: { name: "asc" },
    });
    return groups.map(({ name, _count: count }) => ({ name, count }));
  }

  /** Lists jobs that wait. */
  async enqueued(name: string): Promise<readonly JobInfo[]> {
    const where = { name, state: { in: ["ready", "scheduled"] } } as const;
    const rows = await this.#writes.jobs.findMany({ where, orderBy: { seq: "asc" } });
    return rows.map(infoOf);
  }

  /** Cancels a job. */
  async cancel(id: string): Promise<boolean> {
    const waits = { id, state: { in: ["ready", "scheduled"] } } as const;
    const runs = { id, state: "running" } as const;
    // it may begin to run after the first statement, and return to the queue before the second
    for (let turn = 0; turn < 2; turn++) {
      const change = this.#writes.over("cancelled");
      if (await this.#writes.jobs.updateMany({ where: waits, data: change }) > 0) {
        await this.#groups.unblockAfterCommit(await this.#groupOf(id));
        return true;
      }
      if (await this.#writes.jobs.updateMany({ where: runs, data: { cancelling: true } }) > 0) {
        return true;
      }
    }
    return false;
  }

  /** Makes a job ready that is dead or cancelled. */
  async retry(id: string): Promise<boolean> {
    const where = { id, state: { in: ["dead", "cancelled"] } } as const;
    const again = {
      attempts: 0,
      lost: 0,
      progress: null,
      ended_at: null,
      run_at: this.#writes.clock.date(),
    };
    const group = await this.#groupOf(id);
    const blocked = group !== null && await this.#groups.isBusy(group);
    const data = { state: "ready", blocked, ...again } as const;
    if (await this.#writes.jobs.updateMany({ where, data }) === 0) return false;
    if (blocked) await this.#groups.unblockAfterCommit(group);
    return true;
  }

  /** Unblocks jobs that are the first of their groups. */
  unblock(): Promise<void> {
    return this.#groups.search();
  }

  /** Returns when the oldest job was due that waits. */
  async oldest(): Promise<number | undefined> {
    await this.#writes.clock.read();
    const [ready, scheduled] = [await this.#earliest("ready"), await this.#earliest("scheduled")];
    if (scheduled === undefined || scheduled > this.now()) return ready; // or no worker runs
    return Math.min(ready ?? scheduled, scheduled);
  }

  /** Removes jobs. */
  async purge({ states, before, name }: PurgeFilter): Promise<number> {
    const where = {
      state: { in: [...states] },
      ended_at: { lt: before },
      ...name !== undefined && { name },
    };
    const purged = await this.#writes.unlocked(
      { where, orderBy: { ended_at: "asc" }, take: PURGED_ROWS },
      (where) => this.#writes.jobs.deleteMany({ where }),
    );
    return purged ?? 0;
  }

  /** Returns the number of a job. */
  async #seqOf(id: string): Promise<number> {
    const row = await this.#writes.jobs.findUnique({ where: { id }, select: { seq: true } });
    if (row) return row.seq;
    throw new RangeError(`Cannot list jobs before ${id}: it does not exist`);
  }

  /** Returns the group of a job. */
  async #groupOf(id: string): Promise<string | null> {
    const row = await this.#writes.jobs.findUnique({ where: { id }, select: { group_key: true } });
    return row?.group_key ?? null;
  }

  async #earliest(state: "ready" | "scheduled"): Promise<number | undefined> {
    const row = await this.#writes.jobs.findFirst({
      where: { state },
      orderBy: { run_at: "asc" },
      select: { run_at: true },
    });
    return row?.run_at.getTime();
  }

  async #nextDue(): Promise<number | undefined> {
    const dueAt = await this.#earliest("scheduled");
    return dueAt === undefined ? undefined : Math.max(0, dueAt - this.now());
  }
}
