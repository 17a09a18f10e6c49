/**
 * How workers claim jobs of the table.
 *
 * @module
 */
import { DbError } from "../../db/errors.ts";
import type { Row } from "../../db/model/row.ts";
import type { ClaimedJob, ClaimedKind, DueJob } from "../engine.ts";
import { leaseId } from "../lease_id.ts";
import { candidatesOf, MAX_KINDS, type Share } from "./job_candidates.ts";
import { pickJobs } from "./job_picks.ts";
import { infoOf } from "./job_row.ts";
import type { JobModel } from "./job_table.ts";
import type { JobWrites } from "./job_writes.ts";

/** What a worker can claim. */
interface Claimable {
  /** The kinds, with as many jobs as they have free slots. */
  readonly shares: readonly Share[];
  /** The free slots of the kinds that are limited. */
  readonly slots: ReadonlyMap<string, readonly string[]>;
  /** How many jobs, at most. */
  readonly take: number;
  /** The id of the only job that is wanted, if there is one. */
  readonly id?: string;
}

/**
 * Claims jobs, in transactions whose workers skip each other's rows. Two unique columns guarantee
 * what a snapshot cannot: `active_group`, that one job of a group runs, and `slot`, that a kind has
 * no more runs than its limit. A job whose group or slot another worker has taken meanwhile is left
 * to the next claim.
 */
export class JobClaims {
  readonly #writes: JobWrites;
  readonly #leaseMs: number;

  /** Claims jobs of a table, for leases of `leaseMs` milliseconds. */
  constructor(writes: JobWrites, { leaseMs }: { readonly leaseMs: number }) {
    this.#writes = writes;
    this.#leaseMs = leaseMs;
  }

  /** Claims at most `take` jobs. */
  async claim(kinds: readonly ClaimedKind[], take: number): Promise<readonly ClaimedJob[]> {
    const claimable = await this.#claimable(kinds, take);
    return await this.#pick(claimable) ?? await this.#claimInTurn(claimable, kinds);
  }

  /** Claims the job of an id if it could be claimed next. */
  async claimOne(kind: ClaimedKind, id: string): Promise<ClaimedJob | undefined> {
    const claimable = { ...await this.#claimable([kind], 1), id };
    const [claimed] = await this.#pick(claimable) ??
      await this.#writes.atomically(() => this.#claim(claimable));
    return claimed;
  }

  /** Lists the jobs that could be claimed next. */
  async due(kinds: readonly ClaimedKind[], take: number): Promise<readonly DueJob[]> {
    const { shares } = await this.#claimable(kinds, take);
    const candidates = await candidatesOf(this.#writes.table, { shares, isLocking: false });
    const order = candidates.slice(0, take).map(({ seq }) => seq);
    if (order.length === 0) return [];
    const rows = await this.#writes.jobs.findMany({
      where: { seq: { in: order } },
      select: { seq: true, id: true, name: true, rank: true },
    });
    rows.sort((a, b) => order.indexOf(a.seq) - order.indexOf(b.seq));
    return rows.map(({ id, name, rank }) => ({ id, name, priority: 0 - rank }));
  }

  /** Claims by one statement, where the database and the kinds allow it. */
  async #pick({ shares, slots, take, id }: Claimable): Promise<readonly ClaimedJob[] | undefined> {
    const { locking } = this.#writes.connection.grammar;
    const wanted = shares.filter((share) => share.take > 0);
    if (!this.#canPick(wanted, slots)) return undefined;
    if (wanted.length === 0) return [];
    // of several kinds, no more jobs are locked than are claimed, which others would leave out
    const passesLocked = wanted.length === 1 || locking === undefined;
    const picked = await this.#pickOf(wanted, { take, passesLocked, id });
    if (picked === undefined || picked.length === take || passesLocked) return picked;
    // others have locked or claimed some: those behind them follow
    const left = { take: take - picked.length, passesLocked: true };
    return [...picked, ...await this.#pickOf(wanted, left) ?? []];
  }

  /** Checks whether one statement can claim jobs of kinds. */
  #canPick(kinds: readonly Share[], slots: Claimable["slots"]): boolean {
    const isLimited = kinds.some(({ name }) => slots.has(name));
    return this.#writes.connection.grammar.returning && !isLimited && kinds.length <= MAX_KINDS;
  }

  /** Returns `undefined` if another worker has taken the group of a job meanwhile. */
  async #pickOf(
    kinds: readonly Share[],
    { take, passesLocked, id }: {
      readonly take: number;
      readonly passesLocked: boolean;
      readonly id?: string | undefined;
    },
  ): Promise<readonly ClaimedJob[] | undefined> {
    const lease = leaseId(this.#leaseMs);
    const shares = kinds.map(({ name }) => ({ name, take }));
    try {
      const rows = await pickJobs(this.#writes.table, { shares, id, take, lease, passesLocked });
      return rows.map((row) => claimedOf(row, { lease, info: infoOf(row) }));
    } catch (error) {
      if (error instanceof DbError && error.code === "UniqueViolation") return undefined;
      throw error;
    }
  }

  /**
   * Claims in a transaction, jobs of groups and of limited kinds one after another; or by one
   * statement, if no limited kind is among the first jobs.
   */
  async #claimInTurn(
    claimable: Claimable,
    kinds: readonly ClaimedKind[],
  ): Promise<readonly ClaimedJob[]> {
    const { take } = claimable;
    const candidates = await candidatesOf(this.#writes.table, { ...claimable, isLocking: false });
    const best = candidates.slice(0, take);
    if (best.length === 0) return []; // as most calls, which need no transaction
    // it locks no more rows than it claims, which others would skip
    const counts = Map.groupBy(best, ({ name }) => name);
    const shares = Array.from(counts, ([name, { length }]) => ({ name, take: length }));
    const picked = this.#canPick(shares, claimable.slots)
      ? await this.#pickOf(shares, { take: best.length, passesLocked: false })
      : undefined;
    const claimed = picked ??
      await this.#writes.atomically(() => this.#claim({ ...claimable, shares }));
    if (claimed.length === best.length) return claimed;
    // others have locked or claimed some: those behind them follow, of whatever kind
    const rest = await this.#claimable(kinds, take - claimed.length);
    return [...claimed, ...await this.#writes.atomically(() => this.#claim(rest))];
  }

  async #claimable(kinds: readonly ClaimedKind[], take: number): Promise<Claimable> {
    const slots = await this.#freeSlots(kinds);
    const shares = kinds.map(({ name }) => ({
      name,
      take: Math.min(take, slots.get(name)?.length ?? take),
    }));
    return { shares, slots, take };
  }

  async #claim({ shares, slots, take, id }: Claimable): Promise<readonly ClaimedJob[]> {
    const candidates = await candidatesOf(this.#writes.table, { shares, id, isLocking: true });
    const order = candidates.slice(0, take).map(({ seq }) => seq);
    if (order.length === 0) return [];
    const rows = await this.#writes.jobs.findMany({ where: { seq: { in: order } } });
    rows.sort((a, b) => order.indexOf(a.seq) - order.indexOf(b.seq));
    const lease = leaseId(this.#leaseMs);
    const free = (row: Row<JobModel>) => row.group_key === null && !slots.has(row.name);
    const claimed = await this.#lease(rows.filter(free), lease);
    const left = new Map(Array.from(slots, ([name, free]) => [name, [...free]]));
    for (const row of rows.filter((row) => !free(row))) {
      const slots = left.get(row.name) ?? [];
      do { // others can take a slot meanwhile: a job that is alone tries the next one
        const slot = slots.shift() ?? null;
        if (await this.#leaseOne(row, { lease, slot })) claimed.add(row.seq);
      } while (id !== undefined && !claimed.has(row.seq) && !row.group_key && slots.length > 0);
    }
    return rows.filter(({ seq }) => claimed.has(seq)).map((row) => {
      const attempts = row.attempts + 1;
      return claimedOf(row, {
        lease,
        info: { ...infoOf(row), state: "running", attempts, progress: null },
      });
    });
  }

  async #freeSlots(kinds: readonly ClaimedKind[]): Promise<Claimable["slots"]> {
    const limited = kinds.filter(({ globalConcurrency }) => globalConcurrency !== undefined);
    if (limited.length === 0) return new Map();
    const rows = await this.#writes.jobs.findMany({
      where: { state: "running", name: { in: limited.map(({ name }) => name) } },
      select: { slot: true },
    });
    const taken = new Set(rows.map(({ slot }) => slot));
    return new Map(limited.map(({ name, globalConcurrency = 0 }) => {
      const slots = Array.from({ length: globalConcurrency }, (_, index) => `${name}:${index}`);
      return [name, slots.filter((slot) => !taken.has(slot))];
    }));
  }

  /** Leases jobs that have no group and no limit. */
  async #lease(rows: readonly Row<JobModel>[], lease: string): Promise<Set<number>> {
    const seqs = rows.map(({ seq }) => seq);
    if (seqs.length === 0) return new Set();
    const where = { seq: { in: seqs }, state: "ready" } as const;
    await this.#writes.jobs.updateMany({ where, data: leased(lease) });
    return new Set(seqs);
  }

  /** Leases a job with its group and its slot; returns whether both were free. */
  async #leaseOne(
    { seq, group_key }: Row<JobModel>,
    { lease, slot }: { readonly lease: string; readonly slot: string | null },
  ): Promise<boolean> {
    const data = { ...leased(lease), active_group: group_key, slot };
    try {
      // a savepoint: PostgreSQL refuses what follows a failed statement
      await this.#writes.connection.transaction(() =>
        this.#writes.jobs.updateMany({ where: { seq, state: "ready" }, data })
      );
      return true;
    } catch (error) {
      if (error instanceof DbError && error.code === "UniqueViolation") return false;
      throw error;
    }
  }
}

function claimedOf(
  { seq, group_key: group, lost }: Row<JobModel>,
  claim: Pick<ClaimedJob, "lease" | "info">,
): ClaimedJob {
  return { seq, group, lost, ...claim };
}

function leased(lease: string) {
  return {
    state: "running",
    lease,
    beat: 0,
    attempts: { increment: 1 },
    progress: null,
  } as const;
}
