/** The reduction of lists of requests. */
import assert from "node:assert/strict";
import { shrink } from "../../../src/testing/prove/shrink.ts";
import { test } from "../../support/test.ts";

for (
  const [needed, expected] of [[[], 2], [[0], 14], [[99], 10], [[3, 4], 14], [
    [0, 50, 99],
    32,
  ]] as const
) {
  test(`shrink() keeps ${JSON.stringify(needed)} of 100 elements in ${expected} tries`, async () => {
    const all = Array.from({ length: 100 }, (_, index) => index);
    let tries = 0;
    const rest = await shrink(all, {
      fails(fewer) {
        tries++;
        return Promise.resolve(needed.every((each) => fewer.includes(each)));
      },
      endsAt: Infinity,
    });
    assert.deepEqual(rest, needed);
    assert.equal(tries, expected);
  });
}

test("shrink() returns what it has when its time is over", async () => {
  const fails = () => Promise.reject(new Error("it tries nothing"));
  assert.deepEqual(await shrink([1, 2], { fails, endsAt: -Infinity }), [1, 2]);
});
