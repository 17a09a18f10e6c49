import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { trace } from "@opentelemetry/api";
import { Cluster, Redis } from "ioredis";
import * as v from "valibot";
import { job, JobsModule } from "../../src/jobs/mod.ts";
import { bullmq, type BullmqConnection, type BullmqOptions } from "../../src/jobs/relay/bullmq.ts";
import type { JobQueue } from "../../src/jobs/relay/relay.ts";
import { type TcpLine, tcpLine } from "../db/support/tcp_line.ts";
import { RedisServer, SKIP_REDIS_SERVER } from "../faults/services/redis_server.ts";
import { redisLine } from "../middleware/redis.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { withOpenTelemetry } from "../support/open_telemetry.ts";
import { test } from "../support/test.ts";
import { Db, type JobsApp, jobsApp, testRelayed, until } from "./support/jobs_app.ts";
import { openQueue, relayOf } from "./support/relays.ts";

const Send = job("send", { body: v.object({ n: v.number() }), backoff: "fixed", backoffMs: 1 });
/** So seldom that a job that runs was not found by polling. */
const NEVER_MS = 600_000;

/** Creates an application that hands jobs over, and runs none. */
async function servingApp(url: string, options: object = {}): Promise<JobsApp> {
  const handlers = { send: Send.handle(() => assert.fail()) };
  const app = await jobsApp(url, { handlers, whileServing: false, ...options });
  await app.work();
  return app;
}

testRelayed("a job runs at once in another process, without polling", async (url) => {
  await using serving = await servingApp(url, { pollMs: NEVER_MS });
  const seen: number[] = [];
  const handlers = { send: Send.handle(({ body }) => seen.push(body.n)) };
  await using working = await jobsApp(url, { handlers, pollMs: NEVER_MS });
  await working.work();
  await delay(50); // both sleep
  await serving.jobs.enqueue(Send, { n: 1 });
  await until(() => seen.length === 1);
});

testRelayed("jobId is the id of a job, which stays in the table as it is", async (url, _, name) => {
  await using serving = await servingApp(url);
  const id = await Send.enqueue({ n: 1 }, { priority: 5 });
  const later = await Send.enqueue({ n: 2 }, { runAt: new Date(Date.now() + NEVER_MS) });
  const queue = openQueue(name);
  await until(async () => (await queue.getJobs()).length === 1);
  const [added] = await queue.getJobs();
  await queue.close();
  assert.deepEqual([added?.id, added?.name, added?.data], [id, "send", {}]);
  const states = await Promise.all([id, later].map((each) => serving.jobs.find(each)));
  assert.deepEqual(states.map((it) => it?.state), ["ready", "scheduled"]);
});

testRelayed("the largest priority runs first, of the same the oldest", async (url, _, name) => {
  await using serving = await servingApp(url);
  await serving.db.transaction(async () => {
    const priorities = [0, 2, -1, 0, 9_000_000, 2];
    for (const [n, priority] of priorities.entries()) await Send.enqueue({ n }, { priority });
  });
  const queue = openQueue(name);
  await until(async () => (await queue.getJobs()).length === 6);
  await queue.close();
  const seen: number[] = [];
  const handlers = { send: Send.handle(({ body }) => seen.push(body.n)) };
  await using working = await jobsApp(url, { handlers, concurrency: 1 });
  await working.work();
  await until(() => seen.length === 6);
  assert.deepEqual(seen, [4, 1, 5, 0, 3, 2]);
});

testRelayed("a job that is not due anymore when it is delivered does not run", async (url) => {
  await using serving = await servingApp(url);
  const ids = [await Send.enqueue({ n: 1 }), await Send.enqueue({ n: 2 })] as const;
  await delay(200); // it is handed over
  await serving.jobs.cancel(ids[0]);
  const seen: number[] = [];
  const handlers = { send: Send.handle(({ body }) => seen.push(body.n)) };
  await using working = await jobsApp(url, { handlers });
  await working.work();
  await until(async () => (await working.jobs.find(ids[1]))?.state === "done");
  assert.deepEqual(seen, [2]);
  assert.equal((await working.jobs.find(ids[0]))?.attempts, 0);
});

testRelayed("jobs of a queue that is paused wait until it is resumed", async (url, _, name) => {
  const seen: number[] = [];
  const handlers = { send: Send.handle(({ body }) => seen.push(body.n)) };
  await using app = await jobsApp(url, { handlers });
  const queue = openQueue(name);
  await queue.pause();
  await app.work();
  const id = await Send.enqueue({ n: 1 });
  await delay(300);
  assert.deepEqual([seen.length, (await app.jobs.find(id))?.state], [0, "ready"]);
  await queue.resume();
  await queue.close();
  await until(() => seen.length === 1);
});

testRelayed("a delivered run is in the trace that has enqueued its job", async (url) => {
  await withOpenTelemetry(async () => {
    const traces: (string | undefined)[] = [];
    const traceId = () => trace.getActiveSpan()?.spanContext().traceId;
    await using app = await jobsApp(url, {
      handlers: { send: Send.handle(() => void traces.push(traceId())) },
    });
    await app.work();
    const placed = await trace.getTracer("test").startActiveSpan("place", async (span) => {
      await Send.enqueue({ n: 1 });
      span.end();
      return span.spanContext().traceId;
    });
    await until(() => traces.length === 1);
    assert.deepEqual(traces, [placed]);
  });
});

testRelayed("a kind that a process does not handle runs in another one", async (url) => {
  const Other = job("other");
  let runs = 0;
  await using old = await jobsApp(url, { handlers: { send: Send.handle(() => {}) } });
  await using current = await jobsApp(url, { handlers: { other: Other.handle(() => runs++) } });
  await old.work();
  await current.work();
  for (let n = 0; n < 5; n++) await current.jobs.enqueue(Other, undefined);
  await until(() => runs === 5);
});

/** Runs a test with a Redis of its own, which it can kill and flush. */
function testRedis(
  name: string,
  run: (url: string, server: RedisServer) => Promise<void>,
  options: { readonly slow?: boolean } = {},
): void {
  if (SKIP_REDIS_SERVER) return test(name, () => {}, { skip: SKIP_REDIS_SERVER });
  testRelayed(name, async (url) => {
    {
      await using server = await RedisServer.start();
      await run(url, server);
    }
    await delay(2100); // ioredis keeps a timer for 2 s after a connection that was refused
  }, options);
}

testRedis("FLUSHALL loses no job, and no run that has begun", async (url, server) => {
  const relay = bullmq({ connection: () => ({ url: server.url }) });
  await using serving = await servingApp(url, { relay });
  for (let n = 0; n < 5; n++) await serving.jobs.enqueue(Send, { n });
  const waiting = () => server.send("ZCARD", "bull:fw-jobs:prioritized");
  await until(async () => await waiting() === 5);
  await server.send("FLUSHALL");
  await until(async () => await waiting() === 5); // they are added again

  const seen: number[] = [];
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const send = Send.handle(async ({ body }) => {
    seen.push(body.n);
    await end;
  });
  await using working = await jobsApp(url, { relay, handlers: { send }, concurrency: 5 });
  await working.work();
  await until(() => seen.length === 5);
  await server.send("FLUSHALL"); // while they run
  await delay(200);
  resolve();
  await until(async () => await working.db.fwJob.count({ where: { state: "done" } }) === 5);
  await working.jobs.enqueue(Send, { n: 5 });
  await until(() => seen.length === 6);
  assert.deepEqual(seen.toSorted(), [0, 1, 2, 3, 4, 5]);
});

testRedis(
  "while Redis is away, jobs wait and runs end; then they run once",
  async (url, server) => {
    const relay = bullmq({ connection: { url: server.url } });
    const seen: number[] = [];
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const send = Send.handle(async ({ body }) => {
      seen.push(body.n);
      if (body.n === 0) await end;
    });
    await captureLogs(["fw", "jobs"], async (records) => {
      await using app = await jobsApp(url, { relay, handlers: { send } });
      await app.work();
      const first = await app.jobs.enqueue(Send, { n: 0 });
      await until(() => seen.length === 1);
      await server.kill();
      const second = await app.jobs.enqueue(Send, { n: 1 });
      resolve();
      await until(async () => (await app.jobs.find(first))?.state === "done");
      assert.equal((await app.jobs.find(second))?.state, "ready");
      await server.start();
      await until(async () => (await app.jobs.find(second))?.state === "done");
      assert.deepEqual(seen, [0, 1]);
      const messages = (level: string) =>
        records.filter((it) => it.level === level).map((it) => it.rawMessage);
      // another one may follow: BullMQ misses the job that has ended meanwhile
      assert.ok(messages("warning").length <= 2, messages("warning").join());
      const warned = new Set(messages("warning"));
      assert.deepEqual(warned, new Set(["The relay of jobs to Redis has failed: {reason}"]));
      assert.ok(messages("error").length <= 1, messages("error").join());
    });
  },
);

testRedis("a worker starts, and stops in time, while Redis is away", async (url, server) => {
  const relay = bullmq({ connection: { url: server.url } });
  await server.kill();
  const seen: number[] = [];
  const handlers = { send: Send.handle(({ body }) => seen.push(body.n)) };
  {
    await using app = await jobsApp(url, { relay, handlers });
    await app.work();
    await app.jobs.enqueue(Send, { n: 1 });
    await delay(100);
    const startMs = performance.now();
    await app.stopWork(60_000);
    assert.ok(performance.now() - startMs < 30_000);
  }
  await using app = await jobsApp(url, { relay, handlers });
  await app.work();
  await server.start();
  await until(() => seen.length === 1);
}, { slow: true });

interface Lines {
  readonly db: TcpLine;
  readonly redis: TcpLine;
  readonly queue: string;
}

/** Runs a test with lines to the database and to Redis, which can be cut. */
function testLines(
  name: string,
  run: (url: string, lines: Lines) => Promise<void>,
): void {
  testRelayed(name, async (url, _, queue) => {
    await using db = await tcpLine(url);
    await using redis = await redisLine();
    await run(url, { db, redis, queue });
  });
}

testLines("a Redis that hangs delays jobs, and loses none", async (url, { redis, queue }) => {
  const relay = bullmq({ connection: { url: redis.url }, queue });
  const seen: number[] = [];
  const handlers = { send: Send.handle(({ body }) => seen.push(body.n)) };
  await using app = await jobsApp(url, { relay, handlers });
  await app.work();
  await app.jobs.enqueue(Send, { n: 0 });
  await until(() => seen.length === 1);
  redis.hang();
  for (let n = 1; n < 4; n++) await app.jobs.enqueue(Send, { n });
  await delay(200);
  await redis.restore();
  await until(() => seen.length === 4);
  assert.deepEqual(seen.toSorted(), [0, 1, 2, 3]);
});

testLines("jobs that are delivered while the database is away run later", async (url, { db }) => {
  await using serving = await servingApp(url);
  const seen: number[] = [];
  const handlers = { send: Send.handle(({ body }) => seen.push(body.n)) };
  await using app = await jobsApp(db.url, { ...relayOf(url), handlers });
  await app.work();
  db.cut();
  for (let n = 0; n < 3; n++) await serving.jobs.enqueue(Send, { n });
  await delay(300); // they are delivered
  await db.restore();
  await until(() => seen.length === 3);
  assert.deepEqual(seen.toSorted(), [0, 1, 2]);
});

test("a relay that cannot be opened is opened again at the next start", async () => {
  const calls: string[] = [];
  const queue: JobQueue = {
    add: (jobs) => Promise.resolve(jobs.length),
    count: () => Promise.resolve(0),
    consume: () => void calls.push("consume"),
    pause: () => void calls.push("pause"),
    close: () => Promise.resolve(void calls.push("close")),
  };
  const open = () => {
    calls.push("open");
    return calls.length > 1 ? Promise.resolve(queue) : Promise.reject(new Error("no address"));
  };
  {
    await using app = await jobsApp("sqlite::memory:", { relay: { open } });
    const starts = await Promise.allSettled([app.work(), app.work()]);
    assert.deepEqual(starts.map(({ status }) => status), ["rejected", "rejected"]);
    await app.work();
    await app.work();
  }
  assert.deepEqual(calls, ["open", "open", "consume", "pause", "close"]);
});

const CLIENT = "connection is a client of ioredis; pass its options";

test("bullmq() and the option relay refuse what has no effect", async () => {
  const refused: readonly (readonly [unknown, string])[] = [
    [{ connection: {}, name: "shop" }, "name is not an option"],
    [{}, "connection is neither options of ioredis nor a function"],
    [{ connection: "redis://" }, "connection is neither options of ioredis nor a function"],
    [{ connection: {}, queue: "a:b" }, 'queue is not a text without ":"'],
    [{ connection: new Redis({ lazyConnect: true }) }, CLIENT],
    [{ connection: new Cluster(["localhost"], { lazyConnect: true }) }, CLIENT],
  ];
  for (const [options, why] of refused) {
    const error = new TypeError(`Cannot relay jobs: ${why}`);
    assert.throws(() => bullmq(options as BullmqOptions), error);
  }
  const client = () => new Redis({ lazyConnect: true }) as unknown as BullmqConnection;
  const error = new TypeError(`Cannot relay jobs: ${CLIENT}`);
  await assert.rejects(bullmq({ connection: client }).open(), error);
  assert.throws(
    () => JobsModule.forRoot(Db, { relay: {} as ReturnType<typeof bullmq> }),
    new TypeError("Cannot use jobs: relay is not one, such as that of bullmq()"),
  );
});
