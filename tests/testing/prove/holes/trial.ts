/** Trials of `fw prove` with applications that have a hole. */
import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { run } from "../../../../src/cli/system/programs.ts";
import type {
  ContractBase,
  PartName,
  Proof,
  ProveRecord,
  ProveReport,
  ProveRunOptions,
} from "../../../../src/testing/mod.ts";
import { TemporaryFolder } from "../../../support/temporary_folder.ts";
import { type Hole, patched } from "./hole.ts";
import { pathOf, type Target, writeFiles } from "./target.ts";

/** How an application is run. */
export interface TrialOptions {
  readonly seed: number;
  /** How many requests are made from its document. */
  readonly requests: number;
}

/** An application without a hole, and what it has recorded. */
export class Trial implements AsyncDisposable {
  readonly #target: Target;
  readonly #options: TrialOptions;
  readonly #folder = new TemporaryFolder();
  #recorded: ProveRecord = {};

  private constructor(target: Target, options: TrialOptions) {
    this.#target = target;
    this.#options = options;
  }

  /** Records an application, in which `fw prove` must find nothing. */
  static async start(target: Target, options: TrialOptions): Promise<Trial> {
    const trial = new Trial(target, options);
    const report = await trial.runWithout(options);
    assert.ok(report.isPassed, report.toText());
    trial.#recorded = report.record;
    return trial;
  }

  /** Proves the application without a hole. */
  async runWithout(options: TrialOptions): Promise<ProveReport> {
    const folder = join(this.#folder.path, "without");
    writeFiles(folder, this.#target.files);
    const proof = await this.#load(folder);
    return await proof.run({ ...this.#given, ...options });
  }

  /** Returns what the part finds that is to find a hole. */
  async find(hole: Hole): Promise<readonly string[]> {
    const folder = join(this.#folder.path, nameOf(hole));
    writeFiles(folder, patched(this.#target.files, hole));
    const proof = await this.#load(folder);
    const report = await proof.run({ ...this.#given, only: [hole.part] });
    return report.parts.flatMap(({ failures }) =>
      failures.map(({ subject, message }) => `${subject}: ${message}`)
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#folder[Symbol.dispose]();
    await this.#target[Symbol.asyncDispose]();
  }

  get #given(): ProveRunOptions {
    const base: ContractBase = { name: "the base", document: this.#target.document };
    return { ...this.#options, base, recorded: this.#recorded, reduceMs: 0 };
  }

  async #load(folder: string): Promise<Proof> {
    const { entry } = this.#target;
    return this.#target.proofOf(await import(pathToFileURL(join(folder, entry)).href));
  }
}

/** Checks the types of applications, each with each of its holes. */
export async function checkTypes(
  subjects: readonly (readonly [target: Target, holes: readonly Hole[]])[],
): Promise<void> {
  using folder = new TemporaryFolder();
  const entries = subjects.flatMap(([{ name, files, entry }, holes]) =>
    holes.map((hole) => {
      const root = join(folder.path, name, nameOf(hole));
      writeFiles(root, patched(files, hole));
      return join(root, entry);
    })
  );
  const { code, stderr } = await run(
    [process.execPath, "check", "--config", pathOf("deno.json"), ...entries],
    { cwd: folder.path, env: { ...process.env, NO_COLOR: "1" } },
  );
  assert.equal(code, 0, stderr.replaceAll(/^Check .*\n/gm, ""));
}

function nameOf({ part, name }: Hole): string {
  return `${part}-${name.replaceAll(/\W+/g, "-")}`;
}

/** The numbers of holes by part: those that were found, and all. */
export class Score {
  readonly #byPart = new Map<PartName, { readonly found: number; readonly all: number }>();

  /** Counts a hole. */
  add({ part }: Hole, isFound: boolean): void {
    const { found, all } = this.#byPart.get(part) ?? { found: 0, all: 0 };
    this.#byPart.set(part, { found: found + Number(isFound), all: all + 1 });
  }

  /** Returns a line for each part. */
  toString(): string {
    return [...this.#byPart].map(([part, { found, all }]) => `${part}  ${found} of ${all} holes`)
      .join("\n");
  }
}
