import assert from "node:assert/strict";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { DbOptions } from "../../../src/db/mod.ts";
import { Jobs, schedule } from "../../../src/jobs/mod.ts";
import { OutboxEngine } from "../../../src/jobs/outbox/outbox_engine.ts";
import { testOnEach } from "../../db/support/database.ts";
import { Subprocess, type SubprocessOptions } from "../../support/subprocess.ts";
import { Clock, jobsApp, testJobs, until } from "../support/jobs_app.ts";
import { ticksApp, TicksDb } from "./instances_app.ts";
import { MAX_TEST_MS, testOnce } from "../../support/test.ts";

const MINUTE = 60_000;
/** More: `FW_KILLS=500 FW_TEST=full deno test -A --no-check` and this file. */
const KILLS = Number(process.env["FW_KILLS"] ?? 25);

testJobs("many instances of an application run each time once", async (url) => {
  const clock = new Clock();
  const due: number[] = [];
  const runs = new Set<string>();
  const tick = schedule("* * * * *", async ({ dueAt }, run) => {
    await delay(Math.random() * 5);
    due.push(dueAt.getTime());
    runs.add(run.id);
  });
  const start = clock.ms;
  const options = { handlers: { tick }, now: clock.now, pollMs: 3, leaseMs: 100 };
  await using one = await jobsApp(url, options);
  await using two = await jobsApp(url, options);
  await using three = await jobsApp(url, options);
  for (const app of [one, two, three]) app.work();
  for (let n = 1; n <= 40; n++) {
    await until(async () =>
      (await one.jobs.enqueued({ name: "schedule:Handlers.tick" })).length > 0
    );
    clock.ms += MINUTE;
    await until(() => due.length >= n);
  }
  await delay(50); // in which a second run would come
  assert.deepEqual(due, Array.from({ length: 40 }, (_, index) => start + (index + 1) * MINUTE));
  assert.equal(runs.size, 40);
}, { slow: ["postgres", "mysql"] });

testJobs(
  "a process that is killed after a run, before the next is stored, loses none",
  async (url) => {
    const clock = new Clock();
    const due: string[] = [];
    const tick = schedule("0 * * * *", ({ dueAt }) => due.push(dueAt.toISOString().slice(5, 16)));
    {
      await using app = await jobsApp(url, { handlers: { tick }, now: clock.now });
      await app.jobs.drain();
      clock.ms += 60 * MINUTE;
      const engine = new OutboxEngine(app.db);
      await engine.promote();
      const [claimed] = await engine.claim(
        [{ name: "schedule:Handlers.tick", globalConcurrency: 1 }],
        1,
      );
      assert.equal(await engine.end(claimed!, { state: "done" }), true);
    }
    clock.ms += 300 * MINUTE;
    await using app = await jobsApp(url, { handlers: { tick }, now: clock.now });
    assert.deepEqual(await app.jobs.drain(), ["done"]);
    assert.deepEqual(due, ["01-01T02:00"]);
  },
);

for (const [kills, many] of [[2, false], [KILLS, true]] as const) {
  testOnEach(
    `after ${many ? "many" : "some"} kills of instances, each time of a schedule has run once`,
    async ({ url }) => {
      {
        await using db = await TicksDb.open(DbOptions.fromUrl(url));
        await db.createTables();
      }
      const start = (options: SubprocessOptions = {}) =>
        new Subprocess("tests/jobs/schedules/instances_fixture.ts", { args: [url], ...options });
      await using last = start({ maxRunMs: MAX_TEST_MS }); // beside all that are killed
      await last.until(/working/);
      for (let kill = 0; kill < kills; kill++) {
        await using instance = start();
        await instance.until(/working/);
        await delay(Math.random() * 1000);
        instance.kill("SIGKILL");
        assert.equal((await instance.ended).code, null, instance.output);
      }
      last.kill("SIGKILL");
      await last.ended;
      await using app = await ticksApp(url);
      const db = app.get(TicksDb);
      const jobs = app.get(Jobs);
      const ended = await db.fwJob.count({ where: { state: "done" } });
      jobs.onWorkersStart({ isServing: true });
      await until(async () => await db.fwJob.count({ where: { state: "done" } }) >= ended + 2);
      await jobs.onWorkersStop({ drainMs: 5000 });

      const rows = await db.fwJob.findMany({ where: { state: "done" }, orderBy: { seq: "asc" } });
      const due = rows.map(({ body }) => (body as { readonly due: number }).due);
      const expected = rows.map(({ ended_at }, index) =>
        // the first second after the end of the one before
        (Math.floor(Math.max(due[index]!, ended_at!.getTime()) / 1000) + 1) * 1000
      );
      assert.deepEqual(due.slice(1), expected.slice(0, -1));
      const ticks = await db.tick.findMany({ orderBy: { due_at: "asc" } });
      assert.deepEqual(
        ticks.map(({ run_id, due_at }) => [run_id, due_at.getTime()]),
        rows.map(({ id }, index) => [id, due[index]]),
      );
    },
    { slow: true, ...many ? { register: testOnce } : { brands: ["sqlite"] } },
  );
}
