import assert from "node:assert/strict";
import { fnv1a, hexOfHash } from "../../src/platform/hash.ts";
import { test } from "../support/test.ts";

test("fnv1a() returns the published hashes, and goes on from one", () => {
  // http://www.isthe.com/chongo/tech/comp/fnv/
  const hashes = [["", "811c9dc5"], ["a", "e40c292c"], ["foobar", "bf9cf968"]] as const;
  for (const [text, hash] of hashes) assert.equal(hexOfHash(fnv1a(text)), hash);
  assert.equal(fnv1a("bar", fnv1a("foo")), fnv1a("foobar"));
  assert.equal(hexOfHash(0x2a), "0000002a");
});
