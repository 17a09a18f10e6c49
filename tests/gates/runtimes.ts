/**
 * Runs the one suite on Deno, with its exhaustive tests, on Node and on Bun, and the tests of workerd,
 * two of them at a time. Prints how many tests passed, failed, were skipped, or are left to another
 * runtime, and why. All come from npm.
 *
 * Fails if a test failed, if one was skipped for anything but the vectors of Wycheproof where they are
 * not, or if the runtimes do not have the same number of tests.
 */
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { SKIP_WYCHEPROOF } from "../oauth2/resource_server/wycheproof.ts";
import { ROOT, sourceFiles } from "../support/project.ts";
import { BUN, NODE, OLDEST_NODE } from "../support/runtimes.ts";
import { EXHAUSTIVE, LONG, MAX_TEST_MS, SCOPE } from "../support/test.ts";
import { type Command, runSideBySide } from "../support/side_by_side.ts";
import {
  BUN_SUMMARY,
  countsOf,
  DENO_SUMMARY,
  NODE_SUMMARY,
  reasonsOf,
  type Summary,
} from "./test_report.ts";

interface Runtime {
  readonly name: string;
  /** What runs its tests: the whole suite, unless it is for workerd. */
  readonly command: Command;
  readonly summary: Summary;
}

/** What runs in workerd, whoever starts it. */
const EDGE = "tests/edge";

const files = sourceFiles("tests").filter((file) =>
  file.endsWith("_test.ts") && !file.startsWith(EDGE)
);

/** The longest first. The types are a gate of their own. */
const RUNTIMES: readonly Runtime[] = [
  deno("deno", [`--ignore=${EDGE}`]),
  node(NODE, { flags: ["--test-isolation=none"] }),
  // whose warning of node:sqlite would be in what tests compare
  node(OLDEST_NODE, {
    flags: [
      "--experimental-test-isolation=none",
      `--import=${pathToFileURL(join(ROOT, "tests/support/lower_using.ts"))}`,
    ],
    env: { NODE_OPTIONS: "--disable-warning=ExperimentalWarning" },
  }),
  {
    name: "bun 1.4",
    command: { words: ["npx", "-y", BUN, "test", "--timeout", String(MAX_TEST_MS), ...files] },
    summary: BUN_SUMMARY,
  },
  deno("workerd", [EDGE]),
];

/** After these, the suite of a runtime is ended, so that what it has printed is seen. */
const MAX_MINUTES = 70;

const wanted = process.argv.slice(2);
const runtimes = RUNTIMES.filter(({ name }) =>
  wanted.length === 0 || wanted.some((word) => name.startsWith(word))
);
// much of what tests do is to wait
const endings = runSideBySide(runtimes.map(({ command }) => command), {
  atOnce: 2,
  maxMinutes: MAX_MINUTES,
});
const rows: string[] = [];
const skipped: { readonly why: string; readonly count: number; readonly names: string[] }[] = [];
const sums = { passed: 0, failed: 0, skipped: 0 };
const totals = new Set<number>();
let isWell = true;
for (const [i, { name, command: { words }, summary }] of runtimes.entries()) {
  const ending = await endings[i]!;
  const told = reasonsOf(ending);
  const excused = told.filter((why) => isElsewhere(why) || why === SKIP_WYCHEPROOF);
  const counts = countsOf(ending, summary);
  const isWellHere = counts.failed === 0 && counts.skipped === excused.length;
  console.log(`\n== ${name}: ${words.slice(0, 6).join(" ")}, ${ending.seconds} s`);
  if (!isWellHere) console.log(ending.output);
  isWell &&= isWellHere;
  if (name !== "workerd") totals.add(counts.passed + counts.failed + counts.skipped);
  const elsewhere = told.filter(isElsewhere).length;
  const { passed, failed } = counts;
  const unexcused = counts.skipped - elsewhere;
  sums.passed += passed;
  sums.failed += failed;
  sums.skipped += unexcused;
  rows.push([name.padEnd(8), passed, failed, unexcused, elsewhere].join("\t"));
  for (const [why, { length: count }] of Map.groupBy(told, (why) => why)) {
    const same = skipped.find((it) => it.why === why && it.count === count);
    if (same) same.names.push(name);
    else skipped.push({ why, count, names: [name] });
  }
}
console.log(["\nruntime ", "passed", "failed", "skipped", "for others"].join("\t"));
console.log(rows.join("\n"));
if (skipped.length > 0) console.log("\nNot run:");
for (const { why, count, names } of skipped) {
  console.log(`- ${count} on ${names.join(", ")}: ${why}`);
}
if (totals.size > 1) {
  console.log("\nFAILED: the runtimes do not have the same number of tests");
  sums.failed += 1;
}
console.log(`\n${sums.passed} passed, ${sums.failed} failed, ${sums.skipped} skipped`);
process.exit(isWell && totals.size <= 1 ? 0 : 1);

function isElsewhere(why: string): boolean {
  return why.startsWith("needs ") || [EXHAUSTIVE, LONG].includes(why);
}

function deno(name: string, args: readonly string[]): Runtime {
  return {
    name,
    command: {
      words: ["npx", "-y", "deno", "task", "--quiet", "test", ...args],
      env: { [SCOPE]: "all" },
    },
    summary: DENO_SUMMARY,
  };
}

function node(
  release: string,
  { flags = [], env = {} }: {
    readonly flags?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Runtime {
  const major = release.match(/\d+/)?.[0];
  // one process for all files takes half of the time of many
  const test = ["--test", "--test-force-exit", "--test-reporter=spec", ...files];
  return {
    name: `node ${major}`,
    command: {
      words: ["npx", "-y", "-p", release, "node", ...flags, ...test],
      // what processes share is compiled once
      env: { NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/node"), ...env },
    },
    summary: NODE_SUMMARY,
  };
}
