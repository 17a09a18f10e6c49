import assert from "node:assert/strict";
import { MemoryRateLimitStore } from "../../../src/middleware/rate_limit/memory_rate_limit_store.ts";
import { test } from "../../support/test.ts";

/** A store on a clock that the test sets. */
function storeAt(nowMs: number, maxKeys?: number): {
  readonly store: MemoryRateLimitStore;
  at(nowMs: number): void;
} {
  let current = nowMs;
  const options = { now: () => current, ...(maxKeys !== undefined && { maxKeys }) };
  return {
    store: new MemoryRateLimitStore(options),
    at(nowMs) {
      current = nowMs;
    },
  };
}

test("MemoryRateLimitStore.hit() counts in windows that start with the first hit of a key", () => {
  const { store, at } = storeAt(500);
  assert.deepEqual(store.hit("a", 1000), { count: 1, resetMs: 1000 });
  at(900);
  assert.deepEqual(store.hit("a", 1000), { count: 2, resetMs: 600 });
  assert.deepEqual(store.hit("b", 1000), { count: 1, resetMs: 1000 });
  at(1499);
  assert.deepEqual(store.hit("a", 1000), { count: 3, resetMs: 1 });
  at(1500);
  assert.deepEqual(store.hit("a", 1000), { count: 1, resetMs: 1000 });
  assert.deepEqual(store.hit("b", 1000), { count: 2, resetMs: 400 });
});

test("MemoryRateLimitStore.hit() deletes expired keys as time passes", () => {
  const { store, at } = storeAt(0);
  for (let i = 0; i < 1000; i++) store.hit(`old ${i}`, 1000);
  assert.equal(store.size, 1000);
  at(1000);
  store.hit("new", 1000);
  assert.equal(store.size, 1);
});

test("MemoryRateLimitStore.hit() deletes expired keys first when it is full, even those with many hits", () => {
  const { store, at } = storeAt(0, 10);
  store.hit("first", 1000);
  at(500);
  for (let i = 0; i < 12; i++) store.hit(`old ${i % 4}`, 1000);
  at(1000);
  for (let i = 0; i < 6; i++) store.hit(`live ${i}`, 1000);
  assert.equal(store.size, 10);
  at(1500);
  store.hit("new", 1000);
  assert.equal(store.size, 7);
  const counts = Array.from({ length: 6 }, (_, i) => store.hit(`live ${i}`, 1000).count);
  assert.deepEqual(counts, [2, 2, 2, 2, 2, 2]);
});

test("MemoryRateLimitStore.hit() never exceeds its size", () => {
  const { store } = storeAt(0, 1000);
  for (let i = 0; i < 20_000; i++) {
    store.hit(`key ${i}`, 1000);
    assert(store.size <= 1000);
  }
  const single = storeAt(0, 1).store;
  for (const key of ["a", "b", "b", "a"]) single.hit(key, 1000);
  assert.equal(single.size, 1);
});

test("MemoryRateLimitStore.hit() keeps a client with many hits when many clients with few hits come", () => {
  const { store } = storeAt(0, 1000);
  for (let i = 0; i < 5; i++) store.hit("heavy", 1000);
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 10_000; i++) store.hit(`light ${round} ${i}`, 1000);
  }
  assert.equal(store.hit("heavy", 1000).count, 6);
});

test("MemoryRateLimitStore.hit() stays fast while it is full", () => {
  const { store } = storeAt(0, 100_000);
  const startMs = performance.now();
  for (let i = 0; i < 300_000; i++) store.hit(`key ${i}`, 1000);
  const meanMicroseconds = (performance.now() - startMs) / 300;
  assert(meanMicroseconds < 50, `${meanMicroseconds} µs a hit`);
}, { slow: true });

test("MemoryRateLimitStore refuses a bound that is not a positive integer", () => {
  for (const maxKeys of [0, -1, 1.5, NaN, Infinity]) {
    assert.throws(() => new MemoryRateLimitStore({ maxKeys }), {
      name: "RangeError",
      message: `Cannot create rate limit store: maxKeys ${maxKeys} is not a positive integer`,
    });
  }
});

test("MemoryRateLimitStore refuses unknown options", () => {
  const options: object = { max: 5 };
  assert.throws(() => new MemoryRateLimitStore(options), {
    name: "TypeError",
    message: "Cannot create rate limit store: max is not an option",
  });
});
