/**
 * The folder of a new project: complete, with a first commit, or missing.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isTaken } from "../system/files.ts";
import { git, hasGit } from "../system/git.ts";
import { CliError, interruptible } from "../terminal/cli_error.ts";

/**
 * Creates a folder: it is filled under a temporary name, then renamed. A failure or an interruption
 * leaves nothing behind.
 *
 * @throws {CliError} if it exists, or cannot be created
 * @throws {Interruption} after a signal
 */
export async function makeFolder(
  { parent, name }: { readonly parent: string; readonly name: string },
  fill: (folder: string, aborted: AbortSignal) => Promise<void>,
): Promise<void> {
  checkAbsent(parent, name);
  await interruptible(async (aborted) => {
    const draft = makeDraft(parent, name);
    try {
      await fill(draft, aborted);
      aborted.throwIfAborted();
      checkAbsent(parent, name); // a rename would replace an empty folder
      renameSync(draft, join(parent, name));
    } finally {
      // children of a killed process may still write
      rmSync(draft, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    }
  });
}

/**
 * Checks that a name is free.
 *
 * @throws {CliError} if it exists, as a broken link too
 */
export function checkAbsent(parent: string, name: string): void {
  if (isTaken(join(parent, name))) throw new CliError(`Cannot create ${name}: it exists`);
}

/** Options of {@linkcode commitAll}. */
export interface CommitOptions {
  /** The folder that becomes a repository. */
  readonly folder: string;
  /** The parent folder, which may be in a repository. */
  readonly around: string;
  /** Cancels it. */
  readonly signal: AbortSignal;
}

/** The author of the commit where git has none configured. */
const NOBODY = {
  GIT_AUTHOR_NAME: "fw",
  GIT_AUTHOR_EMAIL: "fw@localhost",
  GIT_COMMITTER_NAME: "fw",
  GIT_COMMITTER_EMAIL: "fw@localhost",
};

/**
 * Creates a git repository with one commit of all files, unless git is missing or the parent folder
 * is in a repository. Returns what it did in a few words.
 */
export async function commitAll({ folder, around, signal }: CommitOptions): Promise<string> {
  if (!hasGit()) return "without git, which is not on the PATH";
  const inside = await git(["rev-parse", "--is-inside-work-tree"], { cwd: around, signal });
  if (inside.stdout.trim() === "true") return "in the git repository of its parent folder";
  const identities = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].map((name) =>
    git(["var", name], { cwd: folder, signal })
  );
  const isKnown = (await Promise.all(identities)).every(({ code }) => code === 0);
  const env = isKnown ? {} : NOBODY;
  const steps = [
    ["init", "--quiet", "--initial-branch=main"],
    ["add", "--all"],
    ["commit", "--quiet", "--no-verify", "--no-gpg-sign", "--message=First commit"],
  ];
  for (const step of steps) {
    const { code, stderr } = await git(step, { cwd: folder, env, signal });
    if (code !== 0) return `without a commit, because git failed: ${stderr.trim().split("\n")[0]}`;
  }
  return "with its first commit";
}

function makeDraft(parent: string, name: string): string {
  const draft = join(parent, `.${name}-${randomUUID()}`);
  try {
    mkdirSync(draft);
    return draft;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CliError(`Cannot create ${name}: the folder cannot be written to (${code})`, {
      cause,
    });
  }
}
