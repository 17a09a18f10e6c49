/**
 * Code that runs inside a project: with its imports, its runtime and its environment.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { CliError, interruptible, lineOf } from "../terminal/cli_error.ts";
import { findDeno, type Outcome, run } from "../system/programs.ts";
import { exportsName } from "../edit/imports.ts";
import { parseModule } from "../edit/syntax.ts";
import { readText } from "../system/files.ts";
import { hasFile, type Project } from "./project.ts";

/** A script that uses the exports of a file of the project. */
export interface ProjectScript {
  /** The file, from the project's folder. */
  readonly file: string;
  /** A required export; the script finds all exports in `exported`. */
  readonly name: string;
  /** The option that names another file, for error messages. */
  readonly option: string;
  /**
   * The body of an async function, which returns JSON and can `import()` like a file of the folder.
   */
  readonly body: string;
  /** Variables that replace those of this process and of `.env`. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The result of a script, or the message of its error. */
interface ScriptResult {
  readonly result?: unknown;
  readonly error?: string;
}

/**
 * Runs a script in the project's folder, with the variables of its `.env`, and returns its result.
 *
 * @throws {CliError} if the file, the export or Deno is missing, or with the message of an
 * error of the script
 */
export async function runInProject(project: Project, script: ProjectScript): Promise<unknown> {
  const { file, name, option } = script;
  const path = resolve(project.root, file);
  const source = readText(path);
  if (source === undefined) {
    throw new CliError(`Cannot load ${file}: it does not exist; ${option} names another file`);
  }
  // other files may have side effects when loaded; one with a syntax error is not run
  if (await parseModule(source) && !await exportsName(source, name)) {
    throw new CliError(`Cannot load ${file}: it exports no ${name}; ${option} names another file`);
  }
  const deno = findDeno();
  if (deno === undefined) {
    throw new CliError(
      "Cannot run the project: deno is not on the PATH; npm install -g deno installs it",
    );
  }
  return await interruptible(async (signal) => {
    const folder = mkdtempSync(join(tmpdir(), "fw-"));
    try {
      const resultFile = join(folder, "result.json");
      const envFile = hasFile(project, ".env") ? ["--env-file=.env"] : [];
      const outcome = await run([deno, "run", "-A", "--quiet", "--no-prompt", ...envFile, "-"], {
        cwd: project.root,
        input: sourceOf(script.body, { path, resultFile }),
        env: { ...process.env, NO_COLOR: "1", ...script.env },
        signal,
      });
      const left: ScriptResult = JSON.parse(readText(resultFile) ?? "{}");
      if (left.result === undefined) throw new CliError(lineOf(left.error ?? failureOf(outcome)));
      return left.result;
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

/**
 * The script exits explicitly, as the application may keep the process alive. It reports an error
 * with its causes, and with its place in the project unless the framework has explained it.
 */
function sourceOf(
  body: string,
  { path, resultFile }: { readonly path: string; readonly resultFile: string },
): string {
  return `
import { writeFileSync } from "node:fs";
import process from "node:process";
async function main() {
  const exported = await import(${JSON.stringify(pathToFileURL(path).href)});
${body}
}
function describe(error) {
  if (!(error instanceof Error)) return "it throws " + JSON.stringify(error);
  const messages = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!messages.some((message) => message.includes(cause.message))) messages.push(cause.message);
  }
  const root = "file://" + process.cwd() + "/";
  const frame = error.stack?.split("\\n").find((line) => line.includes(root) && !line.includes("$deno$"));
  const place = frame?.slice(frame.indexOf(root) + root.length).replace(/\\)$/, "");
  const isExplained = messages[0]?.startsWith("Cannot ") && !messages[0].startsWith("Cannot read prop");
  return messages.join(": ") + (place && !isExplained ? " (" + place + ")" : "");
}
let left;
try {
  left = { result: await main() ?? null };
} catch (error) {
  left = { error: describe(error) };
}
writeFileSync(${JSON.stringify(resultFile)}, JSON.stringify(left));
process.exit(0);
`;
}

function failureOf({ code, stderr }: Outcome): string {
  const [line = `it ended with exit code ${code}`] = /(?<=^error: ).+/m.exec(stderr) ?? [];
  return `Cannot run the project: ${line}`;
}
