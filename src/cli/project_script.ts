/**
 * Code that runs inside a project: with its imports, its runtime and its environment.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { CliError, lineOf } from "./cli_error.ts";
import { findDeno, type Outcome, run } from "./deno.ts";
import { readText } from "./file_plan.ts";
import { hasFile, type Project } from "./project.ts";

/** What a script leaves behind: what it returned, or the message of what it threw. */
interface Left {
  readonly result?: unknown;
  readonly error?: string;
}

/**
 * Runs the body of an async function in the project's folder, with the variables of its `.env`, and
 * gives what it returns, which has to be JSON. It may `import()` as a file of that folder does.
 *
 * @throws {CliError} if there is no Deno to run it, or with the message of what it throws
 */
export async function runInProject(project: Project, body: string): Promise<unknown> {
  const deno = findDeno();
  if (deno === undefined) {
    throw new CliError(
      "Cannot run the project: there is no deno on the PATH; npm install -g deno adds one",
    );
  }
  const folder = mkdtempSync(join(tmpdir(), "fw-"));
  try {
    const file = join(folder, "result.json");
    const envFile = hasFile(project, ".env") ? ["--env-file=.env"] : [];
    const args = ["run", "-A", "--quiet", "--no-prompt", ...envFile, "-"];
    const env = { ...process.env, NO_COLOR: "1" };
    const outcome = await run(deno, args, { cwd: project.root, input: script(body, file), env });
    const { result, error = failureOf(outcome) }: Left = JSON.parse(readText(file) ?? "{}");
    if (result === undefined) throw new CliError(lineOf(error));
    return result;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** It exits by itself: what the application has started may hold the process up. */
function script(body: string, file: string): string {
  return `
import { writeFileSync } from "node:fs";
import process from "node:process";
async function main() {
${body}
}
let left;
try {
  left = { result: await main() ?? null };
} catch (error) {
  left = { error: error instanceof Error ? error.message : String(error) };
}
writeFileSync(${JSON.stringify(file)}, JSON.stringify(left));
process.exit(0);
`;
}

function failureOf({ code, stderr }: Outcome): string {
  const [line = `it ended with exit code ${code}`] = /(?<=^error: ).+/m.exec(stderr) ?? [];
  return `Cannot run the project: ${line}`;
}
