import assert from "node:assert/strict";
import { DbOptions, DbService } from "../../src/db/mod.ts";
import { job, Jobs, type jobTables } from "../../src/jobs/mod.ts";
import { test } from "../support/test.ts";
import { Clock, Db, jobsApp, testJobs } from "./support/jobs_app.ts";

const Sweep = job("sweep");
const Fail = job("fail", { retries: 0 });
const Old = job("old");

testJobs("jobs.list() filters by states and kind, and pages from the newest", async (url) => {
  const fail = Fail.handle(() => assert.fail("no"));
  await using app = await jobsApp(url, { handlers: { fail } });
  const { jobs } = app;
  const sweeps = [await Sweep.enqueue(), await Sweep.enqueue(), await Sweep.enqueue()];
  const dead = await Fail.enqueue();
  assert.deepEqual(await jobs.drain(), ["dead"]);
  const ids = async (filter?: Parameters<typeof jobs.list>[0]) =>
    (await jobs.list(filter)).map(({ id }) => id);
  assert.deepEqual(await ids(), [dead, ...sweeps.toReversed()]);
  assert.deepEqual(await ids({ states: ["dead"] }), [dead]);
  assert.deepEqual(await ids({ states: ["dead", "ready"], name: "sweep" }), sweeps.toReversed());
  assert.deepEqual(await ids({ states: [] }), []);
  assert.deepEqual(await ids({ take: 2 }), [dead, sweeps[2]]);
  assert.deepEqual(await ids({ take: 2, before: sweeps[2]! }), [sweeps[1], sweeps[0]]);
  assert.deepEqual(await ids({ before: sweeps[0]! }), []);
  for (const take of [0, 1001, 1.5]) {
    await assert.rejects(jobs.list({ take }), {
      name: "RangeError",
      message: `Cannot list jobs: take ${take} is not from 1 to 1000`,
    });
  }
  const before = crypto.randomUUID();
  await assert.rejects(jobs.list({ before }), {
    name: "RangeError",
    message: `Cannot list jobs before ${before}: it does not exist`,
  });
});

testJobs("a condition in place of an id or a name is refused: other jobs meet it", async (url) => {
  await using app = await jobsApp(url, {});
  const { jobs } = app;
  const id = await Sweep.enqueue();
  const other = { not: crypto.randomUUID() } as unknown as string;
  const name = { not: "fail" } as unknown as string;
  const calls = {
    "cancel job: id": () => jobs.cancel(other),
    "retry job: id": () => jobs.retry(other),
    "list jobs: name": () => jobs.list({ name }),
    "purge jobs: name": () => jobs.purge({ states: ["done"], before: new Date(), name }),
  };
  for (const [action, call] of Object.entries(calls)) {
    await assert.rejects(call(), new TypeError(`Cannot ${action} is not a text`));
  }
  assert.deepEqual((await jobs.list({ states: ["ready"] })).map((it) => it.id), [id]);
});

testJobs("jobs.purge() removes jobs of states and a kind that ended before a time", async (url) => {
  const clock = new Clock();
  const fail = Fail.handle(() => assert.fail("no"));
  const sweep = Sweep.handle(() => {});
  await using app = await jobsApp(url, { now: clock.now, handlers: { fail, sweep } });
  const { jobs } = app;
  for (let day = 0; day < 3; day++) {
    await Fail.enqueue();
    await Sweep.enqueue();
    await jobs.drain();
    clock.ms += 86_400_000;
  }
  const waiting = await Sweep.enqueue();
  const before = new Date(clock.ms - 86_400_000); // the third ended then
  assert.equal(await jobs.purge({ states: ["dead"], before, name: "sweep" }), 0);
  assert.equal(await jobs.purge({ states: ["dead"], before, name: "fail" }), 2);
  assert.equal(await jobs.purge({ states: ["dead", "done"], before: new Date(clock.ms) }), 4);
  assert.deepEqual((await jobs.list()).map(({ id }) => id), [waiting]);
});

testJobs("jobs.unhandled() counts the jobs that wait by kinds without a handler", async (url) => {
  const sweep = Sweep.handle(() => {});
  await using app = await jobsApp(url, { handlers: { sweep } });
  assert.deepEqual(await app.jobs.unhandled(), []);
  await Sweep.enqueue();
  await Old.enqueue();
  await Old.enqueue(undefined, { runAt: new Date(Date.now() + 60_000) });
  const cancelled = await Old.enqueue();
  assert.equal(await app.jobs.cancel(cancelled), true);
  assert.deepEqual(await app.jobs.unhandled(), [{ name: "old", count: 2 }]);
});

testJobs(
  "Jobs.of() manages the jobs of a database, and is not that of an application",
  async (url) => {
    await using app = await jobsApp(url);
    await using db = await Db.open(DbOptions.fromUrl(url));
    const jobs = Jobs.of(db);
    const id = await Sweep.enqueue(); // the application of the process is still the only one
    assert.deepEqual(await jobs.unhandled(), [{ name: "sweep", count: 1 }]);
    assert.deepEqual(await jobs.drain(), []);
    assert.equal(await jobs.cancel(id), true);
    assert.equal(await jobs.retry(id), true);
    assert.equal((await app.jobs.find(id))?.state, "ready");
  },
);

test("Jobs.of() refuses a database without the table of jobs", async () => {
  class Empty extends DbService.with({}) {}
  await using db = await Empty.open(DbOptions.fromUrl("sqlite::memory:"));
  assert.throws(() => Jobs.of(db as Empty & typeof jobTables), {
    name: "TypeError",
    message: "Cannot use jobs: the service lacks their table; add ...jobTables to its models",
  });
});
