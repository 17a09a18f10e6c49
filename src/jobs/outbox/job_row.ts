/**
 * Rows of the table of jobs.
 *
 * @module
 */
import type { CreateInput, Row } from "../../db/model/row.ts";
import type { JobInfo, NewJob, TraceParent } from "../engine.ts";
import type { JobModel } from "./job_table.ts";

/** Returns the row of a new job. */
export function rowOf(
  job: NewJob,
  { id, now, isBlocked = false }: {
    readonly id: string;
    readonly now: Date;
    readonly isBlocked?: boolean;
  },
): CreateInput<JobModel> {
  const isLater = job.runAt !== undefined && job.runAt.getTime() > now.getTime();
  return {
    id,
    name: job.name,
    state: isLater ? "scheduled" : "ready",
    body: job.body,
    rank: 0 - job.priority,
    run_at: isLater ? job.runAt : now,
    created_at: now,
    attempts: 0,
    lost: 0,
    singleton: job.singleton ?? null,
    group_key: job.group ?? null,
    blocked: isBlocked,
    beat: 0,
    cancelling: false,
    trace: job.trace ? { ...job.trace } : null,
  };
}

/** Returns the job of a row. */
export function infoOf(row: Row<JobModel>): JobInfo {
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    body: row.body,
    priority: 0 - row.rank,
    runAt: row.run_at,
    enqueuedAt: row.created_at,
    endedAt: row.ended_at,
    attempts: row.attempts,
    progress: row.progress,
    reason: row.reason,
    trace: row.trace as unknown as TraceParent | null, // what `rowOf` has stored
  };
}
