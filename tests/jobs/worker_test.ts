import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import { job } from "../../src/jobs/mod.ts";
import { OutboxEngine } from "../../src/jobs/outbox/outbox_engine.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { inFlight } from "./support/in_flight.ts";
import { jobsApp, testJobs, testWorkers, until } from "./support/jobs_app.ts";

const Send = job("send", { body: v.object({ n: v.number() }), backoff: "fixed", backoffMs: 1 });
const Sweep = job("sweep");
/** So seldom that a job that runs was not found by polling. */
const NEVER_MS = 600_000;

testWorkers("a worker runs a job at once after the commit, without polling", async (url) => {
  const seen: number[] = [];
  const handlers = { send: Send.handle(({ body }) => seen.push(body.n)) };
  await using app = await jobsApp(url, { handlers, pollMs: NEVER_MS });
  app.work();
  await delay(50); // it sleeps
  await app.db.transaction(async () => {
    await Send.enqueue({ n: 1 });
    await delay(50);
    assert.deepEqual(seen, []);
  });
  await until(() => seen.length === 1);
});

testWorkers(
  "a worker finds by polling what other processes enqueue, and what is due",
  async (url) => {
    const seen: number[] = [];
    const handlers = { send: Send.handle(({ body }) => seen.push(body.n)) };
    await using app = await jobsApp(url, { handlers, pollMs: 20 });
    app.work();
    await using other = await jobsApp(url);
    await other.jobs.enqueue(Send, { n: 1 });
    await other.jobs.enqueue(Send, { n: 2 }, { runAt: new Date(Date.now() + 100) });
    await until(() => seen.length === 2);
    assert.deepEqual(seen, [1, 2]);
  },
);

testWorkers("concurrency: a worker runs at most that number of jobs at a time", async (url) => {
  const flight = inFlight({ together: 3 });
  const handlers = { send: Send.handle(({ body }) => flight.during(String(body.n))) };
  await using app = await jobsApp(url, { handlers, concurrency: 3 });
  for (let n = 0; n < 9; n++) await Send.enqueue({ n });
  app.work();
  await until(() => flight.ended.length === 9);
  assert.equal(flight.most, 3);
});

testWorkers("concurrency: its default leaves a connection for heartbeats", async (url, brand) => {
  if (brand === "sqlite") return; // a transaction is the only one
  let most = 0;
  let running = 0;
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const sweep = Sweep.handle(() =>
    app.db.transaction(async () => {
      most = Math.max(most, ++running);
      await app.db.effect.count();
      await end;
      running--;
    })
  );
  await using app = await jobsApp(url, { handlers: { sweep }, poolMax: 3, leaseMs: 250 });
  const engine = new OutboxEngine(app.db);
  for (let n = 0; n < 4; n++) await Sweep.enqueue();
  app.work();
  await until(() => running === 2);
  await until(async () => (await engine.running()).every(({ beat }) => beat > 1));
  resolve();
  await until(async () => await app.db.fwJob.count({ where: { state: "done" } }) === 4);
  assert.equal(most, 2);
});

testWorkers("concurrency: one that can use all connections is logged", async (url, brand) => {
  await captureLogs(["fw", "jobs"], async (records) => {
    for (const concurrency of [2, 3]) {
      await using app = await jobsApp(url, { concurrency, poolMax: 3 });
      await app.work();
    }
    await using app = await jobsApp(url, { poolMax: 1 });
    await app.work();
    const warned = records.map(({ properties: { concurrency } }) => concurrency);
    assert.deepEqual(warned, brand === "sqlite" ? [] : [3, 1]);
  });
});

testWorkers(
  "globalConcurrency of a kind: at most that number of its jobs run in all processes",
  async (url) => {
    const Few = job("few", { body: v.object({ n: v.number() }), globalConcurrency: 2 });
    const flight = inFlight({ together: 2 });
    const handlers = { few: Few.handle(({ body }) => flight.during(String(body.n))) };
    await using one = await jobsApp(url, { handlers, pollMs: 5 });
    await using two = await jobsApp(url, { handlers, pollMs: 5 });
    await one.db.transaction(async () => {
      for (let n = 0; n < 16; n++) await one.jobs.enqueue(Few, { n });
    });
    one.work();
    two.work();
    await until(() => flight.ended.length === 16);
    assert.equal(flight.most, 2);
    assert.equal(new Set(flight.ended).size, 16);
  },
);

testWorkers("group: its jobs run one at a time in their order, retries included", async (url) => {
  const flights = new Map(["a", "b", "c"].map((group) => [group, inFlight()]));
  const failed = new Set<string>();
  const Step = job("step", {
    body: v.object({ group: v.string(), n: v.number() }),
    backoff: "fixed",
    backoffMs: 1,
  });
  const step = Step.handle(async ({ body: { group, n } }) => {
    await flights.get(group)!.during(String(n), () => {
      if (n !== 3 || failed.has(group)) return;
      failed.add(group);
      throw new Error("the first run of the third job");
    });
  });
  const handlers = { step };
  await using one = await jobsApp(url, { handlers, pollMs: 5 });
  await using two = await jobsApp(url, { handlers, pollMs: 5 });
  for (let n = 1; n <= 6; n++) {
    for (const group of flights.keys()) await one.jobs.enqueue(Step, { group, n }, { group });
  }
  one.work();
  two.work();
  await until(() => [...flights.values()].every(({ ended }) => ended.length === 7));
  for (const { most, ended } of flights.values()) {
    assert.equal(most, 1);
    assert.deepEqual(ended, ["1", "2", "3", "3", "4", "5", "6"]);
  }
});

testJobs(
  "timeoutMs: the signal of a run that takes too long is aborted, and it fails",
  async (url) => {
    const Slow = job("slow", { timeoutMs: 50, retries: 0 });
    const slow = Slow.handle(async (_, run) => {
      await delay(NEVER_MS, undefined, { signal: run.signal }).catch(() =>
        run.signal.throwIfAborted()
      );
    });
    await using app = await jobsApp(url, { handlers: { slow } });
    const id = await Slow.enqueue();
    assert.deepEqual(await app.jobs.drain(), ["dead"]);
    const { reason } = (await app.jobs.find(id))!;
    assert.equal(reason, "TimeoutError: The run took longer than 50 ms");
  },
);

testJobs("a handler that stops early when its signal is aborted has failed", async (url) => {
  const Slow = job("slow", { timeoutMs: 50, retries: 0 });
  const slow = Slow.handle(async (_, { signal }) => {
    while (!signal.aborted) await delay(5);
  });
  await using app = await jobsApp(url, { handlers: { slow } });
  const id = await Slow.enqueue();
  assert.deepEqual(await app.jobs.drain(), ["dead"]);
  const { reason } = (await app.jobs.find(id))!;
  assert.equal(reason, "TimeoutError: The run took longer than 50 ms");
});

testJobs("a handler that has not taken its signal is done when it returns", async (url) => {
  const Slow = job("slow", { timeoutMs: 50, retries: 0 });
  const slow = Slow.handle(() => delay(200));
  await using app = await jobsApp(url, { handlers: { slow } });
  await Slow.enqueue();
  assert.deepEqual(await app.jobs.drain(), ["done"]);
});

testJobs("timeoutMs: a schema that takes too long fails the run as well", async (url) => {
  const { promise: never } = Promise.withResolvers<boolean>();
  let isHanging = false;
  const body = v.pipeAsync(v.string(), v.checkAsync(() => !isHanging || never));
  const Checked = job("checked", { body, timeoutMs: 50, retries: 0 });
  const checked = Checked.handle(() => assert.fail());
  await using app = await jobsApp(url, { handlers: { checked } });
  const id = await Checked.enqueue("text");
  isHanging = true;
  assert.deepEqual(await app.jobs.drain(), ["dead"]);
  const { reason } = (await app.jobs.find(id))!;
  assert.equal(reason, "TimeoutError: The run took longer than 50 ms");
});

testWorkers("progress: what a run reports can be read while it runs", async (url) => {
  const { promise: read, resolve } = Promise.withResolvers<void>();
  const send = Send.handle(async ({ body }, run) => {
    await run.progress({ sent: body.n });
    await read;
  });
  await using app = await jobsApp(url, { handlers: { send } });
  app.work();
  const id = await Send.enqueue({ n: 7 });
  await until(async () => (await app.jobs.find(id))?.progress !== null);
  const { state, progress } = (await app.jobs.find(id))!;
  resolve();
  assert.deepEqual([state, progress], ["running", { sent: 7 }]);
});

testWorkers("cancel: the signal of a run is aborted, in whatever process it is", async (url) => {
  let isRunning = false;
  const sweep = Sweep.handle(async (_, run) => {
    isRunning = true;
    await delay(NEVER_MS, undefined, { signal: run.signal });
  });
  await using app = await jobsApp(url, { handlers: { sweep }, leaseMs: 250 });
  app.work();
  await using other = await jobsApp(url);
  const id = await other.jobs.enqueue(Sweep, undefined);
  await until(() => isRunning);
  assert.equal(await other.jobs.cancel(id), true);
  await until(async () => (await other.jobs.find(id))?.state === "cancelled");
  assert.equal(await other.jobs.cancel(id), false);
});
