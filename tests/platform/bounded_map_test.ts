import assert from "node:assert/strict";
import { BoundedMap, type BoundedMapOptions } from "../../src/platform/bounded_map.ts";
import { test } from "../support/test.ts";

/** A map of numbers with a clock set by the test, and its evicted entries. */
function mapOf(options: BoundedMapOptions<string, number>): {
  readonly map: BoundedMap<string, number>;
  readonly evicted: string[];
  at(nowMs: number): void;
} {
  let nowMs = 0;
  const evicted: string[] = [];
  const onEvict = (key: string, value: number) => void evicted.push(`${key}${value}`);
  return {
    map: new BoundedMap<string, number>({ now: () => nowMs, onEvict, ...options }),
    evicted,
    at(now) {
      nowMs = now;
    },
  };
}

test("BoundedMap.getOrInsertComputed() computes a value once, and evicts the oldest", () => {
  const made: string[] = [];
  const map = new BoundedMap<string, string>({ max: 2 });
  const get = (key: string) => map.getOrInsertComputed(key, () => `${key}${made.push(key)}`);
  assert.deepEqual(["a", "b", "a", "c", "b", "a"].map(get), ["a1", "b2", "a1", "c3", "b2", "a4"]);
  assert.deepEqual(made, ["a", "b", "c", "a"]);
  assert.equal(map.size, 2);
});

test("BoundedMap.get() ignores expired entries, BoundedMap.set() evicts the oldest", () => {
  const { map, evicted, at } = mapOf({ max: 2 });
  map.set("a", 1, { expiresAtMs: 10 });
  map.set("b", 2, { expiresAtMs: 100 });
  at(9);
  assert.equal(map.get("a"), 1);
  at(10);
  assert.equal(map.get("a"), undefined);
  map.set("c", 3, { expiresAtMs: 110 });
  map.set("b", 22, { expiresAtMs: 110 });
  map.set("d", 4, { expiresAtMs: 110 });
  assert.deepEqual(["a", "b", "c", "d"].map((key) => map.get(key)), [undefined, 22, undefined, 4]);
  assert.deepEqual([map.delete("b"), map.delete("b"), map.get("b")], [true, false, undefined]);
  assert.deepEqual(evicted, ["c3"]);
});

test("BoundedMap.set() keeps the weight within the maximum, and keeps no heavier value", () => {
  const { map, evicted } = mapOf({ max: 10, weigh: (value) => value });
  for (const [i, weight] of [4, 4, 4, 11, 2, 9, 1].entries()) map.set(`${i}`, weight);
  assert.deepEqual([...map], [["5", 9], ["6", 1]]);
  assert.deepEqual(evicted, ["04", "14", "24", "42"]);
  map.set("5", 5);
  map.set("7", 4);
  assert.deepEqual([...map], [["6", 1], ["5", 5], ["7", 4]]);
  map.clear();
  map.set("8", 10);
  assert.deepEqual([map.size, evicted.length], [1, 4]);
});

test("BoundedMap.set() removes expired entries that are older than any valid one, prune() all", () => {
  const { map, evicted, at } = mapOf({ max: 10 });
  for (const key of ["a", "b"]) map.set(key, 0, { expiresAtMs: 5 });
  map.set("c", 0);
  map.set("d", 0, { expiresAtMs: 5 });
  at(5);
  map.set("e", 0, { expiresAtMs: 6 });
  assert.deepEqual([...map].map(([key]) => key), ["c", "d", "e"]);
  at(6);
  map.prune();
  assert.deepEqual([...map], [["c", 0]]);
  assert.deepEqual(evicted, []);
});
