/**
 * Runs jobs until none is left, unless one of them ends the process. Its arguments: the URL of the
 * database, and how a job with a body ends the process.
 */
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import { job } from "../../src/jobs/mod.ts";
import { jobsApp, until } from "./support/jobs_app.ts";

const [url = "", how] = process.argv.slice(2);
const Task = job("task", { body: v.boolean(), retries: 0 });

const task = Task.handle(async ({ body: isPoisoned }, { signal }) => {
  await delay(isPoisoned ? 100 : 400);
  if (!isPoisoned) return;
  if (how === "exit") process.exit(1);
  setTimeout(() => {
    throw new Error("poison");
  });
  await delay(600_000, undefined, { signal });
});

const { app, jobs } = await jobsApp(url, { handlers: { task }, leaseMs: 250, maxLostRuns: 2 });
await app.startWorkers({ drainMs: 500 });
await until(async () => (await jobs.list({ states: ["ready", "running"] })).length === 0);
await app.close();
