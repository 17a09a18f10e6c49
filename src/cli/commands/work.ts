/**
 * `fw work`: the workers of an application, without its server.
 *
 * @module
 */
import type { Command } from "commander";
import process from "node:process";
import type { ApplicationOptions } from "../project/application.ts";
import { requireProject } from "../project/project.ts";
import { serveInProject } from "../project/script.ts";
import { addAppOption, addExamples, wholeNumber } from "./options.ts";

/** Adds `fw work`. */
export function addWorkCommand(program: Command): void {
  const command = program.command("work")
    .summary("run jobs, without serving HTTP")
    .description(
      "Starts the application and runs its jobs until SIGINT or SIGTERM, without serving HTTP.",
    )
    .option(
      "--drain-ms <number>",
      "how long a stop waits for runs, in milliseconds",
      wholeNumber({ most: 999_999_999 }),
    )
    .action(work);
  addAppOption(command);
  addExamples(command, "fw work --drain-ms 60000");
}

async function work(
  { app: file, drainMs }: ApplicationOptions & { readonly drainMs?: number },
): Promise<void> {
  await serveInProject(requireProject(process.cwd()), {
    file,
    name: "AppModule",
    option: "--app",
    body: `  const { FwFactory } = await import("@fw/fw");
  const { Jobs } = await import("@fw/fw/jobs");
  const app = await FwFactory.create(await exported.AppModule);
  try {
    await exported.setUp?.(app);
    try {
      app.get(Jobs);
    } catch {
      throw new TypeError("Cannot run jobs: the application imports no JobsModule.forRoot(Db)");
    }
    await app.startWorkers(${JSON.stringify({ drainMs })});
  } catch (error) {
    await app.close({ drainMs: 0 }).catch(() => {}); // the first error is the cause
    throw error;
  }`,
  });
}
