/**
 * Checks of jobs: their kinds and handlers in the sources, and those that wait in the database.
 *
 * @module
 */
import {
  type ApplicationOptions,
  type ListedProviders,
  providersOf,
} from "../project/application.ts";
import { waitingKinds } from "../project/jobs.ts";
import type { DatabaseOption } from "../project/migrations.ts";
import type { Project, SourceFile } from "../project/project.ts";
import { lineOf } from "../terminal/cli_error.ts";
import { count } from "../terminal/terminal.ts";
import { declaredJobs, type DeclaredKind } from "./declared_jobs.ts";
import { type Finding, listSome, ok, problem, skipped, warning } from "./finding.ts";

const SUBJECT = "jobs";

/**
 * Checks whether each kind of job has a handler, each handler a job, and each job that waits a
 * handler. It knows the kinds that the sources declare as constants; without any, it only names the
 * files that cannot be parsed.
 */
export async function checkJobs(
  project: Project,
  { sources, hasDatabase, ...options }: ApplicationOptions & DatabaseOption & {
    readonly sources: readonly SourceFile[];
    /** Whether there is a database that has run all migrations. */
    readonly hasDatabase: boolean;
  },
): Promise<readonly Finding[]> {
  const { kinds, durable, unparsed } = await declaredJobs(sources);
  const unread = unparsed.map((file) => skipped(SUBJECT, `${file} cannot be parsed`));
  if (kinds.length + durable.length === 0) return unread;
  const handled = kinds.filter(({ handlers }) => handlers.length > 0).map(({ name }) => name);
  const findings = [
    ...unread,
    ...checkKinds(kinds),
    ...await checkProviders(project, { ...options, kinds }),
    ...hasDatabase
      ? await checkWaiting(project, { ...options, handled: [...handled, ...durable] })
      : [],
  ];
  return findings.length > 0
    ? findings
    : [ok(SUBJECT, `${count(kinds.length + durable.length, "kind")}, each handled`)];
}

function checkKinds(kinds: readonly DeclaredKind[]): readonly Finding[] {
  const unhandled = kinds.filter(({ handlers }) => handlers.length === 0);
  const unused = kinds.filter(({ handlers, isUsed }) => handlers.length > 0 && !isUsed);
  return [
    ...unhandled.length > 0 ? [warning(SUBJECT, `without a handler: ${namesOf(unhandled)}`)] : [],
    ...unused.length > 0
      ? [warning(SUBJECT, `handled, but never enqueued: ${namesOf(unused)}`)]
      : [],
  ];
}

/** Checks whether the classes with handlers are provided, and whether workers run. */
async function checkProviders(
  project: Project,
  { kinds, ...options }: ApplicationOptions & { readonly kinds: readonly DeclaredKind[] },
): Promise<readonly Finding[]> {
  let provided: ListedProviders;
  try {
    provided = await providersOf(project, options);
  } catch (error) {
    return [skipped(SUBJECT, lineOf(error))];
  }
  if (!provided.hasJobs) {
    return [problem(SUBJECT, "none runs: no module imports JobsModule.forRoot(Db)")];
  }
  return kinds.flatMap(({ name, handlers }) =>
    handlers.filter((handler) => !provided.names.includes(handler)).map((handler) =>
      problem(SUBJECT, `${handler}, which handles ${name}, is in the providers of no module`)
    )
  );
}

/** Checks whether jobs wait whose kinds have no handlers, such as after a rename. */
async function checkWaiting(
  project: Project,
  { handled, ...options }: DatabaseOption & { readonly handled: readonly string[] },
): Promise<readonly Finding[]> {
  try {
    const waiting = await waitingKinds(project, options);
    // the framework handles its own, such as fw.webhook, and runs schedules
    const stranded = waiting.filter(({ name }) =>
      !handled.includes(name) && !/^(?:fw\.|schedule:)/.test(name)
    );
    return stranded.map(({ name, count }) =>
      warning(SUBJECT, `${count} of ${name} wait, and nothing in src handles them: was it renamed?`)
    );
  } catch (error) {
    return [problem(SUBJECT, lineOf(error))];
  }
}

function namesOf(kinds: readonly DeclaredKind[]): string {
  return listSome(kinds.map(({ name }) => name));
}
