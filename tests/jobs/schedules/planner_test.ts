import assert from "node:assert/strict";
import { handlersIn } from "../../../src/jobs/handlers.ts";
import { schedule, type ScheduleOptions } from "../../../src/jobs/mod.ts";
import { OutboxEngine } from "../../../src/jobs/outbox/outbox_engine.ts";
import { Planner } from "../../../src/jobs/schedules/planner.ts";
import { Clock, jobsApp, testJobs, testWorkers, until } from "../support/jobs_app.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A schedule that notes when it was due. */
function noting(pattern = "0 3 * * *", { name = "sweep", ...options }: ScheduleOptions = {}) {
  const due: string[] = [];
  const handlers = {
    sweep: schedule(pattern, { name, ...options }, ({ dueAt }) => {
      due.push(dueAt.toISOString().slice(5, 16));
    }),
  };
  return { due, handlers };
}

testJobs("a schedule runs at each of its times, and drain() runs what is due", async (url) => {
  const clock = new Clock(); // 2026-01-01
  const { due, handlers } = noting("0 3 * * *", { timeZone: "Europe/Paris" });
  await using app = await jobsApp(url, { handlers, now: clock.now });
  assert.deepEqual(await app.jobs.drain(), []);
  clock.ms += 2 * HOUR - 1;
  assert.deepEqual(await app.jobs.drain(), []);
  clock.ms++;
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  assert.deepEqual(await app.jobs.drain(), []);
  clock.ms += DAY;
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  assert.deepEqual(due, ["01-01T02:00", "01-02T02:00"]);
  const [next] = await app.jobs.enqueued({ name: "schedule:sweep" });
  assert.deepEqual(next?.runAt, new Date("2026-01-03T02:00:00Z"));
});

testJobs("times that pass between the boot and the first look are not lost", async (url) => {
  const clock = new Clock();
  const { due, handlers } = noting();
  await using app = await jobsApp(url, { handlers, now: clock.now });
  clock.ms += 4 * HOUR;
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  assert.deepEqual(due, ["01-01T03:00"]);
});

testJobs("times that pass while no process runs are one run, of the first of them", async (url) => {
  const clock = new Clock();
  const { due, handlers } = noting();
  {
    await using app = await jobsApp(url, { handlers, now: clock.now });
    await app.jobs.drain();
  }
  clock.ms += 3 * DAY + 12 * HOUR;
  await using app = await jobsApp(url, { handlers, now: clock.now });
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  clock.ms += DAY;
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  assert.deepEqual(due, ["01-01T03:00", "01-05T03:00"]);
});

testJobs(
  "the retries of a run keep dueAt; after a dead letter, the next time follows",
  async (url) => {
    const clock = new Clock();
    const runs: string[] = [];
    const sweep = schedule("@daily", { retries: 1, backoff: "fixed" }, ({ dueAt }, run) => {
      runs.push(`${dueAt.toISOString().slice(5, 16)} ${run.attempt} ${run.signal.aborted}`);
      throw new Error("no");
    });
    await using app = await jobsApp(url, { handlers: { sweep }, now: clock.now });
    await app.jobs.drain();
    clock.ms += DAY;
    assert.deepEqual(await app.jobs.drain(), ["scheduled"]);
    clock.ms += HOUR;
    assert.deepEqual(await app.jobs.drain(), ["dead"]);
    clock.ms += DAY;
    assert.deepEqual(await app.jobs.drain(), ["scheduled"]);
    assert.deepEqual(runs, ["01-02T00:00 1 false", "01-02T00:00 2 false", "01-03T00:00 1 false"]);
  },
);

testWorkers(
  "two runs of a schedule are never at the same time; times during a run are skipped",
  async (url) => {
    let running = 0;
    let most = 0;
    let runs = 0;
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const clock = new Clock();
    const sweep = schedule("@hourly", { retries: 0 }, async () => {
      most = Math.max(most, ++running);
      if (++runs === 1) throw new Error("dead, and retried beside the next one");
      await end;
      running--;
    });
    await using one = await jobsApp(url, { handlers: { sweep }, now: clock.now, pollMs: 5 });
    await using two = await jobsApp(url, { handlers: { sweep }, now: clock.now, pollMs: 5 });
    clock.ms += HOUR;
    assert.deepEqual(await one.jobs.drain(), ["dead"]);
    running = 0;
    const [dead] = await one.jobs.list({ states: ["dead"] });
    assert.equal(await one.jobs.retry(dead!.id), true);
    clock.ms += HOUR;
    one.work();
    two.work();
    await until(() => runs === 2);
    clock.ms += 5.5 * HOUR;
    resolve();
    const states = async () => (await one.jobs.list()).map(({ state }) => state).sort();
    await until(async () => (await states()).join() === "done,done,scheduled");
    assert.deepEqual([most, runs], [1, 3]);
    const [next] = await one.jobs.enqueued({ name: "schedule:Handlers.sweep" });
    assert.deepEqual(next?.runAt, new Date("2026-01-01T08:00:00Z"));
  },
);

testJobs(
  "a changed pattern or time zone is in force from the start of a process on",
  async (url) => {
    const clock = new Clock();
    const before = noting("0 3 * * *");
    await using old = await jobsApp(url, { handlers: before.handlers, now: clock.now });
    await old.jobs.drain();
    const waiting = async () =>
      (await old.jobs.enqueued({ name: "schedule:sweep" })).map(({ runAt }) =>
        runAt.toISOString().slice(5, 16)
      );
    assert.deepEqual(await waiting(), ["01-01T03:00"]);
    clock.ms += HOUR;
    for (
      const [pattern, timeZone, expected] of [
        ["0 2 * * *", "UTC", "01-01T02:00"],
        ["0 12 * * *", "UTC", "01-01T12:00"],
        ["0 12 * * *", "Asia/Tokyo", "01-01T03:00"],
      ] as const
    ) {
      const { handlers } = noting(pattern, { timeZone });
      await using app = await jobsApp(url, { handlers, now: clock.now });
      await app.jobs.drain();
      assert.deepEqual(await waiting(), [expected]);
      await old.jobs.drain(); // a process of the version before, which has started earlier
      assert.deepEqual(await waiting(), [expected]);
    }
    clock.ms += 3 * HOUR;
    await old.jobs.drain(); // and stores the next by its own pattern
    assert.deepEqual([before.due, await waiting()], [["01-01T03:00"], ["01-02T03:00"]]);
  },
);

testJobs("a time that was missed runs once, though its pattern has changed", async (url) => {
  const clock = new Clock();
  const [before, after] = [noting("0 3 * * *"), noting("30 2 * * *")];
  {
    await using old = await jobsApp(url, { handlers: before.handlers, now: clock.now });
    await old.jobs.drain();
  }
  clock.ms += 4 * HOUR;
  await using app = await jobsApp(url, { handlers: after.handlers, now: clock.now });
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  clock.ms += DAY;
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  assert.deepEqual(after.due, ["01-01T03:00", "01-02T02:30"]);
});

testJobs("of versions at the same time, the pattern of the process started last", async (url) => {
  const clock = new Clock();
  const [before, after] = [noting("0 3 * * *"), noting("0 12 * * *")];
  await using old = await jobsApp(url, { handlers: before.handlers, now: clock.now });
  clock.ms++;
  await using app = await jobsApp(url, { handlers: after.handlers, now: clock.now });
  for (const each of [old, app, old]) await each.jobs.drain();
  clock.ms += 13 * HOUR;
  await old.jobs.drain();
  for (const each of [app, old, app, old]) await each.jobs.drain();
  const waiting = await app.jobs.enqueued({ name: "schedule:sweep" });
  assert.deepEqual([before.due, after.due], [["01-01T12:00"], []]);
  assert.deepEqual(waiting.map(({ runAt }) => runAt), [new Date("2026-01-02T12:00:00Z")]);
});

testJobs(
  "a schedule that no process has is cancelled, and runs once one has it again",
  async (url) => {
    const clock = new Clock();
    const { due, handlers } = noting();
    {
      await using app = await jobsApp(url, { handlers, now: clock.now });
      await app.jobs.drain();
    }
    const states = async () => {
      await using app = await jobsApp(url, { now: clock.now }); // without the schedule
      await app.jobs.drain();
      return (await app.jobs.list()).map(({ state, reason }) => [state, reason]);
    };
    assert.deepEqual(await states(), [["scheduled", null]]);
    clock.ms += 3 * HOUR;
    assert.deepEqual(await states(), [["ready", null]]);
    clock.ms += 300_001; // ten leases
    assert.deepEqual(await states(), [["cancelled", "no process has handled its schedule"]]);
    clock.ms += HOUR;
    await using app = await jobsApp(url, { handlers, now: clock.now });
    assert.deepEqual(await app.jobs.drain(), ["done"]);
    assert.deepEqual(due, ["01-01T03:00"]);
  },
);

testJobs("a cancelled occurrence is left out", async (url) => {
  const clock = new Clock();
  const { due, handlers } = noting();
  await using app = await jobsApp(url, { handlers, now: clock.now });
  await app.jobs.drain();
  const [first] = await app.jobs.enqueued({ name: "schedule:sweep" });
  assert.equal(await app.jobs.cancel(first!.id), true);
  await app.jobs.drain();
  clock.ms += DAY;
  assert.deepEqual(await app.jobs.drain(), []);
  clock.ms += DAY;
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  assert.deepEqual(due, ["01-02T03:00"]);
});

testJobs(
  "a clock that is set back repeats nothing within a day, and stops nothing",
  async (url) => {
    const clock = new Clock();
    const { due, handlers } = noting();
    await using app = await jobsApp(url, { handlers, now: clock.now });
    clock.ms += 3 * HOUR;
    assert.deepEqual(await app.jobs.drain(), ["done"]);
    clock.ms -= HOUR; // set back by an hour
    assert.deepEqual(await app.jobs.drain(), []);
    clock.ms += HOUR;
    assert.deepEqual(await app.jobs.drain(), []);
    clock.ms += 365 * DAY; // a wrong clock
    assert.deepEqual(await app.jobs.drain(), ["done"]);
    clock.ms -= 365 * DAY; // set right
    assert.deepEqual(await app.jobs.drain(), []);
    clock.ms += DAY;
    assert.deepEqual(await app.jobs.drain(), []); // it was one of those that it had missed
    clock.ms += DAY;
    assert.deepEqual(await app.jobs.drain(), ["done"]);
    assert.deepEqual(due, ["01-01T03:00", "01-02T03:00", "01-03T03:00"]);
  },
);

testJobs("a retry whose time a wrong clock has set stops no schedule", async (url) => {
  const clock = new Clock();
  const due: string[] = [];
  const sweep = schedule("0 3 * * *", { name: "sweep" }, ({ dueAt }, run) => {
    if (run.attempt === 1 && due.length === 0) throw new Error("no");
    due.push(dueAt.toISOString().slice(5, 16));
  });
  await using app = await jobsApp(url, { handlers: { sweep }, now: clock.now });
  await app.jobs.drain();
  clock.ms += 30 * DAY; // a wrong clock
  assert.deepEqual(await app.jobs.drain(), ["scheduled"]);
  clock.ms -= 30 * DAY; // set right
  assert.deepEqual(await app.jobs.drain(), []);
  clock.ms += DAY;
  assert.deepEqual(await app.jobs.drain(), ["scheduled"]);
  clock.ms += HOUR;
  assert.deepEqual(await app.jobs.drain(), ["done"]);
});

testJobs(
  "an occurrence that is removed as soon as it has ended does not run again",
  async (url) => {
    const clock = new Clock();
    const { handlers } = noting();
    await using app = await jobsApp(url, { handlers, now: clock.now });
    await app.jobs.drain();
    const { schedules } = new OutboxEngine(app.db);
    const planner = new Planner({
      store: schedules,
      leaseMs: 30_000,
      handlers: handlersIn([handlers]),
    });
    await planner.load();
    await planner.plan();
    const [first] = await app.jobs.enqueued({ name: "schedule:sweep" });
    clock.ms += 4 * HOUR;
    await app.db.fwJob.deleteMany({ where: { id: first!.id } });
    await planner.follow(first!);
    const [next] = await app.jobs.enqueued({ name: "schedule:sweep" });
    assert.deepEqual(next?.runAt, new Date("2026-01-02T03:00:00Z"));
  },
);
