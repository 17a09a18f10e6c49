/**
 * `fw info`: the versions that a bug report needs.
 *
 * @module
 */
import type { Command } from "commander";
import process from "node:process";
import { denoVersion } from "../system/programs.ts";
import { checkoutRoot, VERSION } from "../project/framework.ts";
import { findProject } from "../project/project.ts";
import { print, table } from "../terminal/terminal.ts";
import { addExamples } from "./options.ts";

/** Adds `fw info`. */
export function addInfoCommand(program: Command): void {
  const command = program.command("info")
    .summary("print versions for a bug report")
    .description(
      "Prints the versions that a bug report needs.",
    )
    .option("--json", "as JSON")
    .action(printInfo);
  addExamples(command, "fw info --json");
}

async function printInfo({ json = false }: { json?: boolean }): Promise<void> {
  const project = findProject(process.cwd());
  const facts = {
    fw: VERSION,
    source: checkoutRoot() ?? "release",
    runtime: runtimeName(),
    deno: await denoVersion(process.cwd()) ?? "not on the PATH",
    system: `${process.platform} ${process.arch}`,
    project: project?.root ?? "none",
    ...project && { imports: project.framework },
  };
  print(json ? JSON.stringify(facts, null, 2) : table(Object.entries(facts)));
}

/** Returns the runtime of this process. */
function runtimeName(): string {
  const { deno, bun, node = "" } = process.versions;
  return deno ? `Deno ${deno}` : bun ? `Bun ${bun}` : `Node.js ${node}`;
}
