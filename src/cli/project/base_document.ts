/**
 * The OpenAPI document that `fw prove --base` compares with: of a file, or of a revision of git.
 *
 * @module
 */
import { existsSync, statSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { readText, withoutComments } from "../system/files.ts";
import { git, inWorktree } from "../system/git.ts";
import { CliError, lineOf } from "../terminal/cli_error.ts";
import { type ApplicationOptions, documentOf } from "./application.ts";
import { findProject, hasFile, type Project } from "./project.ts";

/** The document to compare with, by its name, and the application that it is of. */
interface BaseOptions extends ApplicationOptions {
  readonly base: string;
}

/** A document, and where it comes from. */
export interface BaseDocument {
  /** As it was named: `main`. */
  readonly name: string;
  /** The document, as JSON. */
  readonly document: unknown;
}

/**
 * Returns the document that a text names: a file of the current folder; a file of a revision,
 * `main:openapi.json`, whose path is from the top of the repository or, with `./`, from the current
 * folder; or a revision, `main`. The document of a revision is made by its own release of the
 * framework from its own routes, in a temporary worktree, with the variables of the project.
 *
 * @throws {CliError} if there is neither, or it cannot be read
 */
export async function baseDocument(
  project: Project,
  options: BaseOptions,
): Promise<BaseDocument> {
  const { base } = options;
  return { name: base, document: await parse(await textOf(project, options), base) };
}

async function textOf(project: Project, { base, ...options }: BaseOptions): Promise<string> {
  if (isFile(base)) return readText(resolve(base)) ?? "";
  if (base.startsWith("-")) fail(base, "it is not a revision"); // git would read an option
  const inCurrentFolder = { cwd: process.cwd() };
  if (base.includes(":")) {
    const { code, stdout, stderr } = await git(["cat-file", "blob", base], inCurrentFolder);
    if (code !== 0) fail(base, reasonOf(stderr));
    return stdout;
  }
  const revision = ["rev-parse", "--verify", "--end-of-options", `${base}^{commit}`];
  const { code, stdout: commit } = await git(revision, inCurrentFolder);
  if (code !== 0) {
    fail(base, "it is neither a file nor a revision of a git repository; git fetch may bring it");
  }
  const { stdout: prefix } = await git(["rev-parse", "--show-prefix"], { cwd: project.root });
  return await inWorktree({ cwd: project.root, commit: commit.trim() }, async (top) => {
    const root = resolve(top, prefix.trim());
    const earlier = findProject(root);
    if (earlier?.root !== root) fail(base, "it has no project in this folder");
    linkPackages({ from: project, to: earlier });
    try {
      const { variables } = project;
      return await documentOf({ ...earlier, variables }, { ...options, isYaml: false });
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      const advice = `a document in the repository needs no run: ${base}:openapi.json`;
      fail(base, `${error.message}; ${advice}`);
    }
  });
}

/**
 * Links the installed packages of a project into another checkout of it, if these are installed by
 * npm. Deno finds those of a `deno.json` without a folder, or makes the folder itself.
 */
function linkPackages(
  { from, to }: { readonly from: Project; readonly to: Project },
): void {
  const folder = join(from.root, "node_modules");
  if (!existsSync(folder) || hasFile(to, "node_modules") || !hasFile(to, "package.json")) return;
  const config = withoutComments(readText(join(to.root, to.configFile)) ?? "");
  if (/"nodeModulesDir"\s*:\s*"auto"/.test(config)) return; // Deno would change the folder
  symlinkSync(folder, join(to.root, "node_modules"), "junction");
}

/** Parses JSON, or YAML if the name ends so. */
async function parse(text: string, base: string): Promise<unknown> {
  try {
    if (!/\.ya?ml$/i.test(base)) return JSON.parse(text);
    const { parse } = await import("yaml");
    return parse(text);
  } catch (cause) {
    fail(base, lineOf(cause));
  }
}

function isFile(path: string): boolean {
  return statSync(resolve(path), { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Returns the first line of an error of git, without its beginning. */
function reasonOf(stderr: string): string {
  const [line = ""] = stderr.trim().split("\n");
  return line.replace(/^fatal: /, "") || "git cannot read it";
}

function fail(base: string, why: string): never {
  throw new CliError(`Cannot compare with ${base}: ${why}`);
}
