/** Holes that are put into applications: `fw prove` finds them, and nothing where there is none. */
import assert from "node:assert/strict";
import process from "node:process";
import { afterFile, testOnce } from "../../../support/test.ts";
import { DEMO_HOLES, EDGE_HOLES, USERS_HOLES } from "./example_holes.ts";
import { demoTarget, edgeTarget, realworldTarget, usersTarget } from "./example_targets.ts";
import type { Hole } from "./hole.ts";
import { PROJECT_HOLES } from "./project_holes.ts";
import { projectTarget } from "./project_target.ts";
import { REALWORLD_HOLES } from "./realworld_holes.ts";
import type { Target } from "./target.ts";
import { checkTypes, Score, Trial } from "./trial.ts";

/**
 * Runs without a hole for each application, and requests from its document, by default those of the
 * table. More: `FW_PROVE_RUNS=20 FW_PROVE_REQUESTS=5000 FW_TEST=all deno test -A --no-check` and
 * this file.
 */
const RUNS = Number(process.env["FW_PROVE_RUNS"] ?? 4);
const REQUESTS = process.env["FW_PROVE_REQUESTS"];

/** How many requests are enough to find some holes. */
const FEW = 300;

/** With it, most statuses are reached in so few requests. */
const SEED = 1;

const SUBJECTS: readonly (readonly [
  name: string,
  open: () => Promise<Target>,
  holes: readonly Hole[],
  requests: number,
])[] = [
  ["the example of users", usersTarget, USERS_HOLES, 400],
  ["the example of notes", edgeTarget, EDGE_HOLES, 300],
  ["the tour of the data layer", demoTarget, DEMO_HOLES, 100],
  ["the port of the RealWorld API", realworldTarget, REALWORLD_HOLES, 800],
  ["a generated project", projectTarget, PROJECT_HOLES, 400],
];

const score = new Score();

afterFile(() => console.log(`${score}`));

/** Returns the holes that are not found, with what is found. */
async function missed(trial: Trial, holes: readonly Hole[]): Promise<readonly string[]> {
  const missed: string[] = [];
  for (const hole of holes) {
    const failures = await trial.find(hole);
    const isFound = failures.some((failure) => hole.failure.test(failure));
    score.add(hole, isFound);
    if (!isFound) missed.push(`${hole.name}: ${failures.join("; ") || "nothing is found"}`);
  }
  return missed;
}

for (const [i, [name, open, holes, requests]] of SUBJECTS.entries()) {
  const telling = holes.filter(({ isTelling }) => isTelling);
  if (telling.length > 0) {
    testOnce(`fw prove finds some holes in ${name}`, async () => {
      await using trial = await Trial.start(await open(), {
        seed: SEED,
        requests: Math.min(requests, 300),
      });
      assert.deepEqual(await missed(trial, telling), []);
    }, { slow: i > 0 });
  }

  testOnce(`fw prove finds each hole in ${name}, and nothing without one`, async () => {
    await using trial = await Trial.start(await open(), {
      seed: SEED,
      requests: Number(REQUESTS ?? requests),
    });
    assert.deepEqual(await missed(trial, holes), []);
    for (let seed = SEED + 1; seed < SEED + RUNS; seed++) {
      const report = await trial.runWithout({ seed, requests: Number(REQUESTS ?? FEW) });
      assert.ok(report.isPassed, report.toText());
    }
  }, { slow: true });
}

testOnce("the types of the applications with holes are right", async () => {
  await using targets = new AsyncDisposableStack();
  const subjects: (readonly [Target, readonly Hole[]])[] = [];
  for (const [, open, holes] of SUBJECTS) subjects.push([targets.use(await open()), holes]);
  await checkTypes(subjects);
}, { slow: true });
