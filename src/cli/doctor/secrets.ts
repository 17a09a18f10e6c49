/**
 * The secrets of a project.
 *
 * @module
 */
import type { Project } from "../project/project.ts";
import { findOnPath, run } from "../system/subprocess.ts";
import { type Finding, ok, problem, skipped, warning } from "./finding.ts";

/** Looks whether the secrets of `.env` and its like are on their way into the repository. */
export async function checkSecrets({ root }: Project): Promise<Finding> {
  const program = findOnPath("git");
  if (program === undefined) return skipped("secrets", "there is no git");
  const git = (...args: string[]) => run([program, ...args], { cwd: root });
  if ((await git("rev-parse")).code !== 0) return skipped("secrets", "there is no git repository");
  const { stdout } = await git("ls-files", ".env", ".env.*");
  const tracked = stdout.split("\n").filter((file) => file !== "" && file !== ".env.example");
  if (tracked.length > 0) {
    const files = tracked.join(" ");
    return problem("secrets", `${files} in the repository: git rm --cached ${files}`);
  }
  const { code } = await git("check-ignore", "-q", ".env");
  if (code === 0) return ok("secrets", ".env is not in the repository");
  return warning("secrets", ".env is not in .gitignore");
}
