/**
 * `fw prove`: the application, tested by what it declares.
 *
 * @module
 */
import type { Command } from "commander";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { type BaseDocument, baseDocument } from "../project/base_document.ts";
import { type Project, requireProject } from "../project/project.ts";
import { runInProject } from "../project/script.ts";
import { readText } from "../system/files.ts";
import { CliError, lineOf } from "../terminal/cli_error.ts";
import { count, paint, print, withProgress } from "../terminal/terminal.ts";
import { addAppOption, addExamples, wholeNumber } from "./options.ts";

/** The default file of the proof. */
const PROOF_FILE = "prove.ts";

/** The file of what a proof compares. */
const RECORD_FILE = "prove.json";

/** The largest seed and number of requests of a proof. */
const MOST = 2_147_483_647;

/** How a proof is run. */
interface ProofOptions {
  /** The file, from the project's folder. */
  readonly file: string;
  /** The parts; default all. */
  readonly only?: readonly string[] | undefined;
  /** What determines the requests. */
  readonly seed?: number | undefined;
  /** How many requests are made from the document. */
  readonly requests?: number | undefined;
  /** The URL of a server for the databases. */
  readonly database?: string | undefined;
  /** The document to compare with. */
  readonly base?: BaseDocument | undefined;
  /** The content of `prove.json`, to compare; `undefined` for nothing. */
  readonly recorded: object | undefined;
}

/** What a proof has found. */
interface ProofResult {
  /** Whether nothing is wrong. */
  readonly isPassed: boolean;
  /** The report for a terminal. */
  readonly text: string;
  /** The report as JSON. */
  readonly json: object;
  /** The report as XML of JUnit. */
  readonly junit: string;
  /** The content of `prove.json`, as it would be. */
  readonly record: object;
  /** The number of failures. */
  readonly failures: number;
}

interface ProveCommandOptions extends Omit<ProofOptions, "base" | "recorded"> {
  readonly base?: string;
  readonly app: string;
  readonly json?: string;
  readonly junit?: string;
  readonly update?: boolean;
}

/** Adds `fw prove`. */
export function addProveCommand(program: Command): void {
  const command = program.command("prove")
    .summary("test the application by what it declares")
    .description(`Tests the application of prove.ts by what it declares:

  document  requests from its OpenAPI document get the answers that it describes
  roles     each route lets in the callers that it declares
  tenants   no answer to a caller depends on rows of another tenant
  contract  clients of an earlier document still work, with --base

The exit code is 1 if something is wrong. prove.json has what is compared from
run to run; a run without it writes it.`)
    .option("--only <parts>", "the parts to run: document,roles,tenants,contract", list)
    .option("--base <document>", "what contract compares with: a file, or a revision of git")
    .option("--seed <number>", "what determines the requests", wholeNumber({ most: MOST }))
    .option(
      "--requests <number>",
      "how many are made from the document",
      wholeNumber({ least: 1, most: MOST }),
    )
    .option("--database <url>", "a server for the databases, in place of SQLite")
    .option("--json <file>", "also write the report as JSON")
    .option("--junit <file>", "also write the report for CI, as XML of JUnit")
    .option("--update", "write prove.json as it is found to be")
    .option("--file <file>", "the file whose default export is the proof", PROOF_FILE)
    .action(proveProject);
  addAppOption(command);
  addExamples(
    command,
    "fw prove",
    "fw prove --only roles --update",
    "fw prove --base origin/main",
    "fw prove --only contract --base v1.4.0:openapi.json",
    "fw prove --seed 1187 --requests 50000 --junit report.xml",
  );
}

async function proveProject(
  { json, junit, update = false, base: text, app, ...options }: ProveCommandOptions,
): Promise<void> {
  const project = requireProject(process.cwd());
  const kept = readRecord(project);
  const recorded = update && kept ? { seed: kept["seed"], requests: kept["requests"] } : kept;
  const result = await withProgress("Proving", async () => {
    const base = text === undefined ? undefined : await baseDocument(project, { base: text, app });
    return await proofOf(project, { ...options, base, recorded });
  });
  print(result.text);
  if (json !== undefined) writeReport(json, `${JSON.stringify(result.json, null, 2)}\n`);
  if (junit !== undefined) writeReport(junit, result.junit);
  const isNew = Object.keys(result.record).some((name) => !(name in (kept ?? {})));
  if (update || isNew) {
    const verb = kept ? paint("cyan", "update") : paint("green", "create");
    const record = { ...kept, ...result.record };
    writeReport(join(project.root, RECORD_FILE), `${JSON.stringify(record, null, 2)}\n`);
    print(`${verb} ${RECORD_FILE}: keep it in the repository`);
  }
  if (result.isPassed) return;
  throw new CliError(`Found ${count(result.failures, "failure")}`);
}

/**
 * Runs the proof of a project.
 *
 * @throws {CliError} if the file is missing or exports no proof, or the application cannot start
 */
async function proofOf(
  project: Project,
  { file, ...options }: ProofOptions,
): Promise<ProofResult> {
  const result = await runInProject(project, {
    file,
    name: "default",
    option: "--file",
    cleansUp: true,
    body: `  const proof = exported.default;
  if (typeof proof?.run !== "function") return null;
  const report = await proof.run({ ...${JSON.stringify(options)}, signal: aborted });
  return {
    isPassed: report.isPassed,
    text: report.toText(),
    json: report.toJSON(),
    junit: report.toJUnit(),
    record: report.record,
    failures: report.parts.reduce((sum, { failures }) => sum + failures.length, 0),
  };`,
  });
  if (result) return result as ProofResult; // the script wrote it
  throw new CliError(`Cannot prove: the default export of ${file} is no result of prove()`);
}

function readRecord(project: Project): Readonly<Record<string, unknown>> | undefined {
  const text = readText(join(project.root, RECORD_FILE));
  if (text === undefined) return undefined;
  try {
    const record: unknown = JSON.parse(text);
    if (typeof record === "object" && record !== null) return { ...record };
    throw new TypeError("it is not an object");
  } catch (cause) {
    throw new CliError(`Cannot read ${RECORD_FILE}: ${lineOf(cause)}`, { cause });
  }
}

function writeReport(file: string, text: string): void {
  try {
    mkdirSync(dirname(resolve(file)), { recursive: true });
    writeFileSync(file, text);
  } catch (cause) {
    throw new CliError(`Cannot write ${file}: ${lineOf(cause)}`, { cause });
  }
}

function list(text: string): readonly string[] {
  return text.split(",").map((name) => name.trim());
}
