/**
 * The jobs of a project's database.
 *
 * @module
 */
import { CliError } from "../terminal/cli_error.ts";
import type { DatabaseOption } from "./migrations.ts";
import type { Project } from "./project.ts";
import { runInProject } from "./script.ts";

/** The states of jobs. */
export const JOB_STATES = ["ready", "scheduled", "running", "done", "dead", "cancelled"] as const;

/** The state of a job. */
export type JobState = (typeof JOB_STATES)[number];

/** A job as it is listed: without its payload and its progress, which can be personal. */
export interface ListedJob {
  /** Its id. */
  readonly id: string;
  /** The name of its kind. */
  readonly name: string;
  /** Its state. */
  readonly state: JobState;
  /** Its priority. */
  readonly priority: number;
  /** When it is due, in ISO 8601, as the other times. */
  readonly runAt: string;
  /** When it was enqueued. */
  readonly enqueuedAt: string;
  /** When it has ended. */
  readonly endedAt: string | null;
  /** How many of its runs have begun. */
  readonly attempts: number;
  /** Why its last run has failed. */
  readonly reason: string | null;
}

/** A job as it is shown. */
export interface ShownJob extends ListedJob {
  /** Its payload. */
  readonly body: unknown;
  /** What its run has reported last. */
  readonly progress: unknown;
  /** The span that has enqueued it. */
  readonly trace: {
    readonly traceId: string;
    readonly spanId: string;
    readonly traceFlags: number;
  } | null;
}

/** Selects the jobs of a list, as `jobs.list` does. */
export interface JobFilter {
  /** Their states. */
  readonly states?: readonly JobState[] | undefined;
  /** The name of their kind. */
  readonly name?: string | undefined;
  /** The id of the last job of the page before. */
  readonly before?: string | undefined;
  /** At most how many. */
  readonly take?: number | undefined;
}

/** Lists jobs, the newest first. */
export async function jobsOf(
  project: Project,
  { filter, ...options }: DatabaseOption & { readonly filter: JobFilter },
): Promise<readonly ListedJob[]> {
  const body = `  const found = await jobs.list(${JSON.stringify(filter)});
  return found.map(({ body, progress, trace, ...job }) => job);`;
  return await call(project, { ...options, body }) as readonly ListedJob[]; // in JSON
}

/**
 * Finds a job.
 *
 * @throws {CliError} if it does not exist
 */
export async function jobOf(
  project: Project,
  { id, ...options }: DatabaseOption & { readonly id: string },
): Promise<ShownJob> {
  const body = `  return await jobs.find(${JSON.stringify(id)});`;
  const job = await call(project, { ...options, body });
  if (job) return job as ShownJob; // in JSON
  throw new CliError(`Cannot find job ${id}: it does not exist`);
}

/** What changes jobs. */
export type JobChange = "retry" | "cancel";

/**
 * Retries or cancels jobs of ids, all or none, and returns their states afterwards.
 *
 * @throws {CliError} if one does not exist, or its state does not allow it
 */
export async function changeJobs(
  project: Project,
  { ids, change, ...options }: DatabaseOption & {
    readonly ids: readonly string[];
    readonly change: JobChange;
  },
): Promise<readonly { readonly id: string; readonly state: JobState }[]> {
  const able = change === "retry" ? ["dead", "cancelled"] : ["ready", "scheduled", "running"];
  const body = `  const refuse = (id, why) => {
    throw new TypeError("Cannot ${change} job " + id + ": " + why);
  };
  return await atomically(async () => {
    const ids = ${JSON.stringify(ids)};
    for (const id of ids) {
      const state = (await jobs.find(id))?.state ?? refuse(id, "it does not exist");
      if (!${JSON.stringify(able)}.includes(state)) refuse(id, "it is " + state);
    }
    const changed = [];
    for (const id of ids) {
      if (!await jobs.${change}(id)) refuse(id, "its state has changed meanwhile");
      changed.push({ id, state: (await jobs.find(id))?.state });
    }
    return changed;
  });`;
  return await call(project, { ...options, body }) as Awaited<ReturnType<typeof changeJobs>>;
}

/** Retries all dead letters or those of a kind, all or none, and returns how many. */
export async function retryDead(
  project: Project,
  { name, ...options }: DatabaseOption & { readonly name: string | undefined },
): Promise<number> {
  const filter = JSON.stringify({ states: ["dead"], name, take: 1000 });
  const body = `  return await atomically(async () => {
    let count = 0;
    for (let before;;) {
      const page = await jobs.list({ ...${filter}, before });
      for (const { id } of page) if (await jobs.retry(id)) count++;
      if (page.length < 1000) return count;
      before = page.at(-1).id;
    }
  });`;
  return Number(await call(project, { ...options, body }));
}

/** Selects the jobs to remove, as `jobs.purge` does. */
export interface PurgeFilter {
  /** Their states. */
  readonly states: readonly JobState[];
  /** The time before which they have ended. */
  readonly before: Date;
  /** The name of their kind. */
  readonly name?: string | undefined;
}

/** Removes jobs that have ended, and returns how many. */
export async function purgeJobs(
  project: Project,
  { filter: { before, ...filter }, ...options }: DatabaseOption & { readonly filter: PurgeFilter },
): Promise<number> {
  const body = `  const before = new Date(${JSON.stringify(before)});
  return await jobs.purge({ ...${JSON.stringify(filter)}, before });`;
  return Number(await call(project, { ...options, body }));
}

/** Counts the jobs that wait, by their kinds. */
export async function waitingKinds(
  project: Project,
  options: DatabaseOption,
): Promise<readonly { readonly name: string; readonly count: number }[]> {
  const body = "  return await jobs.unhandled();"; // a database has no handlers
  return await call(project, { ...options, body }) as Awaited<ReturnType<typeof waitingKinds>>;
}

/** Options of the transaction of a change; one of many jobs may take longer than others. */
const ATOMIC = JSON.stringify({
  isolation: "read committed",
  retries: 5,
  timeoutMs: 2_147_483_647,
});

/**
 * Runs code with the `jobs` of the project's database, which is not migrated, and with
 * `atomically`, which runs a function in a transaction.
 */
function call(
  project: Project,
  { database, body }: DatabaseOption & { readonly body: string },
): Promise<unknown> {
  return runInProject(project, {
    file: database,
    name: "Db",
    option: "--database",
    body: `  const { Jobs } = await import("@fw/fw/jobs");
  const options = await exported.databaseOptions();
  const { database } = await options.openUnmigrated({ needsMigrations: false });
  await using db = new exported.Db(database);
  const jobs = Jobs.of(db);
  const atomically = (run) => db.transaction(run, ${ATOMIC});
  try {
    return await (async () => {
${body}
    })();
  } catch (error) {
    if (!error.message?.endsWith("its table is missing")) throw error;
    throw new TypeError(
      "Cannot read jobs: their table is missing; fw db diff add-jobs writes its migration",
    );
  }`,
  });
}
