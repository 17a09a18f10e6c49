import assert from "node:assert/strict";
import type { Lease } from "../../src/jobs/engine.ts";
import { DoneRuns } from "../../src/jobs/worker/done_runs.ts";
import { test } from "../support/test.ts";

const LEASES: readonly Lease[] = ["a", "a", "a", "b", "b", "c"].map((lease, seq) => ({
  group: null,
  seq,
  lease,
}));

test("the ends of runs are stored a claim at a time, and fail one by one", async () => {
  const together: (readonly number[])[] = [];
  const alone: number[] = [];
  const runs = new DoneRuns({
    done(leases) {
      together.push(leases.map(({ seq }) => seq));
      if (leases.some(({ lease }) => lease === "b")) return Promise.reject(new Error("b"));
      return Promise.resolve(leases.slice(1)); // the first is locked
    },
    end({ seq }) {
      alone.push(seq);
      return seq === 0 ? Promise.reject(new Error("0")) : Promise.resolve(false);
    },
  });
  const ends = await Promise.allSettled(LEASES.map((lease) => runs.end(lease)));
  const results = ends.map((end) =>
    end.status === "fulfilled" ? end.value : (end.reason as Error).message
  );
  assert.deepEqual(results, ["0", true, true, "b", "b", false]);
  assert.deepEqual(together, [[0, 1, 2], [3, 4]]);
  assert.deepEqual(alone.toSorted(), [0, 5]);
});
