import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { job } from "../../src/jobs/mod.ts";
import { OutboxEngine } from "../../src/jobs/outbox/outbox_engine.ts";
import { type Brand, testOnEach } from "../db/support/database.ts";
import type { Noted } from "../db/support/noted.ts";
import { planOf } from "../db/support/plans.ts";
import { jobsApp, testJobs } from "./support/jobs_app.ts";
import {
  analyze,
  doubleTo,
  mostRows,
  type NotedJobs,
  openJobs,
  rowsRead,
  SWEEP,
  WHOLE,
} from "./support/many_jobs.ts";
import { casesOf, testOnce } from "../support/test.ts";

const TAKEN = 4;
/** The kinds of a worker: all slots of `full` are taken. */
const KINDS = [
  { name: "full", globalConcurrency: 1 },
  { name: "few", globalConcurrency: 2 },
  { name: "sweep", globalConcurrency: undefined },
];

/** Stores at least that number of jobs of each kind that cannot be claimed. */
async function fill(
  { db, engine }: NotedJobs,
  { brand, rows }: { readonly brand: Brand; readonly rows: number },
): Promise<void> {
  const others = { ...SWEEP, priority: 9 };
  for (const name of ["full", "full", "foreign"]) await engine.enqueue({ ...others, name });
  await engine.enqueue({ ...others, runAt: new Date(Date.now() + 86_400_000) });
  assert.equal((await engine.claim(KINDS, 1)).length, 1); // which takes the slot of "full"
  await doubleTo(rows, { db, brand });
  for (let n = 0; n < 3; n++) {
    for (const name of ["few", "sweep"]) await engine.enqueue({ ...others, name, priority: n });
  }
  await analyze(db, brand);
}

for (const [rows, slow] of [[8000, false], [100_000, true]] as const) {
  testOnEach(
    `a claim reads no jobs of kinds without free slots or a handler, of ${rows}`,
    async (database) => {
      const { brand } = database;
      await using jobs = await openJobs(database);
      const { db, engine, notes } = jobs;
      await fill(jobs, { brand, rows });
      const before = brand === "mysql" ? await rowsRead(db) : 0;
      notes.take();
      const claimed = await engine.claim(KINDS, TAKEN);
      const statements = notes.take();
      if (brand === "mysql") {
        const read = await rowsRead(db) - before;
        assert.ok(read < 500, `${read} rows`);
      }
      const names = claimed.map(({ info: { name, priority } }) => [name, priority]);
      assert.deepEqual(names, [["few", 2], ["sweep", 2], ["few", 1], ["sweep", 1]]);

      const reads = statements.filter(([text]) => text.includes(" j where "));
      assert.equal(reads.length, 2);
      for (const [text, ...values] of reads) {
        const query: Noted = [brand === "postgres" ? `analyze ${text}` : text, ...values];
        const plan = await planOf(db.kysely, brand, query);
        assert.doesNotMatch(plan, WHOLE[brand], plan);
        assert.match(plan, /fw_jobs_state_name_blocked_rank_/, plan);
        if (brand === "postgres") assert.ok(mostRows(plan) < 50, plan);
      }
      await engine.claim(KINDS, TAKEN);
      notes.take();
      assert.deepEqual(await engine.claim(KINDS, TAKEN), []); // "full" waits, and "foreign"
      assert.equal(notes.take().length, 2, "the slots, and the candidates: no transaction");
    },
    slow ? { slow, register: testOnce } : {},
  );
}

for (const [rows, slow] of [[6000, false], [casesOf(1_000_000, 100_000), true]] as const) {
  testOnEach(
    `${rows} jobs of another kind, of later times or of a lower priority do not slow a claim`,
    async (database) => {
      const { brand } = database;
      await using jobs = await openJobs(database);
      const { db, engine, notes } = jobs;
      await engine.enqueue({ ...SWEEP, name: "foreign", priority: 9 });
      await engine.enqueue({ ...SWEEP, runAt: new Date(Date.now() + 86_400_000), priority: 9 });
      await engine.enqueue({ ...SWEEP, priority: -1 });
      await doubleTo(rows, { db, brand });
      for (let n = 0; n < 2 * TAKEN; n++) await engine.enqueue(SWEEP);
      await analyze(db, brand);
      const kinds = [{ name: "sweep", globalConcurrency: undefined }];
      const before = brand === "mysql" ? await rowsRead(db) : 0;
      notes.take();
      const claimed = await engine.claim(kinds, TAKEN);
      assert.deepEqual(claimed.map(({ info }) => info.priority), [0, 0, 0, 0]);
      const statements = notes.take();
      if (brand === "mysql") {
        const read = await rowsRead(db) - before;
        return assert.ok(read < 500, `${read} rows`);
      }
      assert.equal(statements.length, 1);
      const [[text, ...values]] = statements as [Noted];
      const plan = await planOf(db.kysely, brand, [text, ...values]);
      assert.doesNotMatch(plan, /SCAN (?:j|fw_jobs)|Seq Scan on fw_jobs/, plan);
      assert.match(plan, /fw_jobs_state_name_blocked_rank_/, plan);
      if (brand === "sqlite") return;
      const query: Noted = [`analyze ${text}`, ...values]; // which claims the others
      const analyzed = await planOf(db.kysely, brand, query);
      assert.ok(mostRows(analyzed) < 50, analyzed);
    },
    slow ? { slow, register: testOnce } : {},
  );
}

testOnEach(
  "a kind with a limit whose jobs are not first costs no transaction",
  async (database) => {
    await using jobs = await openJobs(database);
    const { engine, notes } = jobs;
    for (const priority of [1, 3]) await engine.enqueue({ ...SWEEP, priority });
    await engine.enqueue({ ...SWEEP, priority: 2, group: "one" });
    await engine.enqueue({ ...SWEEP, name: "few" });
    const claim = async () => {
      notes.take();
      const claimed = await engine.claim(KINDS, 3);
      return [notes.take().length, ...claimed.map(({ info }) => info.priority)];
    };
    // the slots, the candidates, and the claim
    assert.deepEqual(await claim(), [3, 3, 2, 1]);
    const [statements, ...others] = await claim();
    assert.ok(statements! > 3);
    assert.deepEqual(others, [0]);
  },
  { brands: ["sqlite", "postgres"] },
);

testJobs("jobs of several kinds run by their priority, whatever limits them", async (url) => {
  const seen: string[] = [];
  const kinds = [job("a"), job("b", { globalConcurrency: 1 }), job("c", { globalConcurrency: 3 })];
  const handlers = Object.fromEntries(
    kinds.map((kind) => [kind.name, kind.handle(() => void seen.push(kind.name))]),
  );
  await using app = await jobsApp(url, { handlers, concurrency: 2 });
  const [a, b, c] = kinds as [typeof kinds[0], typeof kinds[0], typeof kinds[0]];
  for (const kind of [a, b, c]) await kind.enqueue();
  for (const kind of [c, a, b]) await kind.enqueue(undefined, { priority: 1 });
  await b.enqueue(undefined, { priority: 2 });
  await app.jobs.drain();
  assert.equal(seen.join(" "), "b c a b a b c");
});

testJobs("claimOne() claims the job of an id only while claim() could", async (url) => {
  await using app = await jobsApp(url);
  const engine = new OutboxEngine(app.db);
  const Few = job("few", { globalConcurrency: 2 });
  const few = { name: "few", globalConcurrency: 2 };
  const any = { name: "any", globalConcurrency: undefined };
  const Any = job("any");
  const first = await Any.enqueue(undefined, { group: "one" });
  const second = await Any.enqueue(undefined, { group: "one" });
  const free = await Any.enqueue(undefined, { priority: 7 });
  await Any.enqueue(undefined, { runAt: new Date(Date.now() + 60_000) });
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push(await Few.enqueue());

  const due = await engine.due([any, few], 10);
  assert.deepEqual(due.map(({ id, priority }) => [id, priority]), [
    [free, 7],
    ...[first, ids[0], ids[1]].map((id) => [id, 0]), // `few` has two free slots
  ]);
  assert.deepEqual((await engine.due([any, few], 2)).map(({ id }) => id), [free, first]);
  assert.equal(await engine.claimOne(few, free), undefined); // of another kind
  assert.equal(await engine.claimOne(any, crypto.randomUUID()), undefined);
  assert.equal(await engine.claimOne(any, second), undefined); // behind the first of its group
  const claimed = await engine.claimOne(any, first);
  assert.deepEqual([claimed?.info.id, claimed?.info.state], [first, "running"]);
  assert.equal(await engine.claimOne(any, first), undefined);
  assert.equal(await engine.claimOne(any, second), undefined); // while the first runs
  await engine.end(claimed!, { state: "done" });
  assert.equal((await engine.claimOne(any, second))?.info.id, second);

  // those that claim at the same time take a slot each
  const limited = await Promise.all(ids.slice(0, 2).map((id) => engine.claimOne(few, id)));
  assert.deepEqual(limited.map((it) => it?.info.id), ids.slice(0, 2));
  assert.equal(await engine.claimOne(few, ids[2]!), undefined);
  assert.deepEqual((await engine.due([any, few], 10)).map(({ id }) => id), [free]);
});

testJobs("a ready job that a transaction has locked holds up no other kind", async (url, brand) => {
  if (brand === "sqlite") return; // a transaction locks the database
  const [a, b] = [job("a"), job("b")];
  const handlers = { a: a.handle(() => {}), b: b.handle(() => {}) };
  await using app = await jobsApp(url, { handlers });
  const outside = AsyncLocalStorage.snapshot();
  const id = await a.enqueue(undefined, { priority: 1 });
  await b.enqueue();
  await app.db.transaction(async () => {
    await app.db.fwJob.findUnique({ where: { id }, lock: "update" });
    assert.deepEqual(await outside(() => app.jobs.drain()), ["done"]);
  });
  assert.deepEqual(await app.jobs.drain(), ["done"]);
});

testOnEach("the next due job is found among many of one time by an index", async (database) => {
  const { brand } = database;
  await using jobs = await openJobs(database);
  const { db, engine, notes } = jobs;
  await engine.enqueue({ ...SWEEP, runAt: new Date(Date.now() + 86_400_000) });
  await doubleTo(4000, { db, brand });
  await analyze(db, brand);
  notes.take();
  const waitMs = await engine.promote();
  assert.ok(waitMs !== undefined && waitMs > 80_000_000, `${waitMs}`);
  const [text, ...values] = notes.take().find(([text]) => /order by/.test(text))!;
  const query: Noted = [brand === "postgres" ? `analyze ${text}` : text, ...values];
  const plan = await planOf(db.kysely, brand, query);
  assert.doesNotMatch(plan, WHOLE[brand], plan);
  assert.doesNotMatch(plan, /sort/i, plan);
  if (brand === "postgres") assert.ok(mostRows(plan) < 50, plan);
});
