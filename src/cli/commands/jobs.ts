/**
 * `fw jobs`: the jobs of a project's database.
 *
 * @module
 */
import { type Command, InvalidArgumentError } from "commander";
import process from "node:process";
import {
  changeJobs,
  JOB_STATES,
  type JobChange,
  jobOf,
  jobsOf,
  type JobState,
  type ListedJob,
  purgeJobs,
  retryDead,
  type ShownJob,
} from "../project/jobs.ts";
import type { DatabaseOption } from "../project/migrations.ts";
import { requireProject } from "../project/project.ts";
import { CliError, lineOf } from "../terminal/cli_error.ts";
import { count, paint, print, type Style, table, withProgress } from "../terminal/terminal.ts";
import { confirm } from "./confirm.ts";
import { addDatabaseOption, addExamples, wholeNumber } from "./options.ts";

/** The states in which jobs have ended. */
const ENDED: readonly JobState[] = ["done", "dead", "cancelled"];

const STYLES: Readonly<Record<JobState, Style>> = {
  ready: "cyan",
  scheduled: "cyan",
  running: "yellow",
  done: "green",
  dead: "red",
  cancelled: "dim",
};

/** How much of a reason a list has, in UTF-16 units. */
const MAX_REASON = 60;

/** The units of ages, in milliseconds. */
const UNITS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Adds `fw jobs`. */
export function addJobsCommand(program: Command): void {
  const command = program.command("jobs")
    .summary("manage the jobs of the database")
    .description("Manages the jobs of the database at DATABASE_URL. It starts no application.");
  addExamples(command, "fw jobs list --state dead", "fw jobs retry --dead --name send-receipt");
  const list = command.command("list")
    .description("Lists jobs, the newest first, without their payloads and progress.")
    .option("--state <states>", `their states, of ${JOB_STATES.join(", ")}`, readStates)
    .option("--name <kind>", "the name of their kind")
    .option(
      "--limit <number>",
      "at most how many, 1 to 1000",
      wholeNumber({ least: 1, most: 1000 }),
      50,
    )
    .option("--before <id>", "the last job of the page before", readId)
    .option("--json", "as JSON")
    .action(printJobs);
  addExamples(addDatabaseOption(list), "fw jobs list --state dead,running --limit 10");
  const show = command.command("show")
    .argument("<id>", "the id of the job", readId)
    .description("Shows a job with its payload, which can be personal data.")
    .option("--json", "as JSON")
    .action(printJob);
  addExamples(addDatabaseOption(show), "fw jobs show 0b0c7a0e-6a0f-4c7b-9f3e-2d1c5b7a9e10");
  const retry = command.command("retry")
    .argument("[ids...]", "the ids of dead or cancelled jobs", readIds)
    .description("Makes jobs ready again, with all of their retries.")
    .option("--dead", "all dead letters, or those of the kind --name")
    .option("--name <kind>", "the name of their kind, with --dead")
    .option("--yes", "without a prompt, and also if FW_ENV is production")
    .action(retryJobs);
  addExamples(addDatabaseOption(retry), "fw jobs retry --dead --name send-receipt");
  const cancel = command.command("cancel")
    .argument("<ids...>", "the ids of jobs that have not ended", readIds)
    .description("Cancels jobs: those that wait do not run, the signals of runs are aborted.")
    .action(cancelJobs);
  addExamples(addDatabaseOption(cancel), "fw jobs cancel 0b0c7a0e-6a0f-4c7b-9f3e-2d1c5b7a9e10");
  const purge = command.command("purge")
    .description("Removes jobs that have ended.")
    .requiredOption("--state <states>", `their states, of ${ENDED.join(", ")}`, readEnded)
    .requiredOption("--before <age>", "how long ago they have ended: 30m, 12h, 7d, 2w", readAge)
    .option("--name <kind>", "the name of their kind")
    .option("--yes", "without a prompt, and also if FW_ENV is production")
    .action(removeJobs);
  addExamples(addDatabaseOption(purge), "fw jobs purge --state dead --before 7d");
}

interface ListOptions extends DatabaseOption {
  readonly state?: readonly JobState[];
  readonly name?: string;
  readonly limit: number;
  readonly before?: string;
  readonly json?: boolean;
}

async function printJobs(
  { database, state: states, name, before, limit: take, json = false }: ListOptions,
): Promise<void> {
  const project = requireProject(process.cwd());
  const filter = { states, name, before, take };
  const jobs = await withProgress("Reading jobs", () => jobsOf(project, { database, filter }));
  if (json) return print(JSON.stringify(jobs, null, 2));
  if (jobs.length === 0) return print("There are no such jobs.");
  const heading = ["ID", "KIND", "STATE", "RUNS", "TIME", "REASON"];
  print(table(jobs.map(cellsOf), { heading }));
}

/** Returns a line of a list: the time is when a job has ended, or is due. */
function cellsOf({ id, name, state, attempts, runAt, endedAt, reason }: ListedJob) {
  const line = lineOf(reason ?? "");
  const short = line.length > MAX_REASON ? `${line.slice(0, MAX_REASON - 1)}…` : line;
  return [id, name, paint(STYLES[state], state), String(attempts), endedAt ?? runAt, short];
}

async function printJob(
  id: string,
  { json = false, ...options }: DatabaseOption & { readonly json?: boolean },
): Promise<void> {
  const project = requireProject(process.cwd());
  const job = await withProgress("Reading the job", () => jobOf(project, { ...options, id }));
  print(json ? JSON.stringify(job, null, 2) : table(factsOf(job)));
}

function factsOf({ body, progress, trace, ...job }: ShownJob): readonly (readonly string[])[] {
  const facts = {
    id: job.id,
    kind: job.name,
    state: paint(STYLES[job.state], job.state),
    priority: String(job.priority),
    runs: String(job.attempts),
    enqueued: job.enqueuedAt,
    due: job.runAt,
    ended: job.endedAt,
    reason: job.reason && lineOf(job.reason),
    progress: progress === null ? null : JSON.stringify(progress),
    trace: trace && `${trace.traceId} ${trace.spanId}`,
    payload: body === null ? null : JSON.stringify(body),
  };
  return Object.entries(facts).flatMap(([name, fact]) => fact ? [[name, fact]] : []);
}

interface RetryOptions extends DatabaseOption {
  readonly dead?: boolean;
  readonly name?: string;
  readonly yes?: boolean;
}

async function retryJobs(
  ids: readonly string[] = [],
  { dead = false, name, yes = false, database }: RetryOptions,
): Promise<void> {
  const project = requireProject(process.cwd());
  if (dead === ids.length > 0) throw new CliError("Cannot retry jobs: name ids, or use --dead");
  if (!dead && name !== undefined) throw new CliError("Cannot retry jobs: --name needs --dead");
  if (!dead) return await printChanges("retry", { database, ids });
  const which = name === undefined ? "all dead letters" : `the dead letters of ${name}`;
  if (!yes) {
    await confirm(project, {
      database,
      action: "retry jobs of",
      question: (database) => `Retry ${which} in ${database}?`,
    });
  }
  const retried = await withProgress("Retrying", () => retryDead(project, { database, name }));
  print(`${paint("green", "retried")} ${count(retried, "job")}`);
}

async function cancelJobs(ids: readonly string[], options: DatabaseOption): Promise<void> {
  await printChanges("cancel", { ...options, ids });
}

async function printChanges(
  change: JobChange,
  options: DatabaseOption & { readonly ids: readonly string[] },
): Promise<void> {
  const project = requireProject(process.cwd());
  const jobs = await withProgress(
    "Changing jobs",
    () => changeJobs(project, { ...options, change }),
  );
  for (const { id, state } of jobs) {
    const isRunning = change === "cancel" && state === "running";
    const verb = change === "retry" ? "retried" : isRunning ? "cancelling" : "cancelled";
    print(`${paint("green", verb)} ${id}${isRunning ? ", at the next heartbeat of its run" : ""}`);
  }
}

interface PurgeOptions extends DatabaseOption {
  readonly state: readonly JobState[];
  readonly before: number;
  readonly name?: string;
  readonly yes?: boolean;
}

async function removeJobs(
  { state: states, before: ageMs, name, yes = false, database }: PurgeOptions,
): Promise<void> {
  const project = requireProject(process.cwd());
  const before = new Date(Date.now() - ageMs);
  const kind = name === undefined ? "" : ` of ${name}`;
  if (!yes) {
    await confirm(project, {
      database,
      action: "purge jobs of",
      question: (database) =>
        `Remove the jobs${kind} in ${database} that are ${states.join(" or ")} since before ` +
        `${before.toISOString()}?`,
    });
  }
  const filter = { states, before, name };
  const purged = await withProgress("Purging", () => purgeJobs(project, { database, filter }));
  print(`${paint("yellow", "purged")} ${count(purged, "job")}`);
}

function readStates(text: string): readonly JobState[] {
  return statesOf(text, JOB_STATES);
}

function readEnded(text: string): readonly JobState[] {
  return statesOf(text, ENDED);
}

function statesOf(text: string, known: readonly JobState[]): readonly JobState[] {
  return text.split(",").map((word) => {
    const state = known.find((it) => it === word.trim());
    if (state) return state;
    throw new InvalidArgumentError(`Allowed states are ${known.join(", ")}.`);
  });
}

function readId(text: string): string {
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError("It is not the id of a job, which is a UUID.");
}

function readIds(text: string, others: readonly string[] = []): readonly string[] {
  return [...new Set([...others, readId(text)])];
}

function readAge(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  const unitMs = UNITS[unit];
  if (unitMs !== undefined) return Number(number) * unitMs;
  throw new InvalidArgumentError("It is not an age such as 30m, 12h, 7d or 2w.");
}
