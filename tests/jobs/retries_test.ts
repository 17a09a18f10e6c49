import assert from "node:assert/strict";
import * as v from "valibot";
import { job } from "../../src/jobs/mod.ts";
import { waitAfter } from "../../src/jobs/backoff.ts";
import { test } from "../support/test.ts";
import { Clock, jobsApp, testJobs, testWorkers, until } from "./support/jobs_app.ts";

const Fail = job("fail", { retries: 2, backoff: "exponential", backoffMs: 1000 });
const Sweep = job("sweep");

testJobs("retries: a failed job waits longer each time, and ends as a dead letter", async (url) => {
  const clock = new Clock();
  const attempts: number[] = [];
  const fail = Fail.handle((_, run) => {
    attempts.push(run.attempt);
    throw new Error(`run ${run.attempt}`);
  });
  await using app = await jobsApp(url, { now: clock.now, handlers: { fail } });
  const { jobs } = app;
  const id = await Fail.enqueue();
  for (const wholeMs of [1000, 2000]) {
    const failedAt = clock.ms;
    assert.deepEqual(await jobs.drain(), ["scheduled"]);
    const { runAt } = (await jobs.find(id))!;
    const waitMs = runAt.getTime() - failedAt;
    assert.ok(waitMs >= wholeMs / 2 && waitMs <= wholeMs, String(waitMs));
    clock.ms = runAt.getTime() - 1;
    assert.deepEqual(await jobs.drain(), []);
    clock.ms += 1;
  }
  assert.deepEqual(await jobs.drain(), ["dead"]);
  const { state, reason } = (await jobs.find(id))!;
  assert.deepEqual([state, reason, attempts], ["dead", "Error: run 3", [1, 2, 3]]);

  assert.equal(await jobs.retry(id), true); // with all of its retries
  assert.equal(await jobs.retry(id), false);
  assert.deepEqual(await jobs.drain(), ["scheduled"]);
  assert.deepEqual(attempts, [1, 2, 3, 1]);
});

testWorkers("a worker retries a job that fails, ends it as a dead letter, and runs others", async (
  url,
) => {
  const Fast = job("fast", { retries: 2, backoff: "fixed", backoffMs: 1, priority: 9 });
  const attempts: number[] = [];
  const fast = Fast.handle((_, run) => {
    attempts.push(run.attempt);
    throw new Error(`run ${run.attempt}`);
  });
  await using app = await jobsApp(url, { handlers: { fast, sweep: Sweep.handle(() => {}) } });
  const { jobs } = app;
  const [id, other] = [await Fast.enqueue(), await Sweep.enqueue()];
  await app.work();
  const state = async (id: string) => (await jobs.find(id))?.state;
  await until(async () => await state(id) === "dead" && await state(other) === "done");
  assert.deepEqual([(await jobs.find(id))?.reason, attempts], ["Error: run 3", [1, 2, 3]]);
  assert.equal(await jobs.retry(id), true); // with all of its retries
  await until(async () => attempts.length === 6 && await state(id) === "dead");
  assert.deepEqual(attempts, [1, 2, 3, 1, 2, 3]);
});

test("waitAfter() doubles up to an hour, between half and whole; a fixed wait grows by a tenth at most", () => {
  const wait = (attempt: number, random: number) =>
    waitAfter(attempt, { backoff: "exponential", backoffMs: 100, random: () => random });
  assert.deepEqual([1, 2, 3, 40].map((attempt) => wait(attempt, 0)), [50, 100, 200, 1_800_000]);
  assert.deepEqual([1, 2, 3, 40].map((attempt) => wait(attempt, 1)), [100, 200, 400, 3_600_000]);
  const fixed = { backoff: "fixed", backoffMs: 100 } as const;
  assert.deepEqual([0, 1].map((random) => waitAfter(9, { ...fixed, random: () => random })), [
    100,
    110.00000000000001,
  ]);
  assert.equal(waitAfter(3, { backoff: (attempt) => attempt * 7, backoffMs: 1 }), 21);
  const wrong = [NaN, -1, Infinity, "1"].map((ms) => () => ms as number);
  for (const backoff of [...wrong, () => assert.fail()]) {
    assert.equal(waitAfter(1, { backoff, backoffMs: 1 }), 3_600_000);
  }
});

testJobs("a job ends whatever its handler throws", async (url) => {
  const thrown = [
    new Error(`${"x".repeat(992)}\u{1f600}`), // its half would be stored
    new Error("a\0b\ud800"),
    Object.create(null),
    undefined,
    Object.defineProperty(new Error("a"), "message", { get: unreadable }),
    Object.assign(() => {}, { toString: unreadable }),
    Object.assign(new Error("a"), { name: Symbol("a") }),
  ];
  const Odd = job("odd", { retries: 0 });
  const odd = Odd.handle((_, run) => Promise.reject(thrown[run.attempt - 1]));
  await using app = await jobsApp(url, { handlers: { odd } });
  const id = await Odd.enqueue();
  const reasons: unknown[] = [];
  for (const _ of thrown) {
    assert.deepEqual(await app.jobs.drain(), ["dead"]);
    reasons.push((await app.jobs.find(id))?.reason);
    await app.jobs.retry(id);
    await app.db.fwJob.updateMany({ where: { id }, data: { attempts: reasons.length } });
  }
  assert.deepEqual(reasons, [
    `Error: ${"x".repeat(992)}\ufffd`,
    "Error: ab\ufffd",
    "an object was thrown",
    "undefined",
    ...Array(3).fill("an error was thrown that has no readable text"),
  ]);
});

function unreadable(): never {
  throw new Error("it cannot be read");
}

testJobs("a job ends whatever its schema says of its payload", async (url) => {
  const schema = (message?: string) => v.custom<number>(() => message === undefined, message);
  const Old = job("odd", { body: schema() });
  const odd = job("odd", { body: schema("a\0b\ud800") }).handle(() => {});
  await using app = await jobsApp(url, { handlers: { odd } });
  const id = await Old.enqueue(1);
  assert.deepEqual(await app.jobs.drain(), ["dead"]);
  const { reason } = (await app.jobs.find(id))!;
  assert.equal(reason, "the body does not satisfy its schema: ab\ufffd");
});

testJobs("a job that always fails does not stop those behind it", async (url) => {
  const clock = new Clock();
  let swept = 0;
  const handlers = {
    fail: Fail.handle(() => Promise.reject(new Error("always"))),
    sweep: Sweep.handle(() => void swept++),
  };
  await using app = await jobsApp(url, { now: clock.now, handlers });
  for (let n = 0; n < 3; n++) {
    await Fail.enqueue(undefined, { priority: 9 });
    await Sweep.enqueue();
  }
  assert.deepEqual((await app.jobs.drain()).toSorted(), [
    ...["done", "done", "done"],
    ...["scheduled", "scheduled", "scheduled"],
  ]);
  assert.equal(swept, 3);
});

testJobs("cancel: a job that waits does not run, nor one that is retried", async (url) => {
  const clock = new Clock();
  const handlers = { sweep: Sweep.handle(() => {}) };
  await using app = await jobsApp(url, { now: clock.now, handlers });
  const { jobs } = app;
  const ids = [await Sweep.enqueue(), await Sweep.enqueue(undefined, { singleton: "one" })];
  assert.deepEqual(await Promise.all(ids.map((id) => jobs.cancel(id))), [true, true]);
  assert.deepEqual(await jobs.drain(), []);
  assert.equal(await jobs.cancel(ids[0]!), false);
  assert.equal((await jobs.find(ids[0]!))?.state, "cancelled");
  await Sweep.enqueue(undefined, { singleton: "one" }); // whose key is free again
  assert.deepEqual(await jobs.drain(), ["done"]);
});

testJobs("oldestMs: how long the oldest job has waited that is ready", async (url) => {
  const clock = new Clock();
  await using app = await jobsApp(url, { now: clock.now });
  const { jobs } = app;
  assert.equal(await jobs.oldestMs(), 0);
  await Sweep.enqueue(undefined, { runAt: new Date(clock.ms + 3_600_000) });
  await Sweep.enqueue();
  clock.ms += 5000;
  assert.equal(await jobs.oldestMs(), 5000);
});
