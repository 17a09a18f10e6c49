import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { Heartbeats } from "../../src/jobs/worker/heartbeats.ts";
import { test } from "../support/test.ts";
import { until } from "./support/jobs_app.ts";

/** Creates heartbeats without runs whose engine removes jobs by a function. */
function heartbeats(purge: () => Promise<number>) {
  const counts = { beats: 0 };
  const beats = new Heartbeats({
    engine: {
      now: () => Date.UTC(2026, 0, 1),
      beat: () => Promise.resolve(void counts.beats++),
      running: () => Promise.resolve([]),
      reclaim: () => assert.fail(),
      unblock: () => Promise.resolve(),
      purge,
    },
    planner: { plan: () => Promise.resolve() },
    leaseMs: 5000,
    maxLostRuns: 3,
    keepMs: 0,
    runs: () => [],
  });
  return { beats, counts };
}

test("a heartbeat removes old jobs until none are left", async () => {
  const left = [2000, 2000, 1, 0];
  const { beats, counts } = heartbeats(() => Promise.resolve(left.shift() ?? assert.fail()));
  beats.start();
  await until(() => left.length === 0);
  await beats.stop();
  assert.equal(counts.beats, 1);
});

test("old jobs that have no end delay neither the next heartbeat for long nor a stop", async () => {
  let purges = 0;
  const { beats, counts } = heartbeats(async () => {
    purges++;
    await delay(10);
    return 2000;
  });
  beats.start();
  await until(() => counts.beats === 2);
  assert.ok(purges > 1);
  const before = purges;
  await beats.stop();
  assert.ok(purges - before <= 1);
}, { slow: true });
