/**
 * What a runner of tests has printed: how many passed, failed and were skipped, and why.
 *
 * @module
 */
import type { Ending } from "../support/side_by_side.ts";

/** How many tests there were of each kind. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * Where a runner's summary has the three counts, each the first group of its pattern. The last match
 * counts: what a failed test says may have the summary of another runner.
 */
export type Summary = Readonly<Record<keyof Counts, RegExp>>;

/** The summary of `deno test`. */
export const DENO_SUMMARY: Summary = {
  passed: /\| (\d+) passed/g,
  failed: /\| (\d+) failed/g,
  skipped: /\| (\d+) ignored/g,
};

/** The summary of `node --test` with the reporter `spec`. */
export const NODE_SUMMARY: Summary = {
  passed: /^ℹ pass (\d+)/gm,
  failed: /^ℹ fail (\d+)/gm,
  skipped: /^ℹ skipped (\d+)/gm,
};

/** The summary of `bun test`. */
export const BUN_SUMMARY: Summary = {
  passed: /^ *(\d+) pass$/gm,
  failed: /^ *(\d+) fail$/gm,
  skipped: /^ *(\d+) skip$/gm,
};

/** The line of a skipped test, in the words of Deno, Node or Bun; its name ends with the reason. */
const SKIPPED =
  /^(?:.*\[([^\]]+)\] \.\.\. ignored|\ufe63 .*\[([^\]]+)\]|\(skip\) .*\[([^\]]+)\])/gm;

/** Reads the counts. A runner that fails without a failed test, or runs none, counts as one failure. */
export function countsOf({ status, output }: Ending, summary: Summary): Counts {
  const count = (kind: keyof Counts) =>
    Number([...output.matchAll(summary[kind])].at(-1)?.[1] ?? 0);
  const passed = count("passed");
  const failed = count("failed");
  const isWrong = status !== 0 || passed === 0;
  return {
    passed,
    failed: isWrong ? Math.max(1, failed) : failed,
    skipped: count("skipped"),
  };
}

/** Gives why tests were skipped, once for each test that says so. */
export function reasonsOf({ output }: Ending): readonly string[] {
  // where there are many tests, Bun lists at the end once more those that it has skipped
  const [once = ""] = output.split(/^\d+ tests? skipped:$/m);
  return [...once.matchAll(SKIPPED)].map(([, ...groups]) => groups.find(Boolean) ?? "");
}
