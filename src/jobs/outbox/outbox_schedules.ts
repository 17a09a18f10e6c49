/**
 * Occurrences of schedules in the table of jobs.
 *
 * @module
 */
import type { DatabaseClock } from "../database_clock.ts";
import type { JobInfo } from "../engine.ts";
import type { Abandoned, NewOccurrence, ScheduleStore } from "../schedules/schedule_store.ts";
import { infoOf, rowOf } from "./job_row.ts";
import type { JobWrites } from "./job_writes.ts";

/** How many occurrences are abandoned at a time. */
const ABANDONED_ROWS = 100;

/** Stores occurrences as rows: unique columns guarantee that each is stored once. */
export class OutboxSchedules implements ScheduleStore {
  readonly #writes: JobWrites;

  /** Uses the table of jobs. */
  constructor(writes: JobWrites) {
    this.#writes = writes;
  }

  /** The clock of all processes with the table. */
  get clock(): DatabaseClock {
    return this.#writes.clock;
  }

  /** Lists the jobs that hold keys. */
  async holders(singletons: readonly string[]): Promise<readonly JobInfo[]> {
    if (singletons.length === 0) return [];
    const rows = await this.#writes.jobs.findMany({
      where: { singleton: { in: [...singletons] } },
    });
    return rows.map(infoOf);
  }

  /** Returns the last job of a kind that has ended. */
  async lastEnded(name: string): Promise<JobInfo | undefined> {
    const row = await this.#writes.jobs.findFirst({
      where: { name, state: { in: ["done", "dead", "cancelled"] } },
      orderBy: { seq: "desc" },
    });
    return row ? infoOf(row) : undefined;
  }

  /** Returns a job. */
  async find(id: string): Promise<JobInfo | undefined> {
    const row = await this.#writes.jobs.findUnique({ where: { id } });
    return row ? infoOf(row) : undefined;
  }

  /** Stores an occurrence. */
  async add(occurrence: NewOccurrence): Promise<boolean> {
    const data = [rowOf(occurrence, { id: occurrence.id, now: this.clock.date() })];
    const added = await this.#writes.atomically(() =>
      this.#writes.jobs.createMany({ data, skipDuplicates: true })
    );
    return added === 1;
  }

  /** Removes an occurrence that is not due. */
  async remove({ id, attempts }: JobInfo): Promise<void> {
    const run_at = { gt: this.clock.date() };
    await this.#writes.jobs.deleteMany({ where: { id, state: "scheduled", attempts, run_at } });
  }

  /** Cancels occurrences that nobody has claimed. */
  async abandon({ prefix, except, before, reason }: Abandoned): Promise<readonly string[]> {
    const rows = await this.#writes.jobs.findMany({
      where: {
        state: "ready",
        run_at: { lt: before },
        AND: [{ name: { startsWith: prefix } }, { name: { notIn: [...except] } }],
      },
      orderBy: { run_at: "asc" },
      select: { seq: true, name: true },
      take: ABANDONED_ROWS,
    });
    const abandoned: string[] = [];
    for (const { seq, name } of rows) {
      const data = { ...this.#writes.over("cancelled"), id: crypto.randomUUID(), reason };
      if (await this.#writes.change({ seq, state: "ready" }, data)) abandoned.push(name);
    }
    return abandoned;
  }
}
