/**
 * The jobs of the table that can run next.
 *
 * @module
 */
import { type RawBuilder, sql } from "kysely";
import type { Table } from "../../db/query/table.ts";

/** A kind of jobs, and how many of them are wanted. */
export interface Share<Name = string> {
  /** The name of the kind. */
  readonly name: Name;
  /** The maximum number of jobs, which can be 0. */
  readonly take: number;
}

/** A job that can run next. */
export interface Candidate {
  /** The number of the job. */
  readonly seq: number;
  /** The name of its kind. */
  readonly name: string;
  /** Its priority, negated. */
  readonly rank: number;
}

/** How many kinds a statement reads: SQLite limits the parts of a `union all` to 500. */
export const MAX_KINDS = 100;

/**
 * Returns the first jobs of kinds that are ready, in the order in which they run. Each kind is read
 * by an index of its own, so that jobs of others cost nothing. Of a group, only the first job that
 * has not ended is among them; those behind it are blocked, and not read. With `isLocking`, they
 * are locked until the transaction ends, and those that others have locked are left out.
 */
export async function candidatesOf(
  table: Table,
  { shares, id, isLocking }: {
    readonly shares: readonly Share[];
    /** The id of the only job that is wanted, if there is one. */
    readonly id?: string | undefined;
    readonly isLocking: boolean;
  },
): Promise<readonly Candidate[]> {
  const { kysely, grammar } = table.connection;
  const lock = isLocking && grammar.locking?.({ lock: "update", wait: "skip locked" }) || "";
  const wanted = shares.filter(({ take }) => take > 0);
  const candidates: Candidate[] = [];
  for (let first = 0; first < wanted.length; first += MAX_KINDS) {
    const some = wanted.slice(first, first + MAX_KINDS);
    const { rows } = await sql<Readonly<Record<keyof Candidate, unknown>>>`${
      unitedFirst(some, { table, id, lock })
    }`.execute(kysely);
    for (const { seq, name, rank } of rows) {
      // PostgreSQL returns 64-bit integers as text
      candidates.push({ seq: Number(seq), name: String(name), rank: Number(rank) });
    }
  }
  return candidates.sort((a, b) => a.rank - b.rank || a.seq - b.seq);
}

/** How the first jobs of a kind are read. */
interface FirstOptions {
  /** The table of jobs. */
  readonly table: Table;
  /** The id of the only job that is wanted, or its place; `undefined` if all are. */
  readonly id?: unknown;
  /** The SQL that locks them, if it does. */
  readonly lock: string;
}

/** Returns the query of the first jobs of kinds that can run, each found by an index. */
export function unitedFirst(
  shares: readonly Share<unknown>[],
  options: FirstOptions,
): RawBuilder<unknown> {
  const parts = shares.map((share, index) =>
    sql`select * from (${firstOf(share, options)}) ${sql.ref(`k${index}`)}`
  );
  return sql.join(parts, sql` union all `);
}

/** Reads the first jobs of a kind that are ready, and not behind others of their group. */
function firstOf(
  { name, take }: Share<unknown>,
  { table: { source }, id, lock }: FirstOptions,
): RawBuilder<unknown> {
  const table = sql.table(source);
  // scalar and ordered, so that PostgreSQL looks them up in an index and never reads the table
  const isFirst = (state: "ready" | "scheduled") =>
    sql`coalesce((
          select b.seq from ${table} b
          where b.group_key = j.group_key and b.state = ${sql.lit(state)}
          order by b.seq limit 1
        ), j.seq) >= j.seq`;
  return sql`
    select j.seq, j.name, ${sql.ref("j.rank")} from ${table} j
    where j.state = 'ready' and j.name = ${name} and j.blocked = ${sql.lit(false)}
      ${id === undefined ? sql`` : sql`and j.id = ${id}`}
      and (j.group_key is null or (
        (select r.seq from ${table} r where r.active_group = j.group_key) is null
        and ${isFirst("ready")} and ${isFirst("scheduled")}
      ))
    order by ${sql.ref("j.rank")}, j.seq
    limit ${sql.lit(take)} ${sql.raw(lock)}`;
}
