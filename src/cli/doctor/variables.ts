/**
 * The environment of a project: as `.env.example` explains it, and as it is.
 *
 * @module
 */
import { join } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import { findOnPath, run } from "../deno.ts";
import { readText } from "../file_plan.ts";
import type { Project } from "../project.ts";
import { type Finding, ok, problem, skipped, warning } from "./finding.ts";

/** Variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Gives the variables that the application will see: those of the process go before those of `.env`. */
export function variablesOf({ root }: Project): Variables {
  return { ...parseEnv(readText(join(root, ".env")) ?? ""), ...process.env };
}

/** Looks for variables that `.env.example` has and the environment has not. */
export function checkVariables({ root }: Project, variables: Variables): Finding {
  const example = readText(join(root, ".env.example"));
  if (example === undefined) return skipped("environment", "there is no .env.example");
  const names = Object.keys(parseEnv(example));
  const missing = names.filter((name) => !variables[name]);
  if (missing.length === 0) return ok("environment", `all of ${names.join(", ")} are set`);
  return problem(
    "environment",
    `${missing.join(", ")} of .env.example ${isOrAre(missing)} not set`,
  );
}

/** Looks whether the secrets of `.env` are on their way into the repository. */
export async function checkSecrets({ root }: Project): Promise<Finding> {
  const git = findOnPath("git");
  if (readText(join(root, ".env")) === undefined) return skipped("secrets", "there is no .env");
  if (git === undefined) return skipped("secrets", "there is no git");
  const { code: isRepository } = await run(git, ["rev-parse"], { cwd: root });
  if (isRepository !== 0) return skipped("secrets", "there is no git repository");
  const tracked = await run(git, ["ls-files", "--error-unmatch", ".env"], { cwd: root });
  if (tracked.code === 0) {
    return problem("secrets", ".env is in the repository: git rm --cached .env");
  }
  const ignored = await run(git, ["check-ignore", "-q", ".env"], { cwd: root });
  return ignored.code === 0
    ? ok("secrets", ".env is not in the repository")
    : warning("secrets", ".env is not in .gitignore");
}

function isOrAre(list: readonly unknown[]): string {
  return list.length === 1 ? "is" : "are";
}
