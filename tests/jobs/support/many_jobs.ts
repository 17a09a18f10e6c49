/** Tables of many jobs, and how much of them a statement reads. */
import { sql } from "kysely";
import { OutboxEngine } from "../../../src/jobs/outbox/outbox_engine.ts";
import type { Brand, TestDatabase } from "../../db/support/database.ts";
import { type Notes, openNoted } from "../../db/support/noted.ts";
import { Db } from "./jobs_app.ts";

/** How many jobs a statement stores. */
const CHUNK = 50_000;

/** A job without options. */
export const SWEEP = {
  ...{ name: "sweep", body: null, priority: 0, runAt: undefined },
  ...{ singleton: undefined, group: undefined, trace: undefined },
};

/** The table of jobs, on one connection whose statements are noted. */
export interface NotedJobs extends AsyncDisposable {
  readonly db: Db;
  readonly engine: OutboxEngine;
  readonly notes: Notes;
}

/** Opens a database with the table of jobs. */
export async function openJobs(database: TestDatabase): Promise<NotedJobs> {
  const noted = await openNoted(Db, database, { max: 1 });
  await noted.db.createTables();
  return { ...noted, engine: new OutboxEngine(noted.db) };
}

/** What reads a table as a whole, or sorts rows. */
export const WHOLE: Readonly<Record<Brand, RegExp>> = {
  sqlite: /SCAN j|SCAN fw_jobs|TEMP B-TREE/,
  postgres: /Seq Scan on fw_jobs|Sort /,
  mysql: /"table":"\w+","type":"(?:ALL|index)","possible_keys":"|"table":"j".*filesort/,
};

const NEW_ID: Readonly<Record<Brand, string>> = {
  sqlite: `lower(substr(hex(randomblob(16)), 1, 8) || '-0000-4000-8000-' || hex(randomblob(6)))`,
  postgres: "gen_random_uuid()",
  mysql: "uuid()",
};

/**
 * Stores each job that waits once more, unless it is the first one of a group, or as many as a
 * statement stores in time.
 */
async function double(db: Db, brand: Brand): Promise<void> {
  const columns = sql.raw(
    [
      ...["name", "state", "body", "run_at", "created_at", "group_key", "blocked"],
      ...["attempts", "lost", "beat", "cancelling"],
    ].join(", "),
  );
  await sql`insert into fw_jobs (id, ${sql.ref("rank")}, ${columns})
    select ${sql.raw(NEW_ID[brand])}, ${sql.ref("rank")}, ${columns} from fw_jobs
    where state in ('ready', 'scheduled') and (group_key is null or blocked)
    order by seq limit ${sql.lit(CHUNK)}`.execute(db.kysely);
}

/** Doubles the jobs that wait until there are at least that many. */
export async function doubleTo(rows: number, { db, brand }: {
  readonly db: Db;
  readonly brand: Brand;
}): Promise<void> {
  for (let stored = 2; stored < rows; stored += Math.min(stored, CHUNK)) await double(db, brand);
}

/** Updates the statistics by which plans are made. */
export async function analyze(db: Db, brand: Brand): Promise<void> {
  await (brand === "mysql" ? sql`analyze table fw_jobs` : sql`analyze`).execute(db.kysely);
}

/** Returns the most rows that a step of an analyzed plan of PostgreSQL has read. */
export function mostRows(plan: string): number {
  const steps = plan.matchAll(/actual [^)]*rows=([\d.]+) loops=(\d+)|Rows Removed[^:]*: (\d+)/g);
  return Math.max(...Array.from(
    steps,
    ([, rows = 1, loops = 1, removed = 0]) => Number(rows) * Number(loops) + Number(removed),
  ));
}

/** Returns how many rows the session has read, on MySQL. */
export async function rowsRead(db: Db): Promise<number> {
  const { rows } = await sql<{ readonly Value: string }>`show session status like 'Handler_read%'`
    .execute(db.kysely);
  return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
}
