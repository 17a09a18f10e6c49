/**
 * The first commit of a project.
 *
 * @module
 */
import process from "node:process";
import { findOnPath, run } from "../subprocess.ts";

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
export async function commitAll(folder: string, around: string): Promise<string> {
  const program = findOnPath("git");
  if (program === undefined) return "without git, which is not here";
  const own = { ...process.env };
  for (const name of REPOSITORY) delete own[name]; // a git hook that runs this sets them
  const git = (cwd: string, ...args: string[]) => run([program, ...args], { cwd, env: own });
  const inside = await git(around, "rev-parse", "--is-inside-work-tree");
  if (inside.stdout.trim() === "true") return "in the git repository around it";
  const { code, stdout } = await git(folder, "config", "user.email");
  const env = code === 0 && stdout.trim() !== "" ? own : { ...own, ...NOBODY };
  const steps = [
    ["init", "--quiet", "--initial-branch=main"],
    ["add", "--all"],
    ["commit", "--quiet", "--no-verify", "--no-gpg-sign", "--message=First commit"],
  ];
  for (const step of steps) {
    const { code, stderr } = await run([program, ...step], { cwd: folder, env });
    if (code !== 0) return `without a commit, because git says: ${stderr.trim().split("\n")[0]}`;
  }
  return "with its first commit";
}
