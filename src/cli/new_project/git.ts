/**
 * The first commit of a project.
 *
 * @module
 */
import process from "node:process";
import { findOnPath, type Outcome, run } from "../system/subprocess.ts";

/** Where a commit is made. */
export interface CommitOptions {
  /** The folder that becomes a repository. */
  readonly folder: string;
  /** The folder around it, which may be in a repository already. */
  readonly around: string;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Who commits where git has not been told: it makes no commit without a name. */
const NOBODY = {
  GIT_AUTHOR_NAME: "fw",
  GIT_AUTHOR_EMAIL: "fw@localhost",
  GIT_COMMITTER_NAME: "fw",
  GIT_COMMITTER_EMAIL: "fw@localhost",
};

/** The variables that name a repository, whatever the folder. */
const REPOSITORY = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"];

/**
 * Makes a folder a git repository with one commit of all that is in it, and says in a few words what it
 * did. It leaves the folder alone where there is no git, or where the folder around is in a repository.
 */
export async function commitAll({ folder, around, signal }: CommitOptions): Promise<string> {
  const program = findOnPath("git");
  if (program === undefined) return "without git, which is not here";
  const own = { ...process.env };
  for (const name of REPOSITORY) delete own[name]; // a git hook that runs this sets them
  const git = (args: readonly string[], { cwd = folder, env = own } = {}): Promise<Outcome> =>
    run([program, ...args], { cwd, env, signal });
  const inside = await git(["rev-parse", "--is-inside-work-tree"], { cwd: around });
  if (inside.stdout.trim() === "true") return "in the git repository around it";
  const identities = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].map((name) => git(["var", name]));
  const isKnown = (await Promise.all(identities)).every(({ code }) => code === 0);
  const env = isKnown ? own : { ...own, ...NOBODY };
  const steps = [
    ["init", "--quiet", "--initial-branch=main"],
    ["add", "--all"],
    ["commit", "--quiet", "--no-verify", "--no-gpg-sign", "--message=First commit"],
  ];
  for (const step of steps) {
    const { code, stderr } = await git(step, { env });
    if (code !== 0) return `without a commit, because git says: ${stderr.trim().split("\n")[0]}`;
  }
  return "with its first commit";
}
