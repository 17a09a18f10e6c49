/**
 * How the table of jobs is written.
 *
 * @module
 */
import type { DbConnection } from "../../db/connection/connection.ts";
import type { UpdateInput } from "../../db/model/row.ts";
import type { FindManyOptions, Where } from "../../db/model/where.ts";
import type { Table } from "../../db/query/table.ts";
import { Repository } from "../../db/repository.ts";
import { DatabaseClock } from "../database_clock.ts";
import type { JobModel } from "./job_table.ts";

/** Jobs that are locked. */
export type LockedJobs = { readonly seq: { readonly in: readonly number[] } };

/** The columns of a job without a lease. */
export const UNLEASED = {
  lease: null,
  active_group: null,
  slot: null,
  cancelling: false,
} as const;

/** The retries of a statement that deadlocks with those of other workers. */
const RETRIES = 5;

/** Writes jobs. */
export class JobWrites {
  /** The table. */
  readonly table: Table;
  /** Its rows. */
  readonly jobs: Repository<JobModel>;
  /** The clock of all processes with the table. */
  readonly clock: DatabaseClock;

  /** Writes the jobs of a table. */
  constructor(table: Table) {
    this.table = table;
    this.clock = new DatabaseClock(table.connection);
    this.jobs = new Repository<JobModel>(table);
  }

  /** The database. */
  get connection(): DbConnection {
    return this.table.connection;
  }

  /** Returns what changes in a job that ends. */
  over(state: "done" | "dead" | "cancelled") {
    return { ...UNLEASED, state, ended_at: this.clock.date(), singleton: null };
  }

  /** Changes jobs; returns whether there were any. */
  async change(where: Where<JobModel>, data: UpdateInput<JobModel>): Promise<boolean> {
    return await this.jobs.updateMany({ where, data }) > 0;
  }

  /**
   * Locks jobs and writes them, without those that another transaction has locked: it may be long,
   * and must hold up no others. Returns `undefined` without jobs.
   */
  unlocked<T>(
    jobs: FindManyOptions<JobModel>,
    write: (where: LockedJobs) => Promise<T>,
  ): Promise<T | undefined> {
    const options = { ...jobs, select: { seq: true }, lock: "update", skipLocked: true } as const;
    return this.atomically(async () => {
      const seqs = (await this.jobs.findMany(options)).map(({ seq }) => seq);
      return seqs.length === 0 ? undefined : await write({ seq: { in: seqs } });
    });
  }

  /** Runs a function in a transaction of the least isolation: it locks no gaps on MySQL. */
  atomically<T>(run: () => Promise<T>): Promise<T> {
    return this.connection.transaction(run, { isolation: "read committed", retries: RETRIES });
  }
}
