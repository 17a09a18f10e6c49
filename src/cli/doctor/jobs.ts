/**
 * Checks of jobs: their kinds and handlers in the sources, and those that wait in the database.
 *
 * @module
 */
import type { Node, Program } from "@babel/types";
import { callsOf, nameOf, parseModule, partsOf, spanOf } from "../edit/syntax.ts";
import {
  type ApplicationOptions,
  type ListedProviders,
  providersOf,
} from "../project/application.ts";
import { waitingKinds } from "../project/jobs.ts";
import type { DatabaseOption } from "../project/migrations.ts";
import { type Project, sourcesOf } from "../project/project.ts";
import { lineOf } from "../terminal/cli_error.ts";
import { count, type Finding, listSome, ok, problem, skipped, warning } from "./finding.ts";

const SUBJECT = "jobs";

/** A kind of job, as the sources declare and use it: `const SendReceipt = job("send-receipt")`. */
interface DeclaredKind {
  /** The name that is stored. */
  readonly name: string;
  /** The classes that have its handlers. */
  readonly handlers: readonly string[];
  /** Whether anything but handlers uses it. */
  readonly isUsed: boolean;
}

/**
 * Checks whether each kind of job has a handler, each handler a job, and each job that waits a
 * handler. It knows the kinds that `src` declares as constants; without any, it has no findings.
 */
export async function checkJobs(
  project: Project,
  { hasDatabase, ...options }: ApplicationOptions & DatabaseOption & {
    readonly hasDatabase: boolean;
  },
): Promise<readonly Finding[]> {
  const programs = await Promise.all(sourcesOf(project).map(parseModule));
  const parsed = programs.filter((program) => program !== undefined);
  const kinds = declaredKinds(parsed);
  const durable = durableKinds(parsed);
  if (kinds.length + durable.length === 0) return [];
  const handled = kinds.filter(({ handlers }) => handlers.length > 0).map(({ name }) => name);
  const findings = [
    ...checkKinds(kinds),
    ...await checkProviders(project, { ...options, kinds }),
    ...hasDatabase
      ? await checkWaiting(project, { ...options, handled: [...handled, ...durable] })
      : [],
  ];
  return findings.length > 0
    ? findings
    : [ok(SUBJECT, `${count([...kinds, ...durable], "kind")}, each handled`)];
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

/** Finds the kinds that programs declare as constants, and their uses by these names. */
function declaredKinds(programs: readonly Program[]): readonly DeclaredKind[] {
  return declaredConstants(programs, "job").map(({ constant, name }) => ({
    name,
    handlers: programs.flatMap((program) => handlersOf(program, constant)),
    isUsed: programs.some((program) => isUsed(program, constant)),
  }));
}

/** Lists the kinds of the jobs of durable handlers of events: `order-placed:mail`. */
function durableKinds(programs: readonly Program[]): readonly string[] {
  return declaredConstants(programs, "event").flatMap(({ constant, name }) =>
    programs.flatMap((program) => callsOf(program, `${constant}.durable`)).flatMap((call) => {
      const [handler] = call.arguments;
      return handler?.type === "StringLiteral" ? [`${name}:${handler.value}`] : [];
    })
  );
}

/** Finds constants that are the result of a function, with its first argument. */
function declaredConstants(
  programs: readonly Program[],
  by: string,
): readonly { readonly constant: string; readonly name: string }[] {
  const parts = programs.flatMap((program) => [...partsOf(program)]);
  return parts.filter((part) => part.type === "VariableDeclarator").flatMap(({ id, init }) => {
    const constant = nameOf(id);
    const isDeclared = init?.type === "CallExpression" && nameOf(init.callee) === by;
    const name = isDeclared ? init.arguments[0] : undefined;
    return constant !== undefined && name?.type === "StringLiteral"
      ? [{ constant, name: name.value }]
      : [];
  });
}

/** Returns the names of the classes of a program that have handlers of a kind. */
function handlersOf(program: Program, constant: string): readonly string[] {
  const classes = [...partsOf(program)].filter((node) => node.type === "ClassDeclaration");
  return callsOf(program, `${constant}.handle`).flatMap((call) => {
    const owner = classes.find((it) =>
      spanOf(it).start < spanOf(call).start && spanOf(call).end < spanOf(it).end
    );
    return owner?.id ? [owner.id.name] : [];
  });
}

/** Checks whether a program enqueues jobs of a kind, or passes the kind on. */
function isUsed(program: Program, constant: string): boolean {
  return callsOf(program, `${constant}.enqueue`).length > 0 ||
    [...partsOf(program)].some((node) =>
      argumentsOf(node).some((argument) => nameOf(argument) === constant)
    );
}

function argumentsOf(node: Node): readonly Node[] {
  return node.type === "CallExpression" || node.type === "NewExpression" ? node.arguments : [];
}

function namesOf(kinds: readonly DeclaredKind[]): string {
  return listSome(kinds.map(({ name }) => name));
}
