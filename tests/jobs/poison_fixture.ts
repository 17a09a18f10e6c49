/**
 * Runs jobs until none is left, unless one of them ends the process. Its arguments: the URL of the
 * database, and how a job ends the process.
 */
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { job } from "../../src/jobs/mod.ts";
import { jobsApp, until } from "./support/jobs_app.ts";

const [url = "", how] = process.argv.slice(2);
const Task = job("task", { retries: 0 });

const task = Task.handle(async (_, { signal }) => {
  await delay(100);
  if (how === "exit") process.exit(1);
  setTimeout(() => {
    throw new Error("poison");
  });
  await delay(600_000, undefined, { signal });
});

const { app, jobs } = await jobsApp(url, { handlers: { task }, leaseMs: 250, maxLostRuns: 2 });
await app.startWorkers({ drainMs: 500 });
await until(async () =>
  (await jobs.list({ states: ["ready", "scheduled", "running"] })).length === 0
);
await app.close();
