import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { job } from "../../src/jobs/mod.ts";
import type { ClaimedJob } from "../../src/jobs/engine.ts";
import { OutboxEngine } from "../../src/jobs/outbox/outbox_engine.ts";
import { testOnEach } from "../db/support/database.ts";
import type { Noted } from "../db/support/noted.ts";
import { planOf } from "../db/support/plans.ts";
import { casesOf, testOnce } from "../support/test.ts";
import { jobsApp, testJobs } from "./support/jobs_app.ts";
import { analyze, doubleTo, mostRows, openJobs, rowsRead, SWEEP } from "./support/many_jobs.ts";

const TAKEN = 4;
const Sweep = job("sweep");
const KINDS = [{ name: "sweep", globalConcurrency: undefined }];

for (const [rows, slow] of [[6000, false], [casesOf(1_000_000, 100_000), true]] as const) {
  testOnEach(
    `${rows} jobs that wait in groups do not slow a claim, an end or an enqueue`,
    async (database) => {
      const { brand } = database;
      await using jobs = await openJobs(database);
      const { db, engine, notes } = jobs;
      const failing = { ...SWEEP, group: "failing", priority: 9 };
      const busy = { ...SWEEP, group: "busy", priority: 9 };
      for (const first of [failing, busy]) await engine.enqueue(first);
      const [failed, running] = await engine.claim(KINDS, 2) as [ClaimedJob, ClaimedJob];
      for (const next of [failing, busy, failing, busy]) await engine.enqueue(next);
      const runAt = new Date(Date.now() + 86_400_000);
      await engine.end(failed, { state: "scheduled", reason: "it fails", runAt });
      await doubleTo(rows, { db, brand });
      for (let n = 0; n < 5 * TAKEN; n++) await engine.enqueue(SWEEP);
      await analyze(db, brand);

      /** Runs what reads the table, and checks how much of it. */
      async function reads(limit: number, run: () => Promise<unknown>): Promise<void> {
        const before = brand === "mysql" ? await rowsRead(db) : 0;
        notes.take();
        await run();
        const statements = notes.take();
        if (brand === "mysql") {
          const read = await rowsRead(db) - before;
          return assert.ok(read < limit, `${read} rows`);
        }
        for (const [text, ...values] of statements) {
          if (!/^(?:select|with|update)/.test(text)) continue;
          const query: Noted = [brand === "postgres" ? `analyze ${text}` : text, ...values];
          const plan = await planOf(db.kysely, brand, query);
          assert.doesNotMatch(plan, /SCAN (?:j|b|r|n|fw_jobs)\b|Seq Scan on fw_jobs/, plan);
          if (brand === "postgres") assert.ok(mostRows(plan) < limit, plan);
        }
      }
      const claim = async () => {
        claimed = await engine.claim(KINDS, TAKEN);
      };
      let claimed: readonly ClaimedJob[] = [];
      await reads(100, claim);
      assert.deepEqual(claimed.map(({ group }) => group), [null, null, null, null]);
      await reads(100, () => engine.end(running, { state: "done" }));
      await reads(100, async () => {
        await claim();
        assert.deepEqual(claimed.map(({ group }) => group), ["busy", null, null, null]);
        await engine.end(claimed[0]!, { state: "done" }); // an analyzed plan claims the next one
      });
      await reads(100, () => engine.enqueue(busy));
      await reads(10_000, () => engine.unblock());
    },
    slow ? { slow, register: testOnce } : {},
  );
}

/** Enqueues jobs of a group, and returns their ids. */
async function enqueueIn(group: string, jobs: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let n = 0; n < jobs; n++) ids.push(await Sweep.enqueue(undefined, { group }));
  return ids;
}

testJobs("a job of a group whose first one ends before its commit is not stuck", async (
  url,
  brand,
) => {
  await using app = await jobsApp(url, { handlers: { sweep: Sweep.handle(() => {}) } });
  const outside = AsyncLocalStorage.snapshot();
  await enqueueIn("one", 1);
  await app.db.transaction(async () => {
    await enqueueIn("one", 2);
    if (brand === "sqlite") return; // a transaction locks the database
    assert.deepEqual(await outside(() => app.jobs.drain()), ["done"]);
  });
  assert.equal((await app.jobs.drain()).length, brand === "sqlite" ? 3 : 2);
});

testJobs("the next job of a group follows, however the one before it leaves", async (url) => {
  await using app = await jobsApp(url);
  const engine = new OutboxEngine(app.db);
  const retried = { state: "scheduled", reason: "it failed", runAt: new Date() } as const;
  const leave: Record<string, (claimed: ClaimedJob) => Promise<unknown>> = {
    end: (claimed) => engine.end(claimed, { state: "done" }),
    die: (claimed) => engine.end(claimed, { state: "dead", reason: "it failed" }),
    done: (claimed) => engine.done([claimed]),
    lose: async () =>
      engine.reclaim((await engine.running())[0]!, { deadBecause: "its worker was lost" }),
    cancel: async (claimed) => {
      await engine.cancel(claimed.info.id);
      await engine.end(claimed, retried);
    },
    stop: async (claimed) => {
      await engine.cancel(claimed.info.id);
      await engine.end(claimed, { state: "released" });
    },
    retry: async (claimed) => {
      await engine.end(claimed, retried);
      await engine.promote();
      assert.deepEqual((await engine.claim(KINDS, 9)).map(({ seq }) => seq), [claimed.seq]);
      await engine.done([claimed]); // without effect: it is another run
      const [run] = await engine.running();
      await engine.end(run!, { state: "done" });
    },
    "cancel before it runs": async (claimed) => {
      await engine.end(claimed, { state: "released" });
      await engine.cancel(claimed.info.id);
    },
    "retry a dead letter": async (claimed) => {
      await engine.end(claimed, { state: "dead", reason: "it failed" });
      const [second] = await engine.claim(KINDS, 9);
      await engine.retry(claimed.info.id);
      assert.deepEqual(await engine.claim(KINDS, 9), []);
      await engine.end(second!, { state: "cancelled" });
      const [again] = await engine.claim(KINDS, 9);
      assert.equal(again?.seq, claimed.seq);
      await engine.end(again!, { state: "done" });
    },
    "be deleted": async (claimed) => {
      await app.db.fwJob.deleteMany({ where: { seq: claimed.seq } });
      assert.deepEqual(await engine.claim(KINDS, 9), []);
      await engine.unblock();
    },
  };
  for (const [how, leaves] of Object.entries(leave)) {
    await app.db.fwJob.deleteMany({ all: true });
    const ids = await enqueueIn("one", 3);
    const [first, ...none] = await engine.claim(KINDS, 9);
    assert.deepEqual([first?.info.id, none], [ids[0], []]);
    await leaves(first!);
    const [next, ...behind] = await engine.claim(KINDS, 9);
    assert.deepEqual(
      [next?.info.id, behind],
      [how === "retry a dead letter" ? ids[2] : ids[1], []],
      how,
    );
  }
});

testJobs("a transaction that has locked the next job of a group does not hold up an end", async (
  url,
  brand,
) => {
  if (brand === "sqlite") return; // a transaction locks the database
  await using app = await jobsApp(url, { handlers: { sweep: Sweep.handle(() => {}) } });
  const engine = new OutboxEngine(app.db);
  const outside = AsyncLocalStorage.snapshot();
  const [, second] = await enqueueIn("one", 3);
  const [first] = await engine.claim(KINDS, 1);
  await app.db.fwJob.updateMany({ where: { id: second! }, data: { blocked: true } });
  await app.db.transaction(async () => {
    assert.equal(await engine.cancel(second!), true);
    assert.equal(await outside(() => engine.end(first!, { state: "done" })), true);
  });
  assert.deepEqual(await app.jobs.drain(), ["done"]);
});

testJobs("a search for stuck groups passes all of them in turns", async (url) => {
  await using app = await jobsApp(url);
  const engine = new OutboxEngine(app.db);
  for (const group of ["a", "b"]) await enqueueIn(group, 3);
  const first = await engine.claim(KINDS, 9);
  assert.deepEqual(first.map(({ group }) => group), ["sweep:a", "sweep:b"]);
  await engine.unblock();
  assert.equal(await app.db.fwJob.count({ where: { blocked: true } }), 4, "those behind a run");
  await app.db.fwJob.deleteMany({ where: { state: "running" } });
  await engine.unblock();
  assert.equal(await app.db.fwJob.count({ where: { blocked: true } }), 2);
});
