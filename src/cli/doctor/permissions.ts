/**
 * What a project is allowed.
 *
 * @module
 */
import { join } from "node:path";
import { readText } from "../system/files.ts";
import type { Project } from "../project/project.ts";
import { type Finding, ok, skipped, warning } from "./finding.ts";

/** Looks whether the application is allowed more than it needs. */
export function checkPermissions({ root, configFile }: Project): Finding {
  const config = readText(join(root, configFile)) ?? "";
  const [, command] = /"start"\s*:\s*(?:\{[^}]*"command"\s*:\s*)?"([^"]*)"/.exec(config) ?? [];
  if (command === undefined) return skipped("permissions", `${configFile} has no task start`);
  const isAll = /(^|\s)(-\w*A\w*|--allow-all)(\s|$)/.test(command) ||
    (/(^|\s)-P\b/.test(command) && /"all"\s*:\s*true/.test(config));
  if (isAll) {
    return warning("permissions", "the task start grants all of them: name those that are needed");
  }
  const flags = command.match(/--allow-\w+|(?<=\s)-P\S*/g) ?? [];
  if (flags.length > 0) return ok("permissions", `the task start grants ${flags.join(", ")}`);
  return warning("permissions", "the task start grants none, so it would ask for each");
}
