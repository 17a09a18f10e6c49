/**
 * `fw info`: the versions of all that plays a part, as a report of a defect needs them.
 *
 * @module
 */
import type { Command } from "commander";
import process from "node:process";
import { denoVersion } from "../doctor/runtime.ts";
import { checkoutRoot, VERSION } from "../framework.ts";
import { findProject, type Project } from "../project.ts";
import { table } from "../table.ts";
import { print } from "../terminal.ts";

/** Adds `fw info`. */
export function infoCommand(program: Command): void {
  program.command("info")
    .summary("print versions, for reports of defects")
    .description(
      "Prints the versions of all that plays a part, as a report of a defect needs them.",
    )
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      `
Example:
  fw info --json`,
    )
    .action(info);
}

async function info({ json }: { json?: boolean }): Promise<void> {
  const project = projectHere();
  const facts = {
    fw: VERSION,
    source: checkoutRoot() ?? "release",
    runtime: runtimeName(),
    deno: await denoVersion(process.cwd()) ?? "none on the PATH",
    system: `${process.platform} ${process.arch}`,
    project: project?.root ?? "none here",
    ...project && { imports: project.framework },
  };
  if (json) return print(JSON.stringify(facts, null, 2));
  print(table(["", ""], Object.entries(facts)).trimStart());
}

/** Gives the project, if there is one: nobody needs one to ask for versions. */
function projectHere(): Project | undefined {
  try {
    return findProject(process.cwd());
  } catch {
    return undefined;
  }
}

/** Names what runs this command line. */
function runtimeName(): string {
  const { deno, bun, node = "" } = process.versions;
  return deno ? `Deno ${deno}` : bun ? `Bun ${bun}` : `Node.js ${node}`;
}
