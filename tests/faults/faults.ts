/**
 * Breaks what a running application depends on, and what it must endure, on Deno, Node and Bun.
 * Prints a table: fault, runtime, how often it was injected, requests, how many were answered as
 * they should be, acknowledged writes that were lost, time to recover.
 *
 *     deno task faults [--quick] [--runtime deno] [--seed N] [AREA or words of a fault]...
 *
 * `--seed` repeats the random choices of a run, which prints it; `--minutes` shortens the long run.
 */
import { configure } from "@logtape/logtape";
import process from "node:process";
import { parseArgs } from "node:util";
import { scenariosOf } from "./areas.ts";
import type { Outcome, Scenario } from "./scenario.ts";
import { RUNTIMES } from "./server/instance.ts";

const { values, positionals: wanted } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    runtime: { type: "string", multiple: true },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    minutes: { type: "string" },
  },
  allowPositionals: true,
});
const { quick: isQuick, runtime: only = [], minutes } = values;
const seed = Number(values.seed);
const runtimes = RUNTIMES.filter((runtime) => only.length === 0 || only.includes(runtime));
const WORDS = { passed: "ok", failed: "FAILED", skipped: "skipped" } as const;
// the identity providers of this process
await configure({
  sinks: {},
  loggers: [{ category: "fw", sinks: [] }, { category: ["logtape", "meta"], sinks: [] }],
});
const counts = { passed: 0, failed: 0, skipped: 0 };

console.log(`seed ${seed}\n`);
console.log(
  ["result", "fault", "runtime", "injected", "requests", "as expected", "lost", "recovered", ""]
    .join("\t"),
);
for (const scenario of scenariosOf(wanted)) {
  const { fault, runtimes: concerned = RUNTIMES } = scenario;
  if (isQuick && !scenario.isQuick) continue;
  const here = runtimes.filter((runtime) => concerned.includes(runtime));
  // much of what they do is to wait
  await Promise.all(here.map(async (runtime) => {
    const outcome = await runOne(scenario, {
      runtime,
      isQuick,
      seed,
      ...minutes !== undefined && { minutes: Number(minutes) },
    });
    const result = resultOf(outcome);
    counts[result] += 1;
    console.log([WORDS[result], fault, runtime, ...cells(outcome)].join("\t"));
    for (const failure of outcome.failures) console.log(`  ${failure}`);
  }));
}
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);

async function runOne(
  scenario: Scenario,
  given: Parameters<Scenario["run"]>[0],
): Promise<Outcome> {
  try {
    return await scenario.run(given);
  } catch (error) {
    const stack = error instanceof Error ? error.stack ?? error.message : String(error);
    return { injected: 0, requests: 0, asExpected: 0, failures: [stack] };
  }
}

function resultOf({ failures, skipped }: Outcome): keyof typeof WORDS {
  if (failures.length > 0) return "failed";
  return skipped === undefined ? "passed" : "skipped";
}

function cells(
  { injected, requests, asExpected, lost, recoveryMs, skipped, note = skipped ?? "" }: Outcome,
) {
  const recovery = recoveryMs === undefined ? "" : `${Math.round(recoveryMs)} ms`;
  return [injected, requests, asExpected, lost ?? "", recovery, note];
}
