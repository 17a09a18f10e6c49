/** A folder such as a user of an API has: the types of its document, and programs that import them. */
import assert from "node:assert/strict";
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../support/project.ts";
import { Subprocess } from "../../support/subprocess.ts";
import { compile, type CompileError } from "./compile.ts";

const PROGRAMS = join(ROOT, "tests/openapi/typed_client/programs");

/** Stricter than `strict`, so that the types compile for every user. */
const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
};

/** The contents of the files that configure compilers and runtimes. */
const CONFIGURATION = {
  "deno.json": { nodeModulesDir: "manual", compilerOptions: STRICT },
  "package.json": { type: "module", dependencies: { "openapi-fetch": "*" } },
  "tsconfig.json": {
    compilerOptions: {
      ...STRICT,
      module: "nodenext",
      target: "es2024",
      lib: ["es2024", "dom", "dom.iterable", "esnext.disposable"],
      types: ["node"],
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      noEmit: true,
    },
  },
};

/** The folder; it is removed at the end of its scope. */
export class Workspace implements Disposable {
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), "fw-typed-client-")));

  /** Makes it, with the project's packages. */
  constructor() {
    symlinkSync(join(ROOT, "node_modules"), join(this.#folder, "node_modules"), "junction");
    for (const [file, json] of Object.entries(CONFIGURATION)) this.add(file, JSON.stringify(json));
  }

  /** Adds a file. */
  add(file: string, content: string): void {
    writeFileSync(join(this.#folder, file), content);
  }

  /** Copies the programs into it. */
  addPrograms(): void {
    cpSync(PROGRAMS, this.#folder, { recursive: true });
  }

  /** Generates `users_document.ts` from a document, by the command that users run. */
  async generateTypes(documentUrl: string): Promise<void> {
    const file = "users_document.ts";
    await this.#run("node_modules/.bin/openapi-typescript", [documentUrl, "-o", file]);
    assert.match(readFileSync(join(this.#folder, file), "utf8"), /^export interface paths {$/m);
  }

  /** Compiles all files; returns the errors. */
  compile(): readonly CompileError[] {
    return compile(this.#folder);
  }

  /** Runs a program; returns the JSON of its last line. */
  async run(program: string, args: readonly string[]): Promise<unknown> {
    const output = await this.#run(program, args);
    return JSON.parse(output.trimEnd().split("\n").at(-1) ?? "");
  }

  /** Removes it. */
  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }

  async #run(file: string, args: readonly string[]): Promise<string> {
    await using program = new Subprocess(file, { cwd: this.#folder, args });
    const { code, output } = await program.ended;
    assert.equal(code, 0, output);
    return output;
  }
}
