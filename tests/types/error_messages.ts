/** The compiler's messages about mistakes in a program that uses the framework. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";
import type TypeScript from "typescript";

const ts: typeof TypeScript = createRequire(import.meta.url)("typescript");

/** A file that no program has: its text is in the test. */
const FILE = fileURLToPath(new URL("mistakes.ts", import.meta.url));
const OPTIONS: TypeScript.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
  types: ["node"],
};

/** The files of the framework and of libraries, which are the same for each program. */
const parsed = new Map<string, TypeScript.SourceFile | undefined>();

/**
 * Compiles statements, each of which is a mistake, after the declarations that they use. Returns the
 * message of each: its lines, and those that point to where a type was declared.
 */
export function messagesOf(
  declarations: string,
  mistakes: readonly string[],
): readonly CompilerMessage[] {
  const lines = mistakes.map((mistake) => mistake.replaceAll(/\s+/g, " "));
  const text = `${declarations.trim()}\n${lines.join("\n")}\n`;
  const program = programOf(text);
  const source = program.getSourceFile(FILE);
  const first = declarations.trim().split("\n").length;
  const found = program.getSemanticDiagnostics(source).map((diagnostic) => ({
    line: source!.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line - first,
    token: text.slice(diagnostic.start).slice(0, diagnostic.length),
    text: textOf(diagnostic),
    related: (diagnostic.relatedInformation ?? []).map(textOf),
  }));
  assert.deepEqual(found.map(({ line }) => line), lines.map((_, line) => line), lines.join("\n"));
  return found;
}

/** Compiles a program, and returns how many types the compiler instantiates. */
export function instantiationsOf(text: string): number {
  const program = programOf(text);
  assert.deepEqual(program.getSemanticDiagnostics(program.getSourceFile(FILE)).map(textOf), []);
  return program.getInstantiationCount();
}

/** The compiler's message about a line. */
export interface CompilerMessage {
  /** What it is about: the text that an editor underlines. */
  readonly token: string;
  /** All lines of the message. */
  readonly text: string;
  /** Related messages, such as where a type was declared. */
  readonly related: readonly string[];
}

function programOf(text: string): TypeScript.Program {
  const host = ts.createCompilerHost(OPTIONS);
  const { getSourceFile, fileExists, readFile } = host;
  host.getSourceFile = (name, ...rest) => {
    if (name === FILE) return ts.createSourceFile(name, text, OPTIONS.target!, true);
    if (!parsed.has(name)) parsed.set(name, getSourceFile.call(host, name, ...rest));
    return parsed.get(name);
  };
  host.fileExists = (name) => name === FILE || fileExists.call(host, name);
  host.readFile = (name) => name === FILE ? text : readFile.call(host, name);
  return ts.createProgram([FILE], OPTIONS, host);
}

function textOf({ messageText }: Pick<TypeScript.Diagnostic, "messageText">): string {
  return ts.flattenDiagnosticMessageText(messageText, "\n");
}
