import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import { job } from "../../src/jobs/mod.ts";
import type { ClaimedJob } from "../../src/jobs/engine.ts";
import { leaseId } from "../../src/jobs/lease_id.ts";
import { LostRuns, MISSED_BEATS } from "../../src/jobs/worker/lost_runs.ts";
import { OutboxEngine } from "../../src/jobs/outbox/outbox_engine.ts";
import { test } from "../support/test.ts";
import { Clock, jobsApp, testJobs, testWorkers, until } from "./support/jobs_app.ts";

const Sweep = job("sweep");
const SWEEP = [{ name: "sweep", globalConcurrency: undefined }];

testWorkers("at least once: a job whose worker is lost runs again", async (url) => {
  let runs = 0;
  const handlers = { sweep: Sweep.handle(() => void runs++) };
  await using app = await jobsApp(url, { handlers, leaseMs: 250 });
  const engine = new OutboxEngine(app.db);
  const id = await Sweep.enqueue(undefined, { group: "one", singleton: "one" });
  await engine.claim(SWEEP, 1); // and nothing beats for it
  app.work();
  await until(async () => (await app.jobs.find(id))?.state === "done");
  assert.equal(runs, 1);
});

testJobs("what a lost worker does has no effect on the run of another", async (url) => {
  await using app = await jobsApp(url);
  const engine = new OutboxEngine(app.db);
  const id = await Sweep.enqueue();
  const [lost] = await engine.claim(SWEEP, 1);
  const [run] = await engine.running();
  await engine.beat([lost!]);
  assert.equal(await engine.reclaim(run!, { waitMs: 0 }), false); // it has beaten since
  const [silent] = await engine.running();
  assert.equal(await engine.reclaim(silent!, { waitMs: 0 }), true);
  const [other] = await engine.claim(SWEEP, 1);
  assert.equal(await engine.end(lost!, { state: "dead", reason: "too late" }), false);
  assert.equal(await engine.progress(lost!, 1), false);
  assert.equal(await engine.end(lost!, { state: "released" }), false);
  assert.equal((await app.jobs.find(id))?.progress, null);
  assert.equal(await engine.end(other!, { state: "done" }), true);
});

testJobs("a job that is cancelled while it runs does not return to the queue", async (url) => {
  await using app = await jobsApp(url);
  const engine = new OutboxEngine(app.db);
  const retried = { state: "scheduled", reason: "it failed", runAt: new Date() } as const;
  for (const leave of ["release", "end", "reclaim"]) {
    const id = await Sweep.enqueue();
    const [claimed] = await engine.claim(SWEEP, 1);
    const [run] = await engine.running();
    assert.equal(await app.jobs.cancel(id), true);
    if (leave === "release") assert.equal(await engine.end(claimed!, { state: "released" }), true);
    if (leave === "end") assert.equal(await engine.end(claimed!, retried), true);
    if (leave === "reclaim") assert.equal(await engine.reclaim(run!, { waitMs: 0 }), true);
    assert.equal((await app.jobs.find(id))?.state, "cancelled", leave);
  }
});

testWorkers(
  "a run that is longer than a lease keeps it, whatever the clock of another says",
  async (url) => {
    const clock = new Clock();
    let runs = 0;
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const sweep = Sweep.handle(() => {
      runs++;
      return end;
    });
    const options = { handlers: { sweep }, leaseMs: 250, now: clock.now };
    await using one = await jobsApp(url, options);
    await using two = await jobsApp(url, options);
    const id = await one.jobs.enqueue(Sweep, undefined);
    one.work();
    two.work();
    await until(() => runs === 1);
    for (const jumpMs of [86_400_000, -2 * 86_400_000]) {
      clock.ms += jumpMs;
      await delay(500);
    }
    resolve();
    await until(async () => (await one.jobs.find(id))?.state === "done");
    assert.equal(runs, 1);
  },
  { slow: ["mysql"] },
);

testJobs("runs of a claim that are done end together, without lost and locked ones", async (
  url,
  brand,
) => {
  await using app = await jobsApp(url);
  const engine = new OutboxEngine(app.db);
  await app.db.transaction(async () => {
    for (let n = 0; n < 6; n++) await Sweep.enqueue();
  });
  const claimed = await engine.claim(SWEEP, 6);
  const [lost, first, ...others] = claimed as [ClaimedJob, ClaimedJob, ...ClaimedJob[]];
  await engine.end(lost, { state: "released" });
  const outside = AsyncLocalStorage.snapshot();
  await app.db.transaction(async () => {
    if (brand === "sqlite") return; // a transaction locks the database
    await app.db.fwJob.findFirst({ where: { seq: first.seq }, lock: "update" });
    const ended = await outside(() => engine.done([lost, first, ...others]));
    assert.deepEqual(ended, others);
  });
  const left = brand === "sqlite" ? [first, ...others] : [first];
  assert.deepEqual(await engine.done([lost, ...left]), left);
  assert.deepEqual(await engine.done([lost, first]), []);
  const states = (await app.db.fwJob.findMany({ orderBy: { seq: "asc" } })).map((it) => it.state);
  assert.deepEqual(states, ["ready", ...Array.from({ length: 5 }, () => "done")]);
});

testJobs("a job is claimed once, however many workers claim", async (url) => {
  await using app = await jobsApp(url);
  const engine = new OutboxEngine(app.db);
  await app.db.transaction(async () => {
    for (let n = 0; n < 40; n++) await Sweep.enqueue(undefined, n % 4 ? {} : { group: `${n % 8}` });
  });
  const claims = await Promise.all(Array.from({ length: 8 }, () => engine.claim(SWEEP, 10)));
  const seqs = claims.flat().map(({ seq }) => seq);
  assert.equal(new Set(seqs).size, seqs.length);
  while (seqs.length < 32) seqs.push(...(await engine.claim(SWEEP, 10)).map(({ seq }) => seq));
  assert.equal(new Set(seqs).size, 32); // 30 without a group, and the first of each of two
  assert.deepEqual(await engine.claim(SWEEP, 10), []);
});

testWorkers("a run that is lost with its worker does not count as a retry", async (url) => {
  const Weak = job("weak", { retries: 1, backoff: "fixed", backoffMs: 1 });
  let runs = 0;
  const weak = Weak.handle(() => {
    runs++;
    throw new Error("no");
  });
  await using app = await jobsApp(url, { handlers: { weak }, leaseMs: 250 });
  const id = await Weak.enqueue();
  await new OutboxEngine(app.db).claim([{ name: "weak", globalConcurrency: undefined }], 1); // lost
  app.work();
  await until(async () => (await app.jobs.find(id))?.state === "dead");
  assert.equal(runs, 2);
});

testWorkers("a job that ends its workers is a dead letter after maxLostRuns", async (url) => {
  await using app = await jobsApp(url, { maxLostRuns: 2, leaseMs: 100 }); // without handlers
  app.work();
  const engine = new OutboxEngine(app.db);
  const id = await Sweep.enqueue();
  const states: unknown[] = [];
  for (let lost = 0; lost < 3; lost++) {
    await until(async () => (await engine.claim(SWEEP, 1)).length === 1);
    await until(async () => (await app.jobs.find(id))?.state !== "running");
    const { state, attempts, reason } = (await app.jobs.find(id))!;
    states.push([state, attempts, reason]);
  }
  assert.deepEqual(states, [
    ["ready", 1, null],
    ["scheduled", 2, null], // that may be its own doing
    ["dead", 3, "the workers of 3 runs were lost"],
  ]);
});

testJobs("a worker that drains twice at a time beats until both have ended", async (url) => {
  const Slow = job("slow", { body: v.number() });
  const slow = Slow.handle(({ body }) => delay(body));
  await using app = await jobsApp(url, { handlers: { slow }, leaseMs: 250 });
  const engine = new OutboxEngine(app.db);
  const beats = async () => (await engine.running())[0]?.beat ?? 0;
  await Slow.enqueue(1500);
  const long = app.jobs.drain();
  await until(async () => await beats() > 0);
  assert.deepEqual(await app.jobs.drain(), []);
  const before = await beats();
  await until(async () => await beats() > before);
  assert.deepEqual(await long, ["done"]);
}, { slow: ["sqlite", "mysql"] });

test("LostRuns finds runs without a heartbeat for as many looks as a lease has beats", () => {
  const lost = new LostRuns({ leaseMs: 250 });
  const run = { seq: 1, lease: "a", group: null, name: "sweep", lost: 0, cancelling: false };
  for (let look = 0; look < 3 * MISSED_BEATS; look++) {
    assert.deepEqual(lost.note([{ ...run, beat: look }]), []);
  }
  const silent = { ...run, beat: 3 * MISSED_BEATS };
  for (let look = 0; look < MISSED_BEATS; look++) assert.deepEqual(lost.note([silent]), []);
  assert.deepEqual(lost.note([silent]), [silent]);
  assert.deepEqual(lost.note([]), []);
  assert.deepEqual(lost.note([silent]), []); // seen anew
});

test("LostRuns gives a run the lease of the process that has claimed it, if it is longer", () => {
  const run = { seq: 1, group: null, name: "sweep", lost: 0, cancelling: false, beat: 0 };
  const looksAt = (lease: string): number => {
    const lost = new LostRuns({ leaseMs: 1000 });
    for (let looks = 0;; looks++) if (lost.note([{ ...run, lease }]).length > 0) return looks;
  };
  const looks = [crypto.randomUUID(), ...[200, 1000, 30_000, 0.5].map(leaseId)].map(looksAt);
  assert.deepEqual(looks, [1, 1, 1, 30, 1].map((leases) => leases * MISSED_BEATS));
});

testWorkers(
  "a worker with a short lease leaves the runs of those with a longer one",
  async (url) => {
    let runs = 0;
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const sweep = Sweep.handle(() => {
      runs++;
      return end;
    });
    await using long = await jobsApp(url, { handlers: { sweep }, leaseMs: 30_000 });
    await using short = await jobsApp(url, { handlers: { sweep }, leaseMs: 50 });
    const id = await long.jobs.enqueue(Sweep, undefined);
    long.work();
    await until(() => runs === 1);
    short.work();
    await short.jobs.enqueue(Sweep, undefined);
    await until(() => runs === 2);
    await delay(500);
    assert.deepEqual([runs, (await long.jobs.find(id))?.attempts], [2, 1]);
    resolve();
    await until(async () => (await long.jobs.find(id))?.state === "done");
  },
);

testJobs(
  "progress in a transaction of the handler is stored at once, and locks no job",
  async (url, brand) => {
    const read: unknown[] = [];
    const outside = AsyncLocalStorage.snapshot();
    const sweep = Sweep.handle(async (_, run) => {
      await app.db.transaction(async () => {
        await run.progress("half");
        if (brand === "sqlite") return; // a transaction is the only writer: it is part of it
        await outside(async () => {
          const beats = async () => (await engine.running())[0]?.beat ?? 0;
          const before = await beats();
          await until(async () => await beats() > before);
          read.push((await app.jobs.find(run.id))?.progress);
        });
        throw new Error("rolled back");
      });
    });
    await using app = await jobsApp(url, { handlers: { sweep }, leaseMs: 250 });
    const engine = new OutboxEngine(app.db);
    const id = await Sweep.enqueue();
    assert.deepEqual(await app.jobs.drain(), [brand === "sqlite" ? "done" : "scheduled"]);
    assert.deepEqual(read, brand === "sqlite" ? [] : ["half"]);
    assert.equal((await app.jobs.find(id))?.progress, "half");
  },
);

testJobs("a job that a transaction has locked holds up no care for others", async (url, brand) => {
  if (brand === "sqlite") return; // a transaction locks the database
  await using app = await jobsApp(url);
  const outside = AsyncLocalStorage.snapshot();
  const engine = new OutboxEngine(app.db);
  const id = await Sweep.enqueue();
  await Sweep.enqueue();
  const claimed = await engine.claim(SWEEP, 2);
  const ended = await Sweep.enqueue();
  await engine.cancel(ended);
  const cancelled = { states: ["cancelled"], before: new Date(Date.now() + 60_000) } as const;
  await app.db.transaction(async () => {
    await app.db.fwJob.findMany({ where: { id: { in: [id, ended] } }, lock: "update" });
    await outside(async () => {
      await engine.beat(claimed);
      const runs = (await engine.running()).toSorted((a, b) => a.seq - b.seq);
      const [silent, beating] = runs;
      assert.deepEqual([silent?.beat, beating?.beat], [0, 1]);
      assert.equal(await engine.reclaim(silent!, { waitMs: 0 }), false);
      assert.equal(await engine.reclaim(beating!, { waitMs: 0 }), true);
      assert.equal(await engine.purge(cancelled), 0);
    });
  });
  assert.equal(await engine.purge(cancelled), 1);
});
