/** Decides whether a process has grown: the samples after its warm-up are compared. */
import type { Measures } from "../server/measures.ts";

/** What a process used at one moment. */
export interface Sample extends Measures {
  readonly descriptors: number;
}

/** By how much memory may grow from the first window to the last. */
const GROWTH = 0.05;
/** Connections of the load that come and go. */
const DESCRIPTORS = 8;
/** Timers of requests under way. */
const TIMERS = 32;

/**
 * Compares the first and the last third of the samples. Of memory the least values are compared:
 * garbage is collected before each sample, but compiled code comes and goes (some MiB of the heap on
 * Deno), and a runtime returns pages when it wants to.
 */
export function judgeSamples(
  samples: readonly Sample[],
): { readonly failures: readonly string[]; readonly note: string } {
  const third = Math.floor(samples.length / 3);
  if (third === 0) return { failures: ["there are too few samples"], note: "" };
  const [first, last] = [samples.slice(0, third), samples.slice(-third)];
  const compared = [
    { what: "heap MiB", of: (s: Sample) => s.heapMib, by: least, most: relative },
    { what: "resident MiB", of: (s: Sample) => s.residentMib, by: least, most: relative },
    { what: "descriptors", of: (s: Sample) => s.descriptors, by: median, most: plus(DESCRIPTORS) },
    { what: "timers", of: (s: Sample) => s.timers, by: median, most: plus(TIMERS) },
  ].map(({ what, of, by, most }) => {
    const [before, after] = [by(first.map(of)), by(last.map(of))];
    const shown = `${what} ${before.toFixed(1)} to ${after.toFixed(1)}`;
    return { shown, failure: after > most(before) ? [`${shown} is more than it may be`] : [] };
  });
  const delays = samples.map(({ delayMs }) => delayMs);
  const loop = `event loop delayed ${median(delays.map(({ median }) => median))} ms (median), ` +
    `${median(delays.map(({ p99 }) => p99))} ms (p99), ` +
    `${Math.max(...delays.map(({ longest }) => longest))} ms (longest)`;
  return {
    failures: compared.flatMap(({ failure }) => failure),
    note: [...compared.map(({ shown }) => shown), loop].join(", "),
  };
}

function relative(before: number): number {
  return before * (1 + GROWTH);
}

function plus(few: number): (before: number) => number {
  return (before) => before + few;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function least(values: readonly number[]): number {
  return Math.min(...values);
}
