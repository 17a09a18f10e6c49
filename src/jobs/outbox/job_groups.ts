/**
 * Which jobs of the table are blocked by others of their groups.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { sql } from "kysely";
import { fill, Slot } from "../../db/connection/statement.ts";
import type { Lease } from "../engine.ts";
import type { JobWrites } from "./job_writes.ts";

/** The states of a job that has not ended. */
type OpenState = "ready" | "scheduled" | "running";

/** The first job of a group in a state. */
interface FirstJob {
  readonly group: string;
  readonly seq: number;
  readonly isBlocked: boolean;
}

/** How many groups a statement reads: SQLite limits the parts of a `union all` to 500. */
const MAX_GROUPS = 100;
/** How many jobs of groups a search reads at most: of the last group, it skips the others. */
const SEARCHED_JOBS = 2000;

/**
 * Blocks jobs that wait behind others of their group, so that claims do not read them. A claim
 * checks the order of a group in any case: a job that is not blocked may still have to wait, but
 * one that is blocked must not be the first. So whatever ends, or is committed, unblocks the first
 * job that waits in its group, and reads it after that job is visible to it.
 */
export class JobGroups {
  readonly #writes: JobWrites;
  /** The last group that a search has passed. */
  #searched = "";

  /** Uses the table of jobs. */
  constructor(writes: JobWrites) {
    this.#writes = writes;
  }

  /** Checks whether a job of a group waits or runs, so that the next one is blocked. */
  async isBusy(group: string): Promise<boolean> {
    return (await this.#firstOf([group], ["ready", "scheduled", "running"])).length > 0;
  }

  /** Unblocks the first job that waits in each of the groups. */
  async unblock(groups: readonly (string | null)[]): Promise<void> {
    const named = [...new Set(groups)].filter((group) => group !== null);
    for (let from = 0; from < named.length; from += MAX_GROUPS) {
      const waiting = await this.#firstOf(named.slice(from, from + MAX_GROUPS));
      const heads = Map.groupBy(waiting, ({ group }) => group).values()
        .map((firsts) => firsts.reduce((a, b) => a.seq < b.seq ? a : b));
      await this.#set(false, heads.filter(({ isBlocked }) => isBlocked).toArray());
    }
  }

  /**
   * Unblocks the first job that waits in a group, once the transaction of the caller is committed.
   * If it fails, a search does it.
   */
  async unblockAfterCommit(group: string | null): Promise<void> {
    if (group === null) return;
    await this.#writes.connection.afterCommit(() =>
      this.unblock([group]).catch((error) =>
        getLogger(["fw", "jobs"]).warn("The next job of a group stays blocked: {error}", { error })
      )
    );
  }

  /** Blocks the first jobs that wait behind one that waits again, in the same transaction. */
  async block({ group, seq }: Lease): Promise<void> {
    if (group === null) return;
    const waiting = await this.#firstOf([group]);
    await this.#set(true, waiting.filter((it) => it.seq > seq && !it.isBlocked));
  }

  /** Searches some groups for first jobs that are still blocked, and unblocks them. */
  async search(): Promise<void> {
    const { table: { source }, connection: { kysely } } = this.#writes;
    const rows = sql.table(source);
    const { rows: found } = await sql<
      { readonly group_key: string; readonly jobs: unknown; readonly stuck: unknown }
    >`
      select g.group_key, g.jobs, (
        select b.blocked from ${rows} b where b.group_key = g.group_key and b.state = 'ready'
        order by b.seq limit 1
      ) and (select r.seq from ${rows} r where r.active_group = g.group_key) is null as stuck
      from (
        select p.group_key, count(*) as jobs from (
          select n.group_key from ${rows} n where n.group_key > ${this.#searched}
          order by n.group_key limit ${sql.lit(SEARCHED_JOBS)}
        ) p group by p.group_key
      ) g order by g.group_key`.execute(kysely);
    const jobs = found.reduce((sum, { jobs }) => sum + Number(jobs), 0);
    // the last group may have further jobs, which are skipped
    this.#searched = jobs < SEARCHED_JOBS ? "" : found.at(-1)!.group_key;
    const stuck = found.filter(({ stuck }) => Number(stuck) === 1);
    await this.unblock(stuck.map(({ group_key }) => group_key));
  }

  /** Reads the first jobs of groups in states, each by an index. */
  async #firstOf(
    groups: readonly string[],
    states: readonly OpenState[] = ["ready", "scheduled"],
  ): Promise<readonly FirstJob[]> {
    const { table, connection: { kysely } } = this.#writes;
    const rows = sql.table(table.source);
    const compiled = table.statement(`first of ${groups.length} ${states}`, () => {
      const parts = groups.flatMap((_, index) =>
        states.map((state) =>
          sql`select j.group_key, j.seq, j.blocked from ${rows} j where j.seq = (
            select min(m.seq) from ${rows} m
            where m.group_key = ${new Slot(index)} and m.state = ${sql.lit(state)}
          )`
        )
      );
      return { compile: () => sql.join(parts, sql` union all `).compile(kysely) };
    });
    const { rows: found } = await table.execute("read groups", fill(compiled, groups));
    return found.map(([group, seq, blocked]) => ({
      group: String(group),
      seq: Number(seq), // PostgreSQL returns 64-bit integers as text
      isBlocked: Number(blocked) === 1,
    }));
  }

  /** Writes jobs, without those that a transaction has locked: a search unblocks them later. */
  async #set(blocked: boolean, jobs: readonly FirstJob[]): Promise<void> {
    if (jobs.length === 0) return;
    const where = { seq: { in: jobs.map(({ seq }) => seq) } };
    await this.#writes.unlocked(
      { where },
      (where) => this.#writes.jobs.updateMany({ where, data: { blocked } }),
    );
  }
}
