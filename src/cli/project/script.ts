/**
 * Code that runs inside a project: with its imports, its runtime and its environment.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { CliError, interruptible, lineOf, ProgramExit, SIGNALS } from "../terminal/cli_error.ts";
import { writeLines } from "../terminal/terminal.ts";
import { findDeno, type Outcome, run, sendSignal } from "../system/programs.ts";
import { exportsName } from "../edit/imports.ts";
import { parseModule } from "../edit/syntax.ts";
import { readText } from "../system/files.ts";
import { hasFile, permissionFlags, type Project, startCommand } from "./project.ts";

/** A file of the project, and what a script needs of it. */
export interface ImportedFile {
  /** The file, from the project's folder. */
  readonly file: string;
  /** A required export; the script finds all exports in `exported`. */
  readonly name: string;
  /** The option that names another file, for error messages. */
  readonly option: string;
  /** The body of an async function, which can `import()` like a file of the folder. */
  readonly body: string;
}

/** A script that uses the exports of a file of the project; its body returns JSON. */
export interface ProjectScript extends ImportedFile {
  /** Variables that replace those of the project. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether what it prints is printed; default false. */
  readonly showsOutput?: boolean;
  /**
   * Whether the body removes what it created when the `AbortSignal` in `aborted` is aborted, by
   * which it ends; others are killed.
   */
  readonly cleansUp?: boolean;
}

/** The result of a script, or the message of its error. */
interface ScriptResult {
  readonly result?: unknown;
  readonly error?: string;
}

/**
 * Runs a script in the project's folder, with its variables, and returns its result.
 *
 * @throws {CliError} if the file, the export or Deno is missing, or with the message of an
 * error of the script
 */
export async function runInProject(project: Project, script: ProjectScript): Promise<unknown> {
  const path = await checkedPath(project, script);
  const deno = requireDeno();
  const { cleansUp = false } = script;
  const env = { ...await project.variables(), NO_COLOR: "1", ...script.env };
  return await interruptible(async (aborted, hurried) => {
    const folder = mkdtempSync(join(tmpdir(), "fw-"));
    try {
      const resultFile = join(folder, "result.json");
      const outcome = await run([deno, "run", "-A", "--quiet", "--no-prompt", "-"], {
        cwd: project.root,
        input: sourceOf(script.body, { path, resultFile, cleansUp }),
        env,
        onLines: script.showsOutput ? writeLines : undefined,
        ...cleansUp ? { stop: aborted, signal: hurried } : { signal: aborted },
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
 * Runs a script in the project's folder until it ends by itself, with the variables of its `.env`:
 * what it prints is printed, and signals are passed on to it. A project with a `deno.json` runs on
 * Deno, with the permissions of its task `start`; one with a `package.json` on the runtime of this
 * process.
 *
 * @throws {CliError} if the file, the export or Deno is missing
 * @throws {ProgramExit} if its exit code is not 0; it has printed why
 */
export async function serveInProject(project: Project, script: ImportedFile): Promise<void> {
  const path = await checkedPath(project, script);
  const variables = hasFile(project, ".env") ? ["--env-file=.env"] : [];
  const [program, ...args] = runtimeOf(project);
  const child = spawn(program, [...args, ...variables, "-"], {
    cwd: project.root,
    stdio: ["pipe", "inherit", "inherit"],
  });
  const pass = (signal: NodeJS.Signals) => sendSignal(child.pid, signal);
  for (const signal of SIGNALS) process.on(signal, pass);
  try {
    child.stdin.on("error", () => {}); // it may end before it has read its input
    child.stdin.end(servingSource(script.body, path));
    const [code, signal] = await once(child, "exit");
    const exitCode = Number(code ?? 128 + constants.signals[signal as NodeJS.Signals]);
    if (exitCode !== 0) throw new ProgramExit(exitCode);
  } finally {
    for (const signal of SIGNALS) process.off(signal, pass);
  }
}

/** Returns the program that runs a project, with the arguments before those of the script. */
function runtimeOf(project: Project): readonly [program: string, ...args: string[]] {
  const isNpmProject = project.configFile === "package.json";
  if (isNpmProject && process.versions.bun) return [process.execPath, "run"];
  if (isNpmProject && !("Deno" in globalThis)) return [process.execPath, "--input-type=module"];
  const permissions = startPermissions(project);
  return [requireDeno(), "run", "--quiet", "--no-prompt", ...permissions];
}

/** Returns the flags of the permissions of the task `start`; all permissions without them. */
function startPermissions(project: Project): readonly string[] {
  const flags = permissionFlags(startCommand(project) ?? "");
  return flags.length > 0 ? flags : ["--allow-all"];
}

/** Checks the file of a script, and returns its path. */
async function checkedPath(
  project: Project,
  { file, name, option }: ImportedFile,
): Promise<string> {
  const path = resolve(project.root, file);
  const source = readText(path);
  if (source === undefined) {
    throw new CliError(`Cannot load ${file}: it does not exist; ${option} names another file`);
  }
  // other files may have side effects when loaded; one with a syntax error is not run
  if (await parseModule(source) && !await exportsName(source, name)) {
    throw new CliError(`Cannot load ${file}: it exports no ${name}; ${option} names another file`);
  }
  return path;
}

function requireDeno(): string {
  const deno = findDeno();
  if (deno !== undefined) return deno;
  throw new CliError(
    "Cannot run the project: deno is not on the PATH; npm install -g deno installs it",
  );
}

/**
 * The script exits explicitly, as the application may keep the process alive. It reports an error
 * with its causes, and with its place in the project unless the framework has explained it.
 */
function sourceOf(
  body: string,
  { path, resultFile, cleansUp }: {
    readonly path: string;
    readonly resultFile: string;
    readonly cleansUp: boolean;
  },
): string {
  return `
import { writeFileSync } from "node:fs";
import process from "node:process";
${cleansUp ? ABORTED : ""}
${ORPHANED}
async function main() {
  const exported = await import(${JSON.stringify(pathToFileURL(path).href)});
${body}
}
${DESCRIBE}
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

/** The script prints the line of an error itself, and otherwise runs until it ends. */
function servingSource(body: string, path: string): string {
  return `
import process from "node:process";
async function main() {
  const exported = await import(${JSON.stringify(pathToFileURL(path).href)});
${body}
}
${DESCRIBE}
try {
  await main();
} catch (error) {
  const line = describe(error).trim().replaceAll(/\\s*[\\n\\r]\\s*/g, "; ");
  console.error("error: " + line.replaceAll(/\\p{Cc}/gu, "?"));
  process.exit(1);
}
`;
}

/** The code by which signals abort a script: those of a terminal, and that of this process. */
const ABORTED = `const controller = new AbortController();
const aborted = controller.signal;
for (const signal of ${JSON.stringify(SIGNALS)}) process.on(signal, () => controller.abort());`;

/** The code by which SIGTERM ends a script whose parent was killed, and which would go on. */
const ORPHANED = `const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, "SIGTERM");
}, 500).unref();`;

/** The code by which a script describes an error. */
const DESCRIBE = `function describe(error) {
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
}`;

function failureOf({ code, stderr }: Outcome): string {
  const [line = `it ended with exit code ${code}`] = /(?<=^error: ).+/m.exec(stderr) ?? [];
  return `Cannot run the project: ${line}`;
}
