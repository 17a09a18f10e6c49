import assert from "node:assert/strict";
import {
  FallbackStore,
  MemoryRateLimitStore,
} from "../../../src/middleware/rate_limit/memory_rate_limit_store.ts";
import type {
  RateLimitHit,
  RateLimitStore,
} from "../../../src/middleware/rate_limit/rate_limit_store.ts";
import { test } from "../../support/test.ts";
import { captureLogs } from "../../support/capture_logs.ts";

/** What the store says; the counts of the process are lower. */
const HIT: RateLimitHit = { count: 1000, resetMs: 1000 };
const WINDOW_MS = 60_000;
const FAILURE = new Error("connection lost");

const FAILURES: Record<string, RateLimitStore["hit"]> = {
  rejects: () => Promise.reject(FAILURE),
  throws: () => {
    throw FAILURE;
  },
  hangs: () => new Promise(() => {}),
};

test("FallbackStore.hit() returns the result of the store, synchronous or not", async () => {
  for (const answer of [HIT, Promise.resolve(HIT)]) {
    const store = new FallbackStore({ hit: () => answer }, { timeoutMs: 50 });
    assert.deepEqual(await store.hit("key", WINDOW_MS), HIT);
  }
});

test("FallbackStore.hit() counts in the process while the store fails, and logs each outage once", async () => {
  for (const [name, failure] of Object.entries(FAILURES)) {
    await captureLogs(["fw", "rate-limit"], async (records) => {
      let nowMs = 0;
      let asked = 0;
      let isDown = true;
      const hit: RateLimitStore["hit"] = (key, windowMs) => {
        asked++;
        return isDown ? failure(key, windowMs) : HIT;
      };
      const store = new FallbackStore({ hit }, { timeoutMs: 10, now: () => nowMs });
      const burst = () => Promise.all(Array.from({ length: 5 }, () => store.hit("key", WINDOW_MS)));
      const own = (from: number) =>
        Array.from({ length: 5 }, (_, n) => ({ count: from + n, resetMs: WINDOW_MS - nowMs }));

      assert.deepEqual(await burst(), own(1), name);
      const askedInFlight = asked;
      assert.deepEqual(await burst(), own(6), "left alone for a second");
      assert.equal(asked, askedInFlight);
      assert.deepEqual(records.map(({ level }) => level), ["error"]);

      nowMs = 1000;
      assert.deepEqual(await burst(), own(11), "asked once more");
      assert.equal(asked, askedInFlight + 1);
      assert.deepEqual(records.map(({ level }) => level), ["error"]);

      nowMs = 2000;
      isDown = false;
      assert.deepEqual((await burst())[0], HIT);
      assert.deepEqual(await burst(), Array(5).fill(HIT));
      assert.deepEqual(records.map(({ level }) => level), ["error", "info"]);

      isDown = true;
      assert.deepEqual(await burst(), own(26), "the next outage");
      assert.deepEqual(records.map(({ level }) => level), ["error", "info", "error"]);
      const { error } = records[0]?.properties ?? {};
      assert.equal((error as Error).name, name === "hangs" ? "TimeoutError" : "Error");
    });
  }
});

test("FallbackStore.hit() does not end an outage because of a result from before it", async () => {
  await captureLogs(["fw", "rate-limit"], async (records) => {
    const answers: (Promise<RateLimitHit> | RateLimitHit)[] = [
      new Promise((resolve) => setTimeout(resolve, 5, HIT)),
      Promise.reject(FAILURE),
      HIT,
    ];
    const store = new FallbackStore({ hit: () => answers.shift() ?? HIT }, {
      timeoutMs: 50,
      now: () => 0,
    });
    const early = store.hit("key", WINDOW_MS);
    assert.equal((await store.hit("key", WINDOW_MS)).count, 2);
    assert.deepEqual(await early, HIT);
    assert.equal((await store.hit("key", WINDOW_MS)).count, 3);
    assert.deepEqual(records.map(({ level }) => level), ["error"]);
  });
});

test("FallbackStore.hit() allows the limit once in a window of the process, through many outages", async () => {
  const max = 10;
  let nowMs = 0;
  const now = () => nowMs;
  const shared = new MemoryRateLimitStore({ now });
  let isDown = false;
  const hit: RateLimitStore["hit"] = (key, windowMs) => {
    if (isDown) throw FAILURE;
    return shared.hit(key, windowMs);
  };
  const store = new FallbackStore({ hit }, { timeoutMs: 50, now });
  let allowed = 0;
  for (let second = 0; second < 50; second++) {
    nowMs = second * 1000;
    isDown = second % 4 < 2;
    for (let n = 0; n < 5; n++) {
      if ((await store.hit("key", WINDOW_MS)).count <= max) allowed += 1;
    }
  }
  assert.equal(allowed, max);
});

test("FallbackStore.hit() refuses a client over its limit when the store returns without counts", async () => {
  const max = 10;
  let nowMs = 0;
  const now = () => nowMs;
  let shared: MemoryRateLimitStore | undefined = new MemoryRateLimitStore({ now });
  const hit: RateLimitStore["hit"] = (key, windowMs) => {
    if (shared === undefined) throw FAILURE;
    return shared.hit(key, windowMs);
  };
  const store = new FallbackStore({ hit }, { timeoutMs: 50, now });
  const allowed = async (key: string) => {
    let count = 0;
    for (let n = 0; n < 2 * max; n++) {
      if ((await store.hit(key, WINDOW_MS)).count <= max) count += 1;
    }
    return count;
  };
  assert.deepEqual([await allowed("early"), await allowed("idle")], [max, max]);
  nowMs = 10_000;
  shared = undefined;
  assert.deepEqual([await allowed("early"), await allowed("late")], [0, max]);
  nowMs = 20_000;
  shared = new MemoryRateLimitStore({ now });
  await store.hit("probe", WINDOW_MS);
  const after = [await allowed("early"), await allowed("late"), await allowed("idle")];
  assert.deepEqual([...after, await allowed("new")], [0, 0, 0, max]);

  nowMs = 100_000; // a window that began after the outage is that of the store
  assert.deepEqual(await store.hit("idle", WINDOW_MS), { count: 1, resetMs: WINDOW_MS });
  nowMs = 101_000;
  shared = new MemoryRateLimitStore({ now }); // unnoticed
  assert.deepEqual(await store.hit("idle", WINDOW_MS), { count: 2, resetMs: WINDOW_MS - 1000 });
});

test("FallbackStore.hit() refuses a client over its limit when the store loses its counts unnoticed", async () => {
  const max = 10;
  let nowMs = 0;
  const now = () => nowMs;
  let shared = new MemoryRateLimitStore({ now });
  const store = new FallbackStore({ hit: (...hit) => shared.hit(...hit) }, { timeoutMs: 50, now });
  const allowed = async () => {
    let count = 0;
    for (let n = 0; n < 2 * max; n++) {
      if ((await store.hit("key", WINDOW_MS)).count <= max) count += 1;
    }
    return count;
  };
  assert.equal(await allowed(), max);
  for (nowMs = 1000; nowMs < WINDOW_MS; nowMs += 15_000) {
    shared = new MemoryRateLimitStore({ now });
    assert.equal(await allowed(), 0, `${nowMs} ms`);
  }
  nowMs = 2 * WINDOW_MS;
  assert.equal(await allowed(), max, "a later window");
});

test("FallbackStore.hit() allows the limit in each window of the store, which another process began", async () => {
  const max = 10;
  let nowMs = 0;
  const now = () => nowMs;
  const shared = new MemoryRateLimitStore({ now });
  const store = new FallbackStore(shared, { timeoutMs: 50, now });
  shared.hit("key", WINDOW_MS);
  for (nowMs of [30_000, WINDOW_MS - 1]) {
    for (let n = 0; n < max; n++) await store.hit("key", WINDOW_MS);
  }
  nowMs = WINDOW_MS + 1;
  assert.equal((await store.hit("key", WINDOW_MS)).count, 1);
});
