import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { JobMetrics } from "../../src/jobs/telemetry/job_metrics.ts";
import { checkedOptions } from "../../src/jobs/jobs_options.ts";
import { job } from "../../src/jobs/mod.ts";
import { OutboxEngine } from "../../src/jobs/outbox/outbox_engine.ts";
import { Planner } from "../../src/jobs/schedules/planner.ts";
import { Worker } from "../../src/jobs/worker/worker.ts";
import { temporaryFolder } from "../db/support/database.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";
import { jobsApp, testWorkers, until } from "./support/jobs_app.ts";

const Slow = job("slow", { retries: 0 });
const LONG_MS = 600_000;

testWorkers("a stop waits for a run, and claims no other", async (url) => {
  let runs = 0;
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const slow = Slow.handle(() => {
    runs++;
    return end;
  });
  await using app = await jobsApp(url, { handlers: { slow }, concurrency: 1 });
  const ids = [await Slow.enqueue(), await Slow.enqueue()];
  app.work();
  await until(() => runs === 1);
  const stopped = app.stopWork(60_000);
  resolve();
  await stopped;
  const found = await Promise.all(ids.map((id) => app.jobs.find(id)));
  assert.deepEqual(found.map((it) => [it?.state, it?.attempts]), [["done", 1], ["ready", 0]]);
});

testWorkers(
  "run.signal is aborted before a stop ends, and the job returns to the queue",
  async (url) => {
    const reasons: unknown[] = [];
    const slow = Slow.handle(async (_, run) => {
      reasons.push("began");
      await delay(LONG_MS, undefined, { signal: run.signal }).catch(() => {});
      reasons.push(String(run.signal.reason));
      run.signal.throwIfAborted();
    });
    await using app = await jobsApp(url, { handlers: { slow } });
    const id = await Slow.enqueue();
    app.work();
    await until(() => reasons.length === 1);
    await app.stopWork(500);
    const { state, attempts } = (await app.jobs.find(id))!;
    assert.deepEqual([state, attempts], ["ready", 0]);
    assert.deepEqual(reasons, ["began", "AbortError: The process stops"]);
  },
);

testWorkers("the job of a run that stops early at a stop returns to the queue", async (url) => {
  let isRunning = false;
  const slow = Slow.handle(async (_, run) => {
    isRunning = true;
    while (!run.signal.aborted) await delay(5);
  });
  await using app = await jobsApp(url, { handlers: { slow } });
  const id = await Slow.enqueue();
  app.work();
  await until(() => isRunning);
  await app.stopWork(500);
  const { state, attempts } = (await app.jobs.find(id))!;
  assert.deepEqual([state, attempts], ["ready", 0]);
});

testWorkers(
  "the job of a run that ignores its signal returns to the queue as well",
  async (url) => {
    let runs = 0;
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const slow = Slow.handle(() => {
      runs++;
      return end;
    });
    await using app = await jobsApp(url, { handlers: { slow } });
    const id = await Slow.enqueue();
    app.work();
    await until(() => runs === 1);
    await app.stopWork(200);
    assert.deepEqual((await app.jobs.find(id))?.state, "ready");
    resolve(); // which has no effect
    await delay(50);
    assert.deepEqual((await app.jobs.find(id))?.state, "ready");
  },
);

test("a job that is claimed while the worker stops returns to the queue", async () => {
  let runs = 0;
  const slow = Slow.handle(() => void runs++);
  await using app = await jobsApp("sqlite::memory:");
  const id = await Slow.enqueue();
  const engine = new OutboxEngine(app.db);
  const claiming = Promise.withResolvers<void>();
  const { promise: held, resolve } = Promise.withResolvers<void>();
  const claim = engine.claim.bind(engine);
  engine.claim = async (...request) => {
    claiming.resolve();
    await held;
    return await claim(...request);
  };
  const options = checkedOptions({});
  const worker = new Worker({
    ...options,
    engine,
    planner: new Planner({ ...options, store: engine.schedules, handlers: new Map() }),
    metrics: new JobMetrics(),
    handlers: new Map([["slow", slow]]),
    inApplication: (handle) => handle(),
  });
  worker.start();
  await claiming.promise;
  const stopped = worker.stop({ drainMs: 10_000 });
  resolve();
  await stopped;
  const { state, attempts } = (await app.jobs.find(id))!;
  assert.deepEqual([runs, state, attempts], [0, "ready", 0]);
});

for (const how of ["listenGraceful", "startWorkers"]) {
  test(`${how}() runs jobs, and on SIGTERM waits for them within drainMs`, async () => {
    await using folder = await temporaryFolder();
    const url = `sqlite:${folder.path("data.sqlite")}`;
    await using process = new Subprocess("tests/jobs/stop_fixture.ts", { args: [url, how] });
    await process.until(/short began\n[^]*long began\n/);
    process.kill("SIGTERM");
    const { code, output } = await process.ended;
    assert.equal(code, 0, output);
    assert.match(output, /short ended/);
    assert.match(output, /long aborted: AbortError: The process stops/);
    await using app = await jobsApp(url);
    const rows = await app.db.fwJob.findMany({ orderBy: { seq: "asc" } });
    const states = rows.map(({ name, state, attempts }) => [name, state, attempts]);
    assert.deepEqual(states, [["short", "done", 1], ["long", "ready", 0]]);
  }, { slow: how === "startWorkers" });
}

test("listen() runs no jobs with whileServing: false, startWorkers() does", async () => {
  let runs = 0;
  const slow = Slow.handle(() => void runs++);
  const options = { handlers: { slow }, whileServing: false };
  await using app = await jobsApp("sqlite::memory:", options);
  await app.app.listen(0, { hostname: "127.0.0.1" });
  await Slow.enqueue();
  await delay(200);
  assert.equal(runs, 0);
  await app.app.startWorkers();
  await until(() => runs === 1);
});
