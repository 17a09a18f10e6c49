/**
 * Runs the one suite, with its slow tests, on Deno, Node and Bun, and the tests of workerd, several
 * processes at a time. Prints how many tests passed, failed, were skipped, or are left to
 * another runtime, and why. All come from npm.
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
import { LONG, MAX_TEST_MS, SCOPE } from "../support/test.ts";
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
  /** Each runs a part of its tests. */
  readonly commands: readonly Command[];
  readonly summary: Summary;
}

/** What runs in workerd, whoever starts it. */
const EDGE = "tests/edge";

const files = sourceFiles("tests").filter((file) =>
  file.endsWith("_test.ts") && !file.startsWith(EDGE)
);

/** How many processes Node and Bun have: each runs its files one after another, and mostly waits. */
const PROCESSES = 4;
/** How many processes of all runtimes run at once; that of Deno has isolates of its own. */
const AT_ONCE = 4;

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
    commands: filesOfParts().map((part) => ({
      words: ["npx", "-y", BUN, "test", "--timeout", String(MAX_TEST_MS), ...part],
    })),
    summary: BUN_SUMMARY,
  },
  deno("workerd", [EDGE]),
];

/** After these, a process is ended, so that what it has printed is seen. */
const MAX_MINUTES = 70;

const wanted = process.argv.slice(2);
const runtimes = RUNTIMES.filter(({ name }) =>
  wanted.length === 0 || wanted.some((word) => name.startsWith(word))
);
const commands = runtimes.flatMap(({ commands }) => commands)
  .map((command) => ({ ...command, env: { ...command.env, [SCOPE]: "all" } }));
const endings = [...runSideBySide(commands, { atOnce: AT_ONCE, maxMinutes: MAX_MINUTES })];
const rows: string[] = [];
const skipped: { readonly why: string; readonly count: number; readonly names: string[] }[] = [];
const sums = { passed: 0, failed: 0, skipped: 0 };
const totals = new Set<number>();
let isWell = true;
for (const { name, commands, summary } of runtimes) {
  const parts = await Promise.all(endings.splice(0, commands.length));
  const reasons = parts.flatMap(reasonsOf);
  let [passed, failed, all] = [0, 0, 0];
  for (const [i, ending] of parts.entries()) {
    const counts = countsOf(ending, summary);
    const excused = reasonsOf(ending).filter((why) => isElsewhere(why) || why === SKIP_WYCHEPROOF);
    const isWellHere = counts.failed === 0 && counts.skipped === excused.length;
    const command = commands[i]?.words.slice(0, 6).join(" ");
    console.log(`\n== ${name}, ${i + 1} of ${parts.length}: ${command}, ${ending.seconds} s`);
    if (!isWellHere) console.log(ending.output);
    isWell &&= isWellHere;
    passed += counts.passed;
    failed += counts.failed;
    all += counts.skipped;
  }
  if (name !== "workerd") totals.add(passed + failed + all);
  const elsewhere = reasons.filter(isElsewhere).length;
  const unexcused = all - elsewhere;
  sums.passed += passed;
  sums.failed += failed;
  sums.skipped += unexcused;
  rows.push([name.padEnd(8), passed, failed, unexcused, elsewhere].join("\t"));
  for (const [why, { length: count }] of Map.groupBy(reasons, (why) => why)) {
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

/** Returns the files of each process: the longest are of a few folders, so each has some of them. */
function filesOfParts(): readonly (readonly string[])[] {
  return Array.from(
    { length: PROCESSES },
    (_, part) => files.filter((_file, i) => i % PROCESSES === part),
  );
}

function isElsewhere(why: string): boolean {
  return why.startsWith("needs ") || why === LONG;
}

function deno(name: string, args: readonly string[]): Runtime {
  return {
    name,
    commands: [{
      words: ["npx", "-y", "deno", "task", "--quiet", "test", ...args],
    }],
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
  // a process for each file would load again what they share
  const test = ["--test", "--test-force-exit", "--test-reporter=spec"];
  return {
    name: `node ${major}`,
    commands: filesOfParts().map((part) => ({
      words: ["npx", "-y", "-p", release, "node", ...flags, ...test, ...part],
      // what processes share is compiled once
      env: { NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/node"), ...env },
    })),
    summary: NODE_SUMMARY,
  };
}
