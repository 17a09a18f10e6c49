import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { trace } from "@opentelemetry/api";
import * as v from "valibot";
import { FwFactory, module, provide } from "../../../mod.ts";
import { DbModule, DbOptions } from "../../../src/db/mod.ts";
import { event, Events, Jobs, JobsModule, schedule } from "../../../src/jobs/mod.ts";
import { OutboxEngine } from "../../../src/jobs/outbox/outbox_engine.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { withOpenTelemetry } from "../../support/open_telemetry.ts";
import { test } from "../../support/test.ts";
import { Clock, Db, jobsApp, testJobs, until } from "../support/jobs_app.ts";

const Placed = event("placed", { body: v.object({ n: v.number() }) });
const Swept = event("swept");

testJobs("handlers are called after the commit, and none after a rollback", async (url) => {
  const seen: string[] = [];
  const handlers = {
    log: Placed.on(({ body }) => void seen.push(`log ${body.n}`)),
    mail: Placed.durable("mail", ({ body }) => void seen.push(`mail ${body.n}`)),
    index: Placed.durable(
      "index",
      { retries: 0 },
      ({ body }) => void seen.push(`index ${body.n}`),
    ),
  };
  await using app = await jobsApp(url, { handlers });
  const { db, jobs } = app;
  await assert.rejects(db.transaction(async () => {
    await Placed.publish({ n: 1 });
    throw new Error("rolled back");
  }));
  await db.transaction(async () => {
    await db.effect.create({ data: { key: "committed" } });
    await Placed.publish({ n: 2 });
    await db.transaction(async () => {
      await Placed.publish({ n: 3 });
      throw new Error("a nested one is rolled back alone");
    }).catch(() => {});
    await app.events.settled();
    assert.deepEqual(seen, []);
  });
  await app.events.settled();
  assert.deepEqual(seen, ["log 2"]);
  const rows = await db.fwJob.findMany({ orderBy: { seq: "asc" } });
  assert.deepEqual(rows.map(({ name, body }) => [name, body]), [
    ["placed:mail", { n: 2 }],
    ["placed:index", { n: 2 }],
  ]);
  assert.deepEqual(await jobs.drain(), ["done", "done"]);
  assert.deepEqual(seen, ["log 2", "mail 2", "index 2"]);
});

testJobs("outside of a transaction, handlers are called at once", async (url) => {
  const seen: string[] = [];
  const handlers = {
    log: Swept.on(({ body }) => void seen.push(`log ${body}`)),
    mail: Swept.durable("mail", (_, { attempt }) => void seen.push(`mail ${attempt}`)),
  };
  await using app = await jobsApp(url, { handlers });
  await Swept.publish();
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  assert.deepEqual(seen, ["log undefined", "mail 1"]);
});

testJobs("an event has the jobs of all durable handlers, or of none", async (url) => {
  const handlers = {
    one: Placed.durable("one", () => {}),
    two: Placed.durable("two", () => {}),
    log: Placed.on(() => assert.fail("it is called")),
  };
  await using app = await jobsApp(url, { handlers });
  const engine = new OutboxEngine(app.db);
  const events = new Events();
  const cannotStore = new Error("the second job cannot be stored");
  const none = { runAt: undefined, singleton: undefined, group: undefined, trace: undefined };
  events.start({
    inTransaction: (run) => engine.inTransaction(run),
    during: (work) => engine.during(work),
    afterCommit: (callback) => engine.afterCommit(callback),
    inApplication: (handle) => handle(),
    async enqueue({ name }) {
      if (name === "placed:two") throw cannotStore;
      await engine.enqueue({ name, body: { n: 1 }, priority: 0, ...none });
    },
  }, [handlers]);
  await assert.rejects(events.publish(Placed, { n: 1 }), cannotStore);
  await events.settled();
  assert.equal(await app.db.fwJob.count(), 0);
});

test("a payload is validated when it is published, not again for each durable handler", async () => {
  let validations = 0;
  const schema = v.custom<number>((value) => {
    validations++;
    return typeof value === "number";
  });
  const Counted = event("counted", { body: schema });
  const Other = event("counted", { body: v.string() }); // of the same name
  const handlers = {
    one: Counted.durable("one", () => {}),
    two: Counted.durable("two", () => {}),
  };
  await using app = await jobsApp("sqlite::memory:", { handlers });
  await app.events.publish(Counted, 1);
  assert.equal(validations, 1);
  assert.deepEqual(await app.jobs.drain(), ["done", "done"]);
  assert.equal(validations, 3); // each run reads what is stored
  await assert.rejects(app.events.publish(Other, "1"), {
    message: /^Cannot enqueue counted:one: the body does not satisfy its schema: /,
  });
});

testJobs("a durable handler that fails is retried alone, under the same id", async (url) => {
  const clock = new Clock();
  const runs: string[] = [];
  const handlers = {
    one: Swept.durable("one", { retries: 1 }, (_, { id, attempt }) => {
      runs.push(`one ${attempt} ${id}`);
      if (attempt === 1) throw new Error("not yet");
    }),
    two: Swept.durable("two", (_, { attempt }) => void runs.push(`two ${attempt}`)),
  };
  await using app = await jobsApp(url, { handlers, now: clock.now });
  await Swept.publish();
  assert.deepEqual(await app.jobs.drain(), ["scheduled", "done"]);
  clock.ms += 10_000;
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  const id = runs[0]!.split(" ")[2];
  assert.deepEqual(runs, [`one 1 ${id}`, "two 1", `one 2 ${id}`]);
});

test("handlers are called of all providers, whose classes can have one name", async () => {
  const seen: string[] = [];
  const listener = (name: string) =>
    class Listener {
      swept = Swept.on(() => void seen.push(name));
    };
  await using app = await FwFactory.create(module({
    imports: [DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:")), JobsModule.forRoot(Db)],
    providers: [listener("a"), listener("b")],
  }));
  const events = app.get(Events);
  await events.publish(Swept, undefined);
  await events.settled();
  assert.deepEqual(seen, ["a", "b"]);
});

test("handlers are found in objects without a prototype, and modules are providers too", async () => {
  const seen: string[] = [];
  const fields = {
    swept: Swept.on(() => void seen.push("in process")),
    mail: Swept.durable("mail", () => void seen.push("durable")),
    daily: schedule("@daily", () => {}),
  };
  await using app = await FwFactory.create(module({
    imports: [DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:")), JobsModule.forRoot(Db)],
    providers: [
      provide("plain", () => Object.assign(Object.create(null), fields) as object),
      provide("library", () => v),
    ],
  }));
  await app.get(Db).createTables();
  await app.get(Events).publish(Swept, undefined);
  assert.deepEqual(await app.get(Jobs).drain(), ["done"]);
  assert.deepEqual(seen, ["in process", "durable"]);
  const [{ name } = {}] = await app.get(Jobs).list({ states: ["scheduled"] });
  assert.equal(name, "schedule:daily");
});

test("the error of a handler is logged, and reaches neither the publisher nor others", async () => {
  await captureLogs(["fw", "jobs"], async (records) => {
    const seen: number[] = [];
    const error = new RangeError("no");
    const handlers = {
      throws: Placed.on(() => {
        throw error;
      }),
      rejects: Placed.on(() => Promise.reject(error)),
      works: Placed.on(({ body }) => void seen.push(body.n)),
    };
    await using app = await jobsApp("sqlite::memory:", { handlers });
    await app.db.transaction(() => Placed.publish({ n: 1 }));
    await app.events.settled();
    assert.deepEqual(seen, [1]);
    assert.deepEqual(records.map(({ level, properties }) => [level, properties]), [
      ["error", { owner: "Handlers.throws", name: "placed", error }],
      ["error", { owner: "Handlers.rejects", name: "placed", error }],
    ]);
  });
});

test("a publisher does not wait for handlers, and one that changes the payload is alone", async () => {
  const Tags = event("tags", { body: v.object({ tags: v.custom<string[]>(Array.isArray) }) });
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const seen: string[] = [];
  const handlers = {
    slow: Tags.on(async ({ body }) => {
      body.tags.push("slow");
      await end;
      seen.push("slow");
    }),
    quick: Tags.on(({ body }) => void seen.push(body.tags.join())),
  };
  await using app = await jobsApp("sqlite::memory:", { handlers });
  await app.db.transaction(() => Tags.publish({ tags: ["a"] }));
  await until(() => seen.length === 1);
  assert.deepEqual(seen, ["a"]);
  resolve();
  await app.events.settled();
  assert.deepEqual(seen, ["a", "slow"]);
});

test("a handler runs outside of a transaction of the publisher in another database", async () => {
  const other = await Db.open(DbOptions.fromUrl("sqlite::memory:"));
  await other.createTables();
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const handlers = {
    late: Swept.on(async () => {
      await end;
      await other.effect.create({ data: { key: "late" } });
    }),
  };
  await using app = await jobsApp("sqlite::memory:", { handlers });
  await assert.rejects(other.transaction(async () => {
    await Swept.publish();
    throw new Error("rolled back");
  }));
  resolve();
  await app.events.settled();
  assert.equal(await other.effect.count(), 1);
  await other.close();
});

test("what a handler enqueues and publishes belongs to its application", async () => {
  const seen: number[] = [];
  const handlers = {
    first: Swept.on(async () => {
      await delay(20);
      await Placed.publish({ n: 5 });
    }),
    then: Placed.durable("then", ({ body }) => void seen.push(body.n)),
  };
  await using app = await jobsApp("sqlite::memory:", { handlers });
  await using _other = await jobsApp("sqlite::memory:");
  await app.events.publish(Swept, undefined);
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  assert.deepEqual(seen, [5]);
  await assert.rejects(
    Swept.publish(),
    new TypeError(
      "Cannot publish swept: several applications of this process have jobs; use inject(Jobs) " +
        "or inject(Events)",
    ),
  );
});

test("a stop waits for handlers before providers shut down", async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const seen: string[] = [];
  class Mailer {
    swept = Swept.on(async () => {
      await end;
      seen.push("handled");
    });
    onApplicationShutdown() {
      seen.push("closed");
    }
  }
  const app = await FwFactory.create(module({
    name: "AppModule",
    imports: [DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:")), JobsModule.forRoot(Db)],
    providers: [Mailer],
  }));
  await app.ready();
  await Swept.publish();
  const closed = app.close();
  await delay(20); // in which a stop that does not wait has ended
  resolve();
  await closed;
  assert.deepEqual(seen, ["handled", "closed"]);
});

test("a stop waits for handlers within drainMs, those of the last requests included", async () => {
  await captureLogs(["fw", "jobs"], async (records) => {
    const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const seen: number[] = [];
    const handlers = {
      late: Placed.on(async ({ body }) => {
        await ends[body.n]?.promise;
        seen.push(body.n);
        if (body.n === 0) await Placed.publish({ n: 1 }); // which keeps the stop waiting
      }),
    };
    const app = await jobsApp("sqlite::memory:", { handlers });
    await Placed.publish({ n: 0 });
    const stopped = app.app.close({ drainMs: 60_000 });
    ends[0]!.resolve();
    await until(() => seen.length === 1);
    ends[1]!.resolve();
    await stopped;
    assert.deepEqual(seen, [0, 1]);
    assert.deepEqual(records, []);
  });
});

test("a stop gives up handlers that take longer than drainMs", async () => {
  await captureLogs(["fw", "jobs"], async (records) => {
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const app = await jobsApp("sqlite::memory:", { handlers: { late: Swept.on(() => end) } });
    await Swept.publish();
    await app.app.close({ drainMs: 100 });
    assert.deepEqual(records.map(({ level, properties }) => [level, properties]), [
      ["warning", { count: 1 }],
    ]);
    resolve();
  });
});

test("a handler continues the trace of the publisher", async () => {
  await withOpenTelemetry(async () => {
    const seen: (string | undefined)[] = [];
    const traceId = () => trace.getActiveSpan()?.spanContext().traceId;
    const handlers = { log: Swept.on(() => void seen.push(traceId())) };
    await using app = await jobsApp("sqlite::memory:", { handlers });
    await trace.getTracer("test").startActiveSpan("place", async (span) => {
      await Swept.publish();
      await app.events.settled();
      assert.deepEqual(seen, [span.spanContext().traceId]);
      span.end();
    });
  });
});

test("a payload that its schema refuses, or that is not JSON, is not published", async () => {
  await using _app = await jobsApp("sqlite::memory:");
  await assert.rejects(
    Placed.publish({ n: "1" as unknown as number }),
    new TypeError(
      "Cannot publish placed: the body does not satisfy its schema: n: Invalid type: Expected number",
    ),
  );
  await assert.rejects(
    Placed.publish({ n: 1n as unknown as number }),
    new TypeError("Cannot publish placed: the body is not JSON"),
  );
});

test("event() and durable() refuse what is invalid", () => {
  const refused: readonly (readonly [declare: () => unknown, message: string])[] = [
    [() => event("a b"), 'event "a b": a name has 1 to 100 letters, digits, ".", "_" and "-"'],
    [() => event("schedule"), "event schedule: its durable handlers would count as schedules"],
    [() => event("a", { boddy: 1 } as never), "event a: boddy is not an option"],
    [() => event("a", { body: {} as never }), "event a: body is not a Standard Schema"],
    [
      () => Swept.durable("a:b", () => {}),
      'handler of swept "a:b": a name has 1 to 100 letters, digits, ".", "_" and "-"',
    ],
    [
      () => Swept.durable("a", { body: 1 } as never, () => {}),
      "handler swept:a: body is not an option",
    ],
    [() => Swept.durable("a", {} as never), "handler swept:a: the handler is not a function"],
    [
      () => Swept.durable("a", { retries: -1 }, () => {}),
      "handler swept:a: retries is not a whole number of 0 or more",
    ],
  ];
  for (const [declare, message] of refused) {
    assert.throws(declare, { message: `Cannot declare ${message}` });
  }
});

test("two durable handlers of an event need names of their own", async () => {
  const handlers = { one: Swept.durable("mail", () => {}), two: Swept.durable("mail", () => {}) };
  await assert.rejects(
    jobsApp("sqlite::memory:", { handlers }),
    new TypeError("Cannot handle swept:mail: Handlers.one and Handlers.two both do"),
  );
});
