import assert from "node:assert/strict";
import { test } from "../support/test.ts";
import {
  BUN_SUMMARY,
  countsOf,
  DENO_SUMMARY,
  NODE_SUMMARY,
  reasonsOf,
  type Summary,
} from "./test_report.ts";

const WHY = "needs deno: for a reason";

const REPORTS: Readonly<Record<string, readonly [Summary, string]>> = {
  deno: [
    DENO_SUMMARY,
    `a test ... ok (5ms)
what a test of its own printed: ok | 20 passed | 0 failed | 30 ignored (1s)
another [1] [${WHY}] ... ignored (0ms)
a third ... FAILED (1ms)
FAILED | 2 passed | 1 failed | 3 ignored (8s)`,
  ],
  node: [
    NODE_SUMMARY,
    `✔ a test (5.1ms)
﹣ another [1] [${WHY}] (0.1ms) # SKIP
ℹ tests 6
ℹ pass 2
ℹ fail 1
ℹ skipped 3`,
  ],
  bun: [
    BUN_SUMMARY,
    `(pass) a test [5.00ms]
(skip) another [1] [${WHY}]

1 tests skipped:
(skip) another [1] [${WHY}]

 2 pass
 3 skip
 1 fail
Ran 6 tests across 1 file.`,
  ],
};

for (const [runner, [summary, output]] of Object.entries(REPORTS)) {
  test(`countsOf() and reasonsOf() read what ${runner} prints`, () => {
    const ending = { status: 1, output, seconds: 1 };
    assert.deepEqual(countsOf(ending, summary), { passed: 2, failed: 1, skipped: 3 });
    assert.deepEqual(reasonsOf(ending), [WHY]);
  });
}

test("countsOf() counts a runner as failed that fails without a failed test, or has run none", () => {
  const output = "ok | 2 passed | 0 failed (1s)";
  assert.equal(countsOf({ status: 0, output, seconds: 1 }, DENO_SUMMARY).failed, 0);
  assert.equal(countsOf({ status: null, output, seconds: 1 }, DENO_SUMMARY).failed, 1);
  assert.equal(countsOf({ status: 0, output: "", seconds: 1 }, DENO_SUMMARY).failed, 1);
});
