/**
 * The kinds of jobs that sources declare, and where they use them.
 *
 * @module
 */
import type { CallExpression, ClassDeclaration, NewExpression } from "@babel/types";
import { nameOf, parseModule, partsOf, spanOf } from "../edit/syntax.ts";
import type { SourceFile } from "../project/project.ts";

/** A kind of job, as the sources declare and use it: `const SendReceipt = job("send-receipt")`. */
export interface DeclaredKind {
  /** The name that is stored. */
  readonly name: string;
  /** The classes that have its handlers. */
  readonly handlers: readonly string[];
  /** Whether anything but handlers uses it. */
  readonly isUsed: boolean;
}

/** What sources declare. */
export interface DeclaredJobs {
  /** The kinds that are declared as constants. */
  readonly kinds: readonly DeclaredKind[];
  /** The kinds of the jobs of durable handlers of events: `order-placed:mail`. */
  readonly durable: readonly string[];
  /** The files that are no valid TypeScript. */
  readonly unparsed: readonly string[];
}

/** Finds the kinds of jobs that sources declare as constants, and their uses by these names. */
export async function declaredJobs(sources: readonly SourceFile[]): Promise<DeclaredJobs> {
  const files = await Promise.all(sources.map(async ({ path, text }) => {
    return { path, parts: await partsOfFile(text) };
  }));
  const parts = files.flatMap(({ parts }) => parts ?? []);
  const constants = parts.flatMap(({ constants }) => constants);
  return {
    kinds: constants.filter(({ by }) => by === "job").map(({ constant, name }) => ({
      name,
      handlers: parts.flatMap((file) => handlersOf(file, constant)),
      isUsed: parts.some((file) => isUsed(file, constant)),
    })),
    durable: constants.filter(({ by }) => by === "event").flatMap(({ constant, name }) =>
      parts.flatMap((file) => durableHandlersOf(file, constant)).map((it) => `${name}:${it}`)
    ),
    unparsed: files.filter(({ parts }) => parts === undefined).map(({ path }) => path),
  };
}

/** A constant that is the result of a function, with its first argument. */
interface Constant {
  readonly constant: string;
  readonly by: string | undefined;
  readonly name: string;
}

/** The parts of a file that matter, in the order of the text. */
interface FileParts {
  readonly classes: readonly ClassDeclaration[];
  readonly calls: readonly (CallExpression | NewExpression)[];
  readonly constants: readonly Constant[];
}

/** Returns the parts of a file; `undefined` if it is invalid. */
async function partsOfFile(text: string): Promise<FileParts | undefined> {
  const program = await parseModule(text);
  if (program === undefined) return undefined;
  const nodes = [...partsOf(program)];
  return {
    classes: nodes.filter((node) => node.type === "ClassDeclaration"),
    calls: nodes.filter((node) => node.type === "CallExpression" || node.type === "NewExpression"),
    constants: nodes.filter((node) => node.type === "VariableDeclarator").flatMap(
      ({ id, init }) => {
        const constant = nameOf(id);
        if (constant === undefined || init?.type !== "CallExpression") return [];
        const [name] = init.arguments;
        if (name?.type !== "StringLiteral") return [];
        return [{ constant, by: nameOf(init.callee), name: name.value }];
      },
    ),
  };
}

/** Returns the names of the classes of a file that have handlers of a kind. */
function handlersOf(file: FileParts, constant: string): readonly string[] {
  return callsOf(file, `${constant}.handle`).flatMap((call) => {
    const owner = file.classes.find((it) =>
      spanOf(it).start < spanOf(call).start && spanOf(call).end < spanOf(it).end
    );
    return owner?.id ? [owner.id.name] : [];
  });
}

/** Returns the names of the durable handlers of an event. */
function durableHandlersOf(file: FileParts, constant: string): readonly string[] {
  return callsOf(file, `${constant}.durable`).flatMap(({ arguments: [name] }) =>
    name?.type === "StringLiteral" ? [name.value] : []
  );
}

/** Checks whether a file enqueues jobs of a kind, or passes the kind on. */
function isUsed(file: FileParts, constant: string): boolean {
  return callsOf(file, `${constant}.enqueue`).length > 0 ||
    file.calls.some((call) => call.arguments.some((it) => nameOf(it) === constant));
}

function callsOf({ calls }: FileParts, name: string) {
  return calls.filter(({ type, callee }) => type === "CallExpression" && nameOf(callee) === name);
}
