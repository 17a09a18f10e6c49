import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import { module } from "../../mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "../../src/db/mod.ts";
import { event, job, JobsModule } from "../../src/jobs/mod.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { test } from "../support/test.ts";
import { Clock, jobsApp, testJobs } from "./support/jobs_app.ts";

const Send = job("send", { body: v.object({ n: v.number() }) });
const Sweep = job("sweep");
const Sent = event("sent", { body: v.object({ n: v.number() }) });

testJobs("a job is part of the transaction: a rollback leaves none", async (url) => {
  const seen: number[] = [];
  const handlers = { send: Send.handle(({ body }) => seen.push(body.n)) };
  await using app = await jobsApp(url, { handlers });
  const { db, jobs } = app;
  await assert.rejects(db.transaction(async () => {
    await db.effect.create({ data: { key: "rolled back" } });
    await Send.enqueue({ n: 1 });
    throw new Error("rolled back");
  }));
  await db.transaction(async () => {
    await db.effect.create({ data: { key: "committed" } });
    await Send.enqueue({ n: 2 });
    await db.transaction(async () => {
      await Send.enqueue({ n: 3 });
      throw new Error("a nested one is rolled back alone");
    }).catch(() => {});
  });
  await Send.enqueue({ n: 4 });
  assert.deepEqual(await jobs.drain(), ["done", "done"]);
  assert.deepEqual(seen, [2, 4]);
  assert.equal(await db.fwJob.count(), 2);
});

const NOT_AWAITED = "Cannot commit transaction: its function did not await what it began";

testJobs("a transaction that does not await its job or event is not committed", async (url) => {
  const handlers = { send: Send.handle(() => {}), sent: Sent.on(() => {}) };
  await using app = await jobsApp(url, { handlers });
  const { db } = app;
  for (const begin of [() => Send.enqueue({ n: 1 }), () => Sent.publish({ n: 1 })]) {
    let begun: Promise<unknown> = Promise.resolve();
    const running = db.transaction(async () => {
      await db.effect.create({ data: { key: "alone" } });
      begun = begin().catch(() => {});
    });
    await assert.rejects(running, { message: NOT_AWAITED });
    await begun;
  }
  assert.equal(await db.effect.exists({ where: { key: "alone" } }), false);
  assert.equal(await db.fwJob.count(), 0);
});

testJobs("singleton: a key has at most one job that has not ended", async (url) => {
  const handlers = { send: Send.handle(() => {}) };
  await using app = await jobsApp(url, { handlers });
  const { db, jobs } = app;
  const ids = await Promise.all(
    [1, 2, 3, 4, 5].map((n) => Send.enqueue({ n }, { singleton: "rebuild" })),
  );
  assert.equal(new Set(ids).size, 1);
  const inside = await db.transaction(() => Send.enqueue({ n: 6 }, { singleton: "rebuild" }));
  const other = await Send.enqueue({ n: 7 }, { singleton: "other" });
  assert.deepEqual([inside, other === ids[0]], [ids[0], false]);
  assert.deepEqual(await jobs.drain(), ["done", "done"]);
  const later = await Send.enqueue({ n: 8 }, { singleton: "rebuild" });
  assert.notEqual(later, ids[0]);
  assert.deepEqual(await jobs.drain(), ["done"]);
});

testJobs(
  "singleton: a key that was committed after the snapshot of a transaction is found",
  async (url, brand) => {
    if (brand === "sqlite") return; // a transaction is the only writer
    await using app = await jobsApp(url);
    await using other = await jobsApp(url);
    await app.db.transaction(async () => {
      await app.db.effect.count();
      const id = await other.jobs.enqueue(Sweep, undefined, { singleton: "one" });
      assert.equal(await app.jobs.enqueue(Sweep, undefined, { singleton: "one" }), id);
    });
  },
);

testJobs("runAt: a job does not run before its time", async (url) => {
  const clock = new Clock();
  const handlers = { sweep: Sweep.handle(() => {}) };
  await using app = await jobsApp(url, { now: clock.now, handlers });
  const { jobs } = app;
  const id = await Sweep.enqueue(undefined, { runAt: new Date(clock.ms + 60_000) });
  await Sweep.enqueue(undefined, { runAt: new Date(clock.ms + 120_000) });
  assert.equal((await jobs.find(id))?.state, "scheduled");
  clock.ms += 59_999;
  assert.deepEqual(await jobs.drain(), []);
  clock.ms += 1;
  assert.deepEqual(await jobs.drain(), ["done"]);
});

testJobs("priority: of the jobs that are ready, the largest runs first", async (url) => {
  const seen: number[] = [];
  const handlers = { send: Send.handle(({ body }) => seen.push(body.n)) };
  await using app = await jobsApp(url, { handlers });
  for (const [n, priority] of [[1, 0], [2, -1], [3, 5], [4, 0], [5, 5]] as const) {
    await Send.enqueue({ n }, { priority });
  }
  await app.jobs.drain();
  assert.deepEqual(seen, [3, 5, 1, 4, 2]);
});

testJobs("a payload is validated when it is enqueued, and again when it runs", async (url) => {
  const clock = new Clock();
  const Old = job("mail", { body: v.object({ to: v.string() }) });
  const New = job("mail", { body: v.object({ to: v.pipe(v.string(), v.email()) }) });
  const handlers = { mail: New.handle(() => {}) };
  await using app = await jobsApp(url, { now: clock.now, handlers });
  const { jobs } = app;
  await assert.rejects(
    New.enqueue({ to: "ada" }),
    new TypeError("Cannot enqueue mail: the body does not satisfy its schema: to: Invalid email"),
  );
  const id = await Old.enqueue({ to: "ada" });
  assert.deepEqual(await jobs.drain(), ["dead"]);
  assert.deepEqual(await jobs.find(id), {
    id,
    name: "mail",
    state: "dead",
    body: { to: "ada" },
    priority: 0,
    runAt: new Date(clock.ms),
    enqueuedAt: new Date(clock.ms),
    endedAt: new Date(clock.ms),
    attempts: 1,
    progress: null,
    reason: "the body does not satisfy its schema: to: Invalid email",
    trace: null,
  });
});

testJobs("jobs that are done are removed after keepMs, dead letters are kept", async (url) => {
  const clock = new Clock();
  const Fail = job("fail", { retries: 0 });
  const fail = Fail.handle(() => Promise.reject(new Error("no")));
  const handlers = { sweep: Sweep.handle(() => {}), fail };
  await using app = await jobsApp(url, { now: clock.now, handlers, keepMs: 1000, leaseMs: 100 });
  const { db, jobs } = app;
  await Sweep.enqueue();
  await Fail.enqueue();
  assert.deepEqual(await jobs.drain(), ["done", "dead"]);
  clock.ms += 1001;
  app.work();
  while (await db.fwJob.count() > 1) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual((await db.fwJob.findMany({})).map(({ name }) => name), ["fail"]);
});

test("enqueue() finds the application of the transaction, and refuses to guess among several", async () => {
  await assert.rejects(
    Sweep.enqueue(),
    new TypeError(
      "Cannot enqueue sweep: no application has started that imports JobsModule.forRoot(Db)",
    ),
  );
  const handlers = { sweep: Sweep.handle(() => Send.enqueue({ n: 1 })) };
  await using one = await jobsApp("sqlite::memory:", { handlers });
  {
    await using two = await jobsApp("sqlite::memory:");
    await assert.rejects(
      Sweep.enqueue(),
      /^TypeError: .* several applications .* inject\(Jobs\)/,
    );
    await one.db.transaction(() => Sweep.enqueue());
    assert.deepEqual(await one.jobs.drain(), ["done"]); // its handler enqueues
    await two.jobs.enqueue(Sweep, undefined);
    const counts = await Promise.all([one, two].map(({ db }) => db.fwJob.count()));
    assert.deepEqual(counts, [2, 1]);
  }
  await Sweep.enqueue(); // of the only one
  assert.equal(await one.db.fwJob.count(), 3);
});

test("several applications of a process do not mix what they enqueue at the same time", async () => {
  const handlers = () => ({
    sweep: Sweep.handle(async () => {
      await delay(Math.random() * 5);
      await Send.enqueue({ n: 2 });
    }),
  });
  await using one = await jobsApp("sqlite::memory:", { handlers: handlers() });
  await using two = await jobsApp("sqlite::memory:", { handlers: handlers() });
  const apps = [one, two];
  await Promise.all(apps.flatMap(({ db }) =>
    [1, 2, 3].map(() =>
      db.transaction(async () => {
        await delay(Math.random() * 5);
        await Sweep.enqueue();
      })
    )
  ));
  const drained = Promise.all(apps.map(({ jobs }) => jobs.drain()));
  assert.deepEqual(await drained, apps.map(() => ["done", "done", "done"]));
  const nested = one.db.transaction(() => two.db.transaction(() => Send.enqueue({ n: 3 })));
  await assert.rejects(nested, /several applications/);
  for (const { jobs, db } of apps) {
    assert.equal((await jobs.enqueued(Send)).length, 3);
    assert.equal(await db.fwJob.count({ where: { name: "sweep", state: "done" } }), 3);
  }
});

test("job() and enqueue() refuse what they do not know", async () => {
  for (
    const [declare, message] of [
      [
        () => job("a b"),
        'Cannot declare job "a b": a name has 1 to 100 letters, digits, ".", "_" and "-"',
      ],
      [() => job("a", { retrys: 1 } as object), "Cannot declare job a: retrys is not an option"],
    ] as const
  ) assert.throws(declare, new TypeError(message));
  for (
    const [options, message] of [
      [{ retries: -1 }, "retries is not a whole number of 0 or more"],
      [{ backoffMs: 0.5 }, "backoffMs is not a whole number of 0 or more"],
      [{ timeoutMs: 2 ** 31 }, "timeoutMs is not positive and below 2^31"],
      [{ globalConcurrency: 0 }, "globalConcurrency is not a whole number of 1 or more"],
      [{ priority: 0.5 }, "priority is not a whole number"],
    ] as const
  ) assert.throws(() => job("a", options), new RangeError(`Cannot declare job a: ${message}`));
  await using _app = await jobsApp("sqlite::memory:");
  const refused = async (options: object, message: string) =>
    await assert.rejects(Sweep.enqueue(undefined, options), new TypeError(message));
  await refused({ runat: 1 }, "Cannot enqueue sweep: runat is not an option");
  await refused({ runAt: new Date(NaN) }, "Cannot enqueue sweep: runAt is not a valid date");
  await refused({ group: "" }, "Cannot enqueue sweep: group is not a text of 1 to 150 characters");
  await assert.rejects(
    Sweep.enqueue(undefined, { priority: NaN }),
    new RangeError("Cannot enqueue sweep: priority is not a whole number"),
  );
});

test("an application without the table, or with two handlers of a kind, does not boot", async () => {
  const Cat = model("cats", { id: field.integer().primaryKey() });
  class Bare extends DbService.with({ cat: Cat }) {}
  const boot = (imports: readonly ReturnType<typeof JobsModule.forRoot>[], providers = []) =>
    createTestApplication(module({ name: "AppModule", imports, providers }));
  const bare = DbModule.forRoot(Bare, DbOptions.fromUrl("sqlite::memory:"));
  await assert.rejects(
    boot([bare, JobsModule.forRoot(Bare as never)]),
    new TypeError("Cannot use jobs: the service lacks their table; add ...jobTables to its models"),
  );
  await assert.rejects(
    boot([JobsModule.forRoot(Bare as never)]),
    new TypeError("Cannot use jobs: no module provides Bare; import DbModule.forRoot"),
  );
  const handlers = { one: Sweep.handle(() => {}), two: Sweep.handle(() => {}) };
  await assert.rejects(
    jobsApp("sqlite::memory:", { handlers }),
    new TypeError("Cannot handle sweep: Handlers.one and Handlers.two both do"),
  );
});

testJobs("a job that a transaction has locked holds up no other that is due", async (url) => {
  if (url.startsWith("sqlite")) return; // a transaction locks the database
  const clock = new Clock();
  const handlers = { sweep: Sweep.handle(() => {}) };
  await using app = await jobsApp(url, { now: clock.now, handlers });
  const outside = AsyncLocalStorage.snapshot();
  const runAt = new Date(clock.ms + 1000);
  const locked = await Sweep.enqueue(undefined, { singleton: "one", runAt });
  await Sweep.enqueue(undefined, { runAt });
  clock.ms += 1000;
  await app.db.transaction(async () => {
    await app.db.fwJob.findUnique({ where: { id: locked }, lock: "update" });
    const drained = await outside(() => app.jobs.drain());
    assert.deepEqual(drained, ["done"]);
  });
  assert.deepEqual(await app.jobs.drain(), ["done"]);
});
