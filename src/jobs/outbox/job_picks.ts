/**
 * Claims and ends jobs by one statement each, where a statement that writes can return rows.
 *
 * @module
 */
import { type RawBuilder, sql } from "kysely";
import { type CompiledStatement, fill, Slot } from "../../db/connection/statement.ts";
import type { Row } from "../../db/model/row.ts";
import type { Table } from "../../db/query/table.ts";
import { decodeRow, selectionOf } from "../../db/query/table_column.ts";
import { type Share, unitedFirst } from "./job_candidates.ts";
import type { JobModel } from "./job_table.ts";

/** Which jobs are picked. */
export interface Pick {
  /** The kinds, at most 100, with as many jobs as they have free slots. */
  readonly shares: readonly Share[];
  /** The id of the only job that is wanted, if there is one. */
  readonly id: string | undefined;
  /** How many jobs, at most. */
  readonly take: number;
  /** The claim under which they run. */
  readonly lease: string;
  /**
   * Whether the jobs behind those that others have locked are among them: then the first of each
   * kind are locked until the end of the statement, which others leave out.
   */
  readonly passesLocked: boolean;
}

/**
 * Leases the first jobs that are ready, and returns them in the order in which they run.
 *
 * @throws {DbError} `UniqueViolation` if another worker runs a job of one's group meanwhile
 */
export async function pickJobs(
  table: Table,
  { shares, id, take, lease, passesLocked }: Pick,
): Promise<readonly Row<JobModel>[]> {
  const { columns } = table;
  const values = [lease, ...shares.map(({ name }) => name)];
  const only = id === undefined ? undefined : new Slot(values.push(id) - 1);
  const limits = shares.map((share) => share.take);
  const slots = shares.map(({ take }, index) => ({ name: new Slot(index + 1), take }));
  const compiled = statement(table, {
    shape: `pick ${passesLocked} ${take} ${limits} ${only !== undefined}`,
    build: () => {
      const lock = lockOf(table);
      const first = sql`select c.seq from (
        ${unitedFirst(slots, { table, id: only, lock: passesLocked ? lock : "" })}
      ) c order by ${sql.ref("c.rank")}, c.seq limit ${sql.lit(take)}`;
      const rows = sql.table(table.source);
      const picked = passesLocked || lock === "" ? first : sql`select j.seq from ${rows} j
          where j.state = 'ready' and j.seq in (${first}) ${sql.raw(lock)}`;
      return sql`with picked as materialized (${picked}) update ${rows} set state = 'running',
        lease = ${new Slot(0)}, beat = 0, attempts = attempts + 1, progress = null,
        active_group = group_key
        where seq in (select seq from picked) returning ${selected(table)}`;
    },
  });
  const result = await table.execute("claim jobs", fill(compiled, values));
  // the columns have decoded the types of their fields
  const picked = result.rows.map((row) => decodeRow(row, columns)) as unknown[] as Row<JobModel>[];
  return picked.sort((a, b) => a.rank - b.rank || a.seq - b.seq);
}

/** Runs under one claim whose jobs are done. */
export interface DoneJobs {
  /** The numbers of the jobs. */
  readonly seqs: readonly number[];
  /** The claim. */
  readonly lease: string;
  /** The time. */
  readonly at: Date;
}

/**
 * Ends runs whose jobs are done, without those that a transaction has locked; returns the numbers
 * of the jobs.
 */
export async function endDone(
  table: Table,
  { seqs, lease, at }: DoneJobs,
): Promise<readonly number[]> {
  const action = "end jobs";
  const { list } = table.connection.grammar;
  const { field } = table.column("seq", action);
  const compiled = statement(table, {
    shape: "end done",
    build: () => {
      const rows = sql.table(table.source);
      const among = list.matches(sql.ref("j.seq"), new Slot(1), {
        operator: "in",
        kind: "integer",
      });
      return sql`with held as materialized (select j.seq from ${rows} j
          where ${among} and j.lease = ${new Slot(2)} and j.state = 'running'
          ${sql.raw(lockOf(table))})
        update ${rows} set state = 'done', ended_at = ${new Slot(0)}, lease = null,
        active_group = null, slot = null, cancelling = ${sql.lit(false)}, singleton = null
        where seq in (select seq from held) returning seq`;
    },
  });
  const ended = table.column("ended_at", action).encode(at, action);
  const values = [ended, list.encode(seqs, field), lease];
  const { rows } = await table.execute(action, fill(compiled, values));
  return rows.map(([seq]) => Number(seq));
}

function statement(
  table: Table,
  { shape, build }: { readonly shape: string; readonly build: () => RawBuilder<unknown> },
): CompiledStatement {
  const { kysely } = table.connection;
  return table.statement(shape, () => ({ compile: () => build().compile(kysely) }));
}

/** Returns what locks rows, and leaves out those that others have locked. */
function lockOf({ connection: { grammar } }: Table): string {
  return grammar.locking?.({ lock: "update", wait: "skip locked" }) ?? "";
}

function selected({ columns }: Table): RawBuilder<unknown> {
  return sql.join(
    selectionOf(columns).map((it) => typeof it === "string" ? sql.ref(it) : it),
  );
}
