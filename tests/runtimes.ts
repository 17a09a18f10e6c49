/**
 * Runs the one suite on Deno, Node and Bun, two of them at a time, and prints how many tests passed,
 * failed and were skipped on each. Node and Bun come from npm. Fails if any test failed or was skipped,
 * but for those that need the vectors of Wycheproof where they are not.
 */
import { join } from "node:path";
import process from "node:process";
import { ROOT, sourceFiles } from "./project.ts";
import { type Command, runSideBySide } from "./side_by_side.ts";

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface Runtime extends Command {
  readonly name: string;
  /** Where the runner's summary has the three counts. */
  readonly summary: Readonly<Record<keyof Counts, RegExp>>;
}

const files = sourceFiles("tests").filter((file) => file.endsWith("_test.ts"));

const RUNTIMES: readonly Runtime[] = [
  {
    name: "deno",
    words: ["npx", "-y", "deno", "test", "-A"],
    summary: {
      passed: /\| (\d+) passed/,
      failed: /\| (\d+) failed/,
      skipped: /\| (\d+) ignored/,
    },
  },
  {
    name: "node 24",
    words: ["npx", "-y", "-p", "node@24.21.0", "node", "--test", ...files],
    // it runs each file in a process of its own: what they share is compiled once
    env: { NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/node") },
    summary: { passed: /^ℹ pass (\d+)/m, failed: /^ℹ fail (\d+)/m, skipped: /^ℹ skipped (\d+)/m },
  },
  {
    name: "bun 1.4",
    words: ["npx", "-y", "bun@1.4.4", "test", "--timeout", "30000", "tests"],
    summary: { passed: /^ *(\d+) pass$/m, failed: /^ *(\d+) fail$/m, skipped: /^ *(\d+) skip$/m },
  },
];

/** A line of any of the runners that tells of a skipped test which may be skipped. */
const EXCUSED = /^(?=.*Wycheproof)(?:.* ignored|\ufe63|\(skip\)).*$/gm;

const wanted = process.argv.slice(2);
const runtimes = RUNTIMES.filter(({ name }) =>
  wanted.length === 0 || wanted.some((word) => name.startsWith(word))
);
const endings = runSideBySide(runtimes);
let excused = 0;
const total = { passed: 0, failed: 0, skipped: 0 };
const rows: string[] = [];
for (const [i, { name, words, summary }] of runtimes.entries()) {
  const { status, output } = await endings[i]!;
  console.log(`\n== ${name}: ${words.slice(0, 5).join(" ")}`);
  const count = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? 0);
  const counts: Counts = {
    passed: count(summary.passed),
    skipped: count(summary.skipped),
    // a runner that fails without a failed test has not run them all
    failed: status === 0 ? count(summary.failed) : Math.max(1, count(summary.failed)),
  };
  const excuses = output.match(EXCUSED)?.length ?? 0;
  excused += excuses;
  if (counts.failed > 0 || counts.skipped > excuses || counts.passed === 0) console.log(output);
  for (const key of ["passed", "failed", "skipped"] as const) total[key] += counts[key];
  rows.push([name.padEnd(8), counts.passed, counts.failed, counts.skipped].join("\t"));
  if (counts.passed === 0) total.failed += 1;
}
console.log(["\nruntime ", "passed", "failed", "skipped"].join("\t"));
console.log(rows.join("\n"));
if (excused > 0) console.log(`\n${excused} are skipped for want of the vectors of Wycheproof`);
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed === 0 && total.skipped === excused ? 0 : 1);
