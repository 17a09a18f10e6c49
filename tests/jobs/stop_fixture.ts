/**
 * An application with a short and a long job, which a signal stops. Its arguments: the URL of the
 * database, and the method that starts the workers.
 */
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { job } from "../../src/jobs/mod.ts";
import { jobsApp } from "./support/jobs_app.ts";

const [url = "", how] = process.argv.slice(2);
const Short = job("short");
const Long = job("long");

const short = Short.handle(async () => {
  console.log("short began");
  await delay(500);
  console.log("short ended");
});
const long = Long.handle(async (_, run) => {
  console.log("long began");
  await delay(600_000, undefined, { signal: run.signal }).catch(() => {});
  console.log(`long aborted: ${run.signal.reason}`);
  run.signal.throwIfAborted();
});

const { app } = await jobsApp(url, { handlers: { short, long } });
await Short.enqueue();
await Long.enqueue();
const drain = { drainMs: 3000, lameDuckMs: 0 };
if (how === "startWorkers") await app.startWorkers(drain);
else await app.listenGraceful(0, { hostname: "127.0.0.1", ...drain });
