/**
 * The secrets of a project.
 *
 * @module
 */
import { hasFile, type Project } from "../project.ts";
import { findOnPath, run } from "../subprocess.ts";
import { type Finding, ok, problem, skipped, warning } from "./finding.ts";

/** Looks whether the secrets of `.env` are on their way into the repository. */
export async function checkSecrets(project: Project): Promise<Finding> {
  const { root } = project;
  const git = findOnPath("git");
  if (!hasFile(project, ".env")) return skipped("secrets", "there is no .env");
  if (git === undefined) return skipped("secrets", "there is no git");
  const { code: isRepository } = await run([git, "rev-parse"], { cwd: root });
  if (isRepository !== 0) return skipped("secrets", "there is no git repository");
  const tracked = await run([git, "ls-files", "--error-unmatch", ".env"], { cwd: root });
  if (tracked.code === 0) {
    return problem("secrets", ".env is in the repository: git rm --cached .env");
  }
  const ignored = await run([git, "check-ignore", "-q", ".env"], { cwd: root });
  return ignored.code === 0
    ? ok("secrets", ".env is not in the repository")
    : warning("secrets", ".env is not in .gitignore");
}
