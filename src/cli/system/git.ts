/**
 * Git.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { CliError, interruptible } from "../terminal/cli_error.ts";
import { findOnPath, type Outcome, run } from "./programs.ts";

/** Where git runs. */
export interface GitOptions {
  /** A folder of the repository. */
  readonly cwd: string;
  /** Variables in addition to those of this process; default none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Kills it; default never. */
  readonly signal?: AbortSignal;
}

/** Checks whether git is on the PATH. */
export function hasGit(): boolean {
  return findOnPath("git") !== undefined;
}

/**
 * Runs git in the repository of a folder, without its hooks: also where a hook of another one runs
 * this.
 *
 * @throws {CliError} if it is missing
 */
export async function git(
  args: readonly string[],
  { cwd, env = {}, signal }: GitOptions,
): Promise<Outcome> {
  const program = findOnPath("git");
  if (program === undefined) throw new CliError("Cannot run git: it is not on the PATH");
  const command = [program, "-c", "core.hooksPath=/dev/null", ...args] as const;
  return await run(command, { cwd, signal, env: { ...outsideOfHooks(process.env), ...env } });
}

/**
 * Runs work in a temporary folder that has the files of a commit: a worktree, which is removed
 * afterwards, also on failure and after a signal.
 *
 * @throws {CliError} if git cannot create it
 */
export async function inWorktree<T>(
  { cwd, commit }: { readonly cwd: string; readonly commit: string },
  work: (folder: string) => Promise<T>,
): Promise<T> {
  return await interruptible(async (signal) => {
    const folder = mkdtempSync(join(tmpdir(), "fw-"));
    const worktree = join(folder, "worktree");
    try {
      const args = ["worktree", "add", "--detach", "--quiet", worktree, commit];
      const { code, stderr } = await git(args, { cwd, signal });
      signal.throwIfAborted();
      if (code !== 0) throw new CliError(`Cannot check out ${commit}: ${stderr.trim()}`);
      return await work(worktree);
    } finally {
      await git(["worktree", "remove", "--force", worktree], { cwd });
      rmSync(folder, { recursive: true, force: true });
      await git(["worktree", "prune"], { cwd }); // one that was not created as a whole
    }
  });
}

/** A hook has variables that name its own index and repository. */
function outsideOfHooks(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const entries = Object.entries(env).filter(([name]) => !OF_HOOKS.has(name));
  return { ...Object.fromEntries(entries), LC_ALL: "C" };
}

/** The variables of one repository (`git rev-parse --local-env-vars`). */
const OF_HOOKS = new Set([
  ...["GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE"],
  ...["GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX"],
  ...["GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_SHALLOW_FILE"],
  "GIT_WORK_TREE",
]);
