/** The ratios to Hono of the last published run, and what has become slower since then. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ratioTo } from "./measure.ts";
import type { Peer } from "./peer_process.ts";
import type { Measured } from "./publish.ts";

/** The contests that CI measures. */
export const CHECKED: readonly string[] = [
  "GET JSON",
  "GET validated",
  "POST 195 B validated",
  "20 rows",
];

/** The peers of the ratios. */
export const BASELINE_PEERS: readonly Peer[] = ["fw", "hono"];

const FILE = join(import.meta.dirname!, "baseline.json");
/** A ratio that has grown by more than this is a failure. */
const MOST_GROWTH = 1.25;

/** A contest whose ratio has grown by a quarter. */
export interface Slower {
  readonly contest: string;
  readonly message: string;
}

/** Writes the ratios of a run. */
export function writeBaseline(measured: readonly Measured[]): void {
  const besideHono = measured.filter(({ figures }) => figures.some(({ peer }) => peer === "hono"));
  const rows = besideHono.map((each) => [keyOf(each), round(ratioTo("hono", each.figures))]);
  writeFileSync(FILE, JSON.stringify(Object.fromEntries(rows), null, 2) + "\n");
}

/** Returns the contests whose ratio has grown by a quarter since the last published run. */
export function slower(measured: readonly Measured[]): readonly Slower[] {
  const baseline: Readonly<Record<string, number>> = JSON.parse(readFileSync(FILE, "utf8"));
  return measured.flatMap((each) => {
    const [now, before] = [ratioTo("hono", each.figures), baseline[keyOf(each)]];
    if (before === undefined) throw new Error(`Cannot check ${keyOf(each)}: it was not published`);
    if (now <= before * MOST_GROWTH) return [];
    const message = `${keyOf(each)}: ${now.toFixed(2)} of Hono's time, ${before} before`;
    return [{ contest: each.contest, message }];
  });
}

function round(ratio: number): number {
  return Number(ratio.toFixed(2));
}

function keyOf({ runtime, contest }: Measured): string {
  return `${contest} on ${runtime}`;
}
