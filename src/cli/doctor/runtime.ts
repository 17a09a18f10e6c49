/**
 * What a project runs on.
 *
 * @module
 */
import { denoVersion } from "../system/deno.ts";
import { VERSION } from "../project/framework.ts";
import type { Project } from "../project/project.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** The oldest Deno that projects are tested on. */
const OLDEST_DENO = [2, 9] as const;

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
