import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { Deadlines } from "../../src/platform/deadlines.ts";
import { test } from "../support/test.ts";

/** Starts a deadline; resolves with how long it took to expire, in milliseconds. */
function expiring(deadlines: Deadlines, limitMs: number): Promise<number> {
  const startMs = performance.now();
  return new Promise((resolve) =>
    deadlines.start(limitMs, () => resolve(performance.now() - startMs))
  );
}

test("Deadlines.start() expires each after its own time", async () => {
  const deadlines = new Deadlines();
  await Promise.all([60, 20, 40, 20].map(async (limitMs) => {
    const tookMs = await expiring(deadlines, limitMs);
    assert.ok(tookMs >= limitMs - 2 && tookMs < limitMs + 5_000, `${tookMs} ms for ${limitMs} ms`);
  }));
});

test("Deadlines.start() expires an earlier one that starts later", async () => {
  const deadlines = new Deadlines();
  const late = deadlines.start(60_000, () => assert.fail("it has ended"));
  await delay(5);
  assert.ok(await expiring(deadlines, 10) < 5_000);
  deadlines.end(late);
});

test("Deadlines.end() ends one alone, in the turn in which it started or later", async () => {
  const deadlines = new Deadlines();
  const expired: string[] = [];
  const [first, second] = ["first", "second"].map((name) =>
    deadlines.start(10, () => expired.push(name))
  );
  const third = expiring(deadlines, 30);
  deadlines.end(first!);
  await delay(1);
  deadlines.end(second!);
  await third;
  assert.deepEqual(expired, []);
  deadlines.end(second!);
});

test("Deadlines.end() of the only one clears the timer, which a later one sets again", async () => {
  const deadlines = new Deadlines();
  const only = deadlines.start(10, () => assert.fail("it has ended"));
  await delay(1);
  deadlines.end(only);
  assert.ok(await expiring(deadlines, 20) < 5_000);
});

test("Deadlines.start() waits without a limit for Infinity, and expires at once what is over", async () => {
  const deadlines = new Deadlines();
  const unlimited = deadlines.start(Infinity, () => assert.fail("it has no limit"));
  assert.ok(await expiring(deadlines, -5) < 5_000);
  assert.ok(await expiring(deadlines, 5) < 5_000);
  deadlines.end(unlimited);
});

test("Deadlines.start() measures one that starts while another expires", async () => {
  const deadlines = new Deadlines();
  const { promise, resolve } = Promise.withResolvers<void>();
  deadlines.start(5, () => deadlines.start(5, resolve));
  await promise;
});
