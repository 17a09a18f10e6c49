import assert from "node:assert/strict";
import { BoundedCache } from "../../src/platform/bounded_cache.ts";
import { test } from "../support/test.ts";

test("BoundedCache makes a value once and forgets the oldest", () => {
  const made: string[] = [];
  const cache = new BoundedCache<string>({ max: 2 });
  const get = (key: string) => cache.getOrMake(key, () => `${key}${made.push(key)}`);
  assert.deepEqual(["a", "b", "a", "c", "b", "a"].map(get), ["a1", "b2", "a1", "c3", "b2", "a4"]);
  assert.deepEqual(made, ["a", "b", "c", "a"]);
  assert.equal(cache.size, 2);
});
