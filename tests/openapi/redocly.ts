/**
 * `@redocly/cli`, a linter of OpenAPI documents. It is a program for Node with 150 packages, so it is
 * installed once, into a folder for temporary files, and not with the project.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { access, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

const VERSION = "2.77.0";
const FOLDER = join(tmpdir(), `fw-redocly-${VERSION}`);
const PROGRAM = join(FOLDER, "node_modules/@redocly/cli/bin/cli.js");

/** Without telemetry, and without checks for newer versions. */
const QUIETLY = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };

/** The findings of the linter. */
export interface LintProblem {
  /** The rule, such as `operation-summary`. */
  readonly ruleId: string;
  readonly severity: "error" | "warn";
  readonly message: string;
  /** Where in the document, as a JSON pointer. */
  readonly pointer: string;
}

/** Installs the linter, unless it is there. Several processes may do so at once. */
export async function installRedocly(): Promise<void> {
  if (await exists(PROGRAM)) return;
  const own = await mkdtemp(`${FOLDER}-`);
  try {
    const dependencies = { "@redocly/cli": VERSION };
    await writeFile(join(own, "package.json"), JSON.stringify({ private: true, dependencies }));
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    await promisify(execFile)("npm", ["install", ...flags], { cwd: own });
    await rename(own, FOLDER);
  } catch (error) {
    await rm(own, { recursive: true });
    if (!await exists(PROGRAM)) throw error; // else another process was faster
  }
}

/** Lints documents by the recommended rules, all in one run of Node, once it is installed. */
export async function lint(
  documents: Readonly<Record<string, object>>,
): Promise<ReadonlyMap<string, readonly LintProblem[]>> {
  const folder = await mkdtemp(join(tmpdir(), "fw-lint-"));
  try {
    const names = Object.keys(documents);
    const files = names.map((_, i) => `${i}.json`);
    for (const [i, file] of files.entries()) {
      await writeFile(join(folder, file), JSON.stringify(documents[names[i] ?? ""]));
    }
    const reports = await run(files, folder);
    return new Map(names.map((name, i) => [name, reports.get(files[i] ?? "") ?? []]));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What it prints of a document. */
interface Report {
  readonly totals: unknown;
  readonly problems: readonly {
    readonly ruleId: string;
    readonly severity: LintProblem["severity"];
    readonly message: string;
    readonly location: readonly [
      { readonly source: { readonly ref: string }; readonly pointer?: string },
    ];
  }[];
}

async function run(
  files: readonly string[],
  cwd: string,
): Promise<ReadonlyMap<string, readonly LintProblem[]>> {
  const flags = ["--extends", "recommended", "--format", "json", "--max-problems", "1000"];
  const output = await outputOf([PROGRAM, "lint", ...flags, ...files], cwd);
  const reports: readonly Report[] = JSON.parse(
    `[${output.replace(/\}\s*\{(?=\s*"totals")/g, "},{")}]`,
  );
  if (reports.length !== files.length) throw new Error(`Cannot read what Redocly says: ${output}`);
  const problems = new Map<string, LintProblem[]>(files.map((file) => [file, []]));
  for (const { ruleId, severity, message, location: [at] } of reports.flatMap((r) => r.problems)) {
    problems.get(basename(at.source.ref))?.push({
      ruleId,
      severity,
      message,
      pointer: at.pointer ?? "",
    });
  }
  return problems;
}

/** Returns what Node prints, which ends with 1 if there are errors in a document. */
function outputOf(args: readonly string[], cwd: string): Promise<string> {
  const options = { cwd, env: { ...process.env, ...QUIETLY }, maxBuffer: 2 ** 26 };
  return new Promise((resolve, reject) => {
    execFile("node", [...args], options, (error, stdout, stderr) => {
      if (error && error.code !== 1) return reject(error);
      if (stdout === "") return reject(new Error(`Redocly says nothing: ${stderr}`));
      resolve(stdout);
    });
  });
}

function exists(path: string): Promise<boolean> {
  return access(path).then(() => true, () => false);
}
