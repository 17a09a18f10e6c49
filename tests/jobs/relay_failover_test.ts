import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import { job, type JobsOptions } from "../../src/jobs/mod.ts";
import { bullmq } from "../../src/jobs/relay/bullmq.ts";
import { tcpLine } from "../db/support/tcp_line.ts";
import { RedisServer, SKIP_REDIS_SERVER } from "../faults/services/redis_server.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import { jobsApp, testRelayed, until } from "./support/jobs_app.ts";

const Send = job("send", { body: v.object({ n: v.number() }) });

/** Runs a test with a Redis of its own, and collects its warnings and errors. */
function testRedis(
  name: string,
  run: (url: string, context: { server: RedisServer; logged: () => string[] }) => Promise<void>,
  options: { readonly slow?: boolean } = {},
): void {
  if (SKIP_REDIS_SERVER) return test(name, () => {}, { skip: SKIP_REDIS_SERVER });
  testRelayed(name, (url) =>
    captureLogs(["fw", "jobs"], async (records) => {
      const logged = () =>
        records.filter(({ level }) => level === "warning" || level === "error")
          .map(({ level, rawMessage }) => `${level} ${rawMessage}`);
      {
        await using server = await RedisServer.start();
        await run(url, { server, logged });
      }
      await delay(2100); // ioredis keeps a timer for 2 s after a connection that was refused
    }), options);
}

/** Creates an application whose jobs run over a Redis: one has run. */
async function relayed(url: string, redisUrl: string, options: JobsOptions = {}) {
  const seen: number[] = [];
  const handlers = { send: Send.handle(({ body }) => seen.push(body.n)) };
  const relay = bullmq({ connection: { url: redisUrl } });
  const app = await jobsApp(url, { relay, handlers, ...options });
  await app.work();
  await app.jobs.enqueue(Send, { n: 0 });
  await until(() => seen.length === 1);
  return { app, seen };
}

testRedis("jobs run on the new primary after a failover that keeps connections", async (
  url,
  { server },
) => {
  await using line = await tcpLine(server.url);
  await using next = await RedisServer.start();
  const { app, seen } = await relayed(url, line.url);
  await using _ = app;
  line.redirect(next.url); // the name now has another address
  await server.send("REPLICAOF", "127.0.0.1", String(next.port));
  for (let n = 1; n < 4; n++) await app.jobs.enqueue(Send, { n });
  await until(() => seen.length === 4);
  assert.deepEqual(seen.toSorted(), [0, 1, 2, 3]);
});

testRedis("jobs run over new connections when those before have become silent", async (
  url,
  { server },
) => {
  await using line = await tcpLine(server.url);
  const { app, seen } = await relayed(url, line.url);
  await using _ = app;
  line.silence();
  await app.jobs.enqueue(Send, { n: 1 });
  await until(() => seen.length === 2);
}, { slow: true });

testRedis("a Redis that answers and takes no jobs is logged once", async (
  url,
  { server, logged },
) => {
  const { app, seen } = await relayed(url, server.url, { pollMs: 100 });
  await using _ = app;
  await server.send("REPLICAOF", "127.0.0.1", "1");
  await app.jobs.enqueue(Send, { n: 1 });
  await delay(5000); // of several attempts
  await server.send("REPLICAOF", "NO", "ONE");
  await until(() => seen.length === 2);
  const errors = logged().filter((it) => it === "error Jobs cannot be handed over: {error}");
  assert.equal(errors.length, 1, logged().join());
  // the wait for a job, which ends, is another failure than the refusal
  assert.ok(logged().length <= 3, logged().join());
}, { slow: true });
