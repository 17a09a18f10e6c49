import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { Registry } from "prom-client";
import { job } from "../../src/jobs/mod.ts";
import { test } from "../support/test.ts";
import { Clock, type JobsApp, jobsApp, testJobs } from "./support/jobs_app.ts";

const Send = job("send", { retries: 0 });
const Fail = job("fail", { retries: 1, backoff: "fixed", backoffMs: 1000 });

/** Returns the lines of metrics of jobs, without buckets, sums and comments. */
async function lines({ app }: JobsApp): Promise<string[]> {
  const response = await app.request("/metrics");
  assert.equal(response.status, 200);
  return (await response.text()).split("\n").filter((line) =>
    /^jobs_(?!.*_(bucket|sum))/.test(line)
  );
}

testJobs("enableMetrics() counts jobs, their runs by outcome, and what waits", async (url) => {
  const clock = new Clock();
  const inside: string[][] = [];
  const handlers = {
    send: Send.handle(async () => {
      inside.push((await lines(app)).filter((line) => line.startsWith("jobs_running")));
    }),
    fail: Fail.handle(() => Promise.reject(new Error("no"))),
  };
  await using app = await jobsApp(url, { handlers, now: clock.now });
  app.app.enableMetrics();
  assert.deepEqual(await lines(app), [
    'jobs_running{job="send"} 0',
    'jobs_running{job="fail"} 0',
    "jobs_oldest_ready_seconds 0",
  ]);
  await Send.enqueue();
  await Send.enqueue(undefined, { singleton: "one" });
  await Send.enqueue(undefined, { singleton: "one" }); // which is not a new one
  await Fail.enqueue();
  const rolledBack = app.db.transaction(async () => {
    await Send.enqueue();
    throw new RangeError("back");
  });
  await assert.rejects(rolledBack, RangeError);
  clock.ms += 2500;
  assert.ok((await lines(app)).includes("jobs_oldest_ready_seconds 2.5"));
  assert.deepEqual(await app.jobs.drain(), ["done", "done", "scheduled"]);
  clock.ms += 2000;
  assert.deepEqual(await app.jobs.drain(), ["dead"]);
  assert.deepEqual(await lines(app), [
    'jobs_enqueued_total{job="send"} 2',
    'jobs_enqueued_total{job="fail"} 1',
    'jobs_runs_total{job="send",outcome="done"} 2',
    'jobs_runs_total{job="fail",outcome="scheduled"} 1',
    'jobs_runs_total{job="fail",outcome="dead"} 1',
    'jobs_run_duration_seconds_count{job="send"} 2',
    'jobs_run_duration_seconds_count{job="fail"} 2',
    'jobs_running{job="send"} 0',
    'jobs_running{job="fail"} 0',
    "jobs_oldest_ready_seconds 0",
  ]);
  assert.deepEqual(inside[0], ['jobs_running{job="send"} 1', 'jobs_running{job="fail"} 0']);
});

test("durations of runs are in seconds; OpenMetrics has the same metrics", async () => {
  const send = Send.handle(() => delay(30));
  await using app = await jobsApp("sqlite::memory:", { handlers: { send } });
  const registry = new Registry();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
  app.app.enableMetrics("/metrics", { registry });
  await app.app.ready();
  await Send.enqueue();
  await app.jobs.drain();
  const text = await (await app.app.request("/metrics")).text();
  const [, sum] = /^jobs_run_duration_seconds_sum\{job="send"\} (\S+)$/m.exec(text) ?? [];
  assert.ok(Number(sum) > 0.025 && Number(sum) < 5, sum);
  assert.match(text, /^# TYPE jobs_runs counter$/m);
  assert.match(text, /^jobs_runs_total\{job="send",outcome="done"\} 1$/m);
  assert.match(text, /# EOF\n?$/);
});

test("a scrape does not fail while the database does, and has no age of the oldest job", async () => {
  await using app = await jobsApp("sqlite::memory:", { handlers: { send: Send.handle(() => {}) } });
  app.app.enableMetrics();
  assert.ok((await lines(app)).includes("jobs_oldest_ready_seconds 0"));
  const { oldestMs } = app.jobs;
  for (
    const broken of [() => Promise.reject(new Error("away")), () => new Promise<never>(() => {})]
  ) {
    app.jobs.oldestMs = broken;
    assert.deepEqual(await lines(app), ['jobs_running{job="send"} 0']);
  }
  app.jobs.oldestMs = oldestMs;
});

testJobs("health() is down while the oldest job waits longer, due or ready", async (url) => {
  const clock = new Clock();
  await using app = await jobsApp(url, { now: clock.now });
  app.app.enableHealthCheck("/health", {
    indicators: { jobs: app.jobs.health({ maxAgeMs: 60_000 }) },
  });
  const status = async () => (await app.app.request("/health")).status;
  assert.equal(await status(), 200);
  await Send.enqueue(undefined, { runAt: new Date(clock.ms + 60_000) });
  clock.ms += 120_000;
  assert.equal(await status(), 200); // it is due for as long
  clock.ms++;
  assert.equal(await status(), 503); // though no worker has made it ready
  await app.jobs.drain(); // without a handler
  assert.equal(await status(), 503);
  const [waiting] = await app.jobs.enqueued(Send);
  await app.jobs.cancel(waiting!.id);
  assert.equal(await status(), 200);
});

test("health() refuses an age that is not positive", async () => {
  await using app = await jobsApp("sqlite::memory:");
  for (const maxAgeMs of [0, -1, NaN]) {
    assert.throws(
      () => app.jobs.health({ maxAgeMs }),
      new RangeError(`Cannot check jobs: maxAgeMs ${maxAgeMs} is not positive`),
    );
  }
});
