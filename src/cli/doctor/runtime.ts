/**
 * What a project runs on, and what it is allowed.
 *
 * @module
 */
import { join } from "node:path";
import { findDeno, run } from "../deno.ts";
import { readText } from "../file_plan.ts";
import { VERSION } from "../framework.ts";
import type { Project } from "../project.ts";
import { type Finding, ok, problem, skipped, warning } from "./finding.ts";

/** The oldest Deno that has what projects use: sets of permissions (`-P`). */
const OLDEST_DENO = [2, 5] as const;

/** Gives the version of the Deno that runs projects; nothing where there is none. */
export async function denoVersion(cwd: string): Promise<string | undefined> {
  const deno = findDeno();
  if (deno === undefined) return undefined;
  const { stdout } = await run(deno, ["--version"], { cwd });
  return /^deno (\S+)/.exec(stdout)?.[1];
}

/** Looks whether there is a Deno, and new enough. */
export async function checkRuntime({ root }: Project): Promise<Finding> {
  const version = await denoVersion(root);
  if (version === undefined) return problem("runtime", "there is no deno on the PATH");
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_DENO;
  const isNewEnough = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  if (isNewEnough) return ok("runtime", `Deno ${version}`);
  return problem("runtime", `Deno ${version} is older than ${OLDEST_DENO.join(".")}: deno upgrade`);
}

/** Looks whether project and command line are of one release. */
export function checkFramework({ framework }: Project): Finding {
  const [, wanted] = /@[\^~]?(\d+\.\d+)\.\d+/.exec(framework) ?? [];
  const own = VERSION.replace(/\.\d+$/, "");
  if (wanted === undefined || wanted === own) return ok("framework", framework);
  return warning("framework", `the project has ${framework}, and this command line is ${VERSION}`);
}

/** Looks whether the application is allowed more than it needs. */
export function checkPermissions({ root, configFile }: Project): Finding {
  const config = readText(join(root, configFile)) ?? "";
  const [, command] = /"start"\s*:\s*(?:\{[^}]*"command"\s*:\s*)?"([^"]*)"/.exec(config) ?? [];
  if (command === undefined) return skipped("permissions", `${configFile} has no task start`);
  if (!/(^|\s)(-\w*A\w*|--allow-all)(\s|$)/.test(command)) {
    return ok("permissions", "the task start grants some, not all");
  }
  return warning(
    "permissions",
    "the task start grants all of them (-A): name those that are needed",
  );
}
