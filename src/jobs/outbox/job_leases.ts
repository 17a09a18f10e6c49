/**
 * The leases of the runs of jobs.
 *
 * @module
 */
import type { UpdateInput } from "../../db/model/row.ts";
import type { JsonValue } from "../../db/model/stored_value.ts";
import type { AfterLoss, Lease, RunEnd, RunningJob } from "../engine.ts";
import type { JobGroups } from "./job_groups.ts";
import { endDone } from "./job_picks.ts";
import type { JobModel } from "./job_table.ts";
import { type JobWrites, UNLEASED } from "./job_writes.ts";

/** Renews leases and ends them. */
export class JobLeases {
  readonly #writes: JobWrites;
  readonly #groups: JobGroups;

  /** Uses the rows of a table. */
  constructor(writes: JobWrites, groups: JobGroups) {
    this.#writes = writes;
    this.#groups = groups;
  }

  /** Ends a run; returns whether it still had its lease. */
  async end(lease: Lease, end: RunEnd): Promise<boolean> {
    if (end.state === "scheduled" || end.state === "released") {
      const requeue = () => this.#requeue(lease, requeued(end));
      return await (lease.group === null ? requeue() : this.#writes.atomically(requeue));
    }
    await this.#groups.unblock([lease.group]); // first, so that no kill is between the two
    const reason = end.state === "dead" ? { reason: end.reason } : {};
    return await this.#writes.change(held(lease), { ...this.#writes.over(end.state), ...reason });
  }

  /** Ends runs of one claim that are done and not locked; returns them. */
  async done(leases: readonly Lease[]): Promise<readonly Lease[]> {
    await this.#groups.unblock(leases.map(({ group }) => group));
    const ended = new Set(await this.#done(leases));
    return leases.filter(({ seq }) => ended.has(seq));
  }

  async #done(leases: readonly Lease[]): Promise<readonly number[]> {
    const { table, jobs } = this.#writes;
    const [{ lease }] = leases as readonly [Lease];
    const seqs = leases.map(({ seq }) => seq);
    if (table.connection.grammar.returning) {
      return await endDone(table, { seqs, lease, at: this.#writes.clock.date() });
    }
    const where = { seq: { in: seqs }, lease, state: "running" } as const;
    const ended = await this.#writes.unlocked({ where }, async (where) => {
      await jobs.updateMany({ where, data: this.#writes.over("done") });
      return where.seq.in;
    });
    return ended ?? [];
  }

  /** Stores the progress of a run, outside the transaction of its handler. */
  progress(lease: Lease, progress: JsonValue): Promise<boolean> {
    const { connection } = this.#writes;
    return connection.outside(() => this.#writes.change(held(lease), { progress }));
  }

  /** Counts a heartbeat. */
  async beat(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return;
    const where = {
      seq: { in: leases.map(({ seq }) => seq) },
      lease: { in: [...new Set(leases.map(({ lease }) => lease))] },
      state: "running",
    } as const;
    const data = { beat: { increment: 1 } };
    const { jobs } = this.#writes;
    await this.#writes.unlocked({ where }, (where) => jobs.updateMany({ where, data }));
  }

  /** Lists the jobs that run. */
  async running(): Promise<readonly RunningJob[]> {
    const rows = await this.#writes.jobs.findMany({
      where: { state: "running" },
      select: {
        seq: true,
        lease: true,
        group_key: true,
        name: true,
        beat: true,
        lost: true,
        cancelling: true,
      },
    });
    return rows.map(({ lease, group_key: group, ...row }) => ({
      ...row,
      group,
      lease: lease ?? "",
    }));
  }

  /** Ends the lease of a worker that is lost. */
  async reclaim(run: RunningJob, next: AfterLoss): Promise<boolean> {
    const isDead = "deadBecause" in next;
    if (isDead) await this.#groups.unblock([run.group]);
    const change = { ...this.#afterLoss(next), lost: { increment: 1 } };
    const isWritten = await this.#writes.unlocked(
      { where: { ...held(run), beat: run.beat } },
      (where) => isDead ? this.#writes.change(where, change) : this.#requeue(run, change),
    );
    return isWritten === true;
  }

  #afterLoss(next: AfterLoss): UpdateInput<JobModel> {
    if ("deadBecause" in next) return { ...this.#writes.over("dead"), reason: next.deadBecause };
    if (next.waitMs === 0) return { state: "ready" };
    return { state: "scheduled", run_at: new Date(this.#writes.clock.now() + next.waitMs) };
  }

  /** Returns a job to the queue, unless it is to be cancelled. */
  async #requeue(lease: Lease, change: UpdateInput<JobModel>): Promise<boolean> {
    const where = held(lease);
    const data = { ...UNLEASED, ...change };
    if (await this.#writes.change({ ...where, cancelling: false }, data)) {
      // as it waits for its time, those behind it would be read by each claim
      if (change.state === "scheduled") await this.#groups.block(lease);
      return true;
    }
    await this.#groups.unblock([lease.group]);
    return await this.#writes.change(where, this.#writes.over("cancelled"));
  }
}

/** Returns what the end of a run changes in a job that runs again. */
function requeued(
  end: Extract<RunEnd, { readonly state: "scheduled" | "released" }>,
): UpdateInput<JobModel> {
  const { priority } = end;
  return {
    ...end.state === "released"
      ? { state: "ready", attempts: { decrement: 1 } }
      : { state: "scheduled", reason: end.reason, run_at: end.runAt },
    ...priority !== undefined && { rank: 0 - priority },
  };
}

function held({ seq, lease }: Pick<Lease, "seq" | "lease">) {
  return { seq, lease, state: "running" } as const;
}
