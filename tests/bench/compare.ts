/**
 * Times peers side by side. They take turns in short rounds, so that what else the machine does
 * befalls all of them; of the rounds, the median counts.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../support/project.ts";

/** One way to do what is timed. */
export interface Peer {
  /** Its name. */
  readonly name: string;
  /** Does it once; what gives a promise is awaited. */
  readonly run: () => unknown;
  /** What goes before each turn and is not timed; a turn is then to do it once. */
  readonly before?: () => unknown;
}

/** What is timed, and how. */
export interface Comparison {
  /** What the peers do. */
  readonly title: string;
  /** The first one is compared with the others. */
  readonly peers: readonly [Peer, ...Peer[]];
  /** What the first one's time divided by another's should be at most, by the name of the other. */
  readonly goals?: Readonly<Record<string, number>>;
  /** How often each peer has its turn; 31 by default. */
  readonly rounds?: number;
  /** How long a turn is in milliseconds, unless once takes longer; 20 by default. */
  readonly turnMs?: number;
}

const WARM_UP_MS = 300;

/** Times peers, and prints a table with the ratio of the first one's time to each other's. */
export async function compare(comparison: Comparison): Promise<void> {
  print(comparison, [await measure(comparison)]);
}

/** Times peers; returns the median time of each, in milliseconds. */
export async function measure(
  { peers, rounds = 31, turnMs = 20 }: Comparison,
): Promise<readonly number[]> {
  const turns: { readonly peer: Peer; readonly times: number; readonly took: number[] }[] = [];
  for (const peer of peers) {
    turns.push({ peer, times: await timesInTurn(peer, turnMs), took: [] });
  }
  for (let round = 0; round < rounds; round++) {
    // Nobody always comes after the same one, whose garbage it would collect.
    const order = round % 2 === 0 ? turns : turns.toReversed();
    for (const { peer, times, took } of order) {
      await peer.before?.();
      took.push(await time(peer, times));
    }
  }
  return turns.map(({ took }) => median(took));
}

/** Prints a table of times, measured once or several times: the median of each ratio counts. */
export function print(
  { title, peers, goals = {} }: Comparison,
  measured: readonly (readonly number[])[],
): void {
  const lines = peers.map(({ name }, index) => {
    const ratios = measured.map((times) => times[0]! / times[index]!);
    const ratio = median(ratios);
    const goal = goals[name];
    const range = [Math.min(...ratios), Math.max(...ratios)].map((it) => it.toFixed(2)).join("-");
    return {
      name,
      time: inUnits(median(measured.map((times) => times[index]!))),
      ratio: index === 0 ? "" : ratio.toFixed(2) + (measured.length > 1 ? ` (${range})` : ""),
      goal: goal === undefined ? "" : `<= ${goal.toFixed(2)}`,
      met: goal === undefined ? "" : ratio <= goal ? "met" : "missed",
    };
  });
  console.log(`\n${title}`);
  const ratioTitle = `${peers[0].name} / it`;
  for (
    const line of [{ name: "", time: "time", ratio: ratioTitle, goal: "goal", met: "" }, ...lines]
  ) {
    console.log(
      `  ${line.name.padEnd(34)} ${line.time.padStart(9)} ${line.ratio.padStart(16)} ` +
        `${line.goal.padStart(8)} ${line.met}`,
    );
  }
}

/** Prints the machine, the runtime, and versions of packages and servers. */
export function printMachine(
  packages: readonly string[],
  servers: Readonly<Record<string, string>> = {},
): void {
  const [cpu] = cpus();
  const { deno, bun, node } = process.versions;
  const runtime = deno ? `Deno ${deno}` : bun ? `Bun ${bun}` : `Node ${node}`;
  const versions = [
    ...packages.map((name) => `${name} ${packageVersion(join(ROOT, "node_modules", name))}`),
    ...Object.entries(servers).map(([name, version]) => `${name} ${version}`),
  ];
  console.log(`\n${cpus().length} x ${cpu?.model}, ${runtime}, ${versions.join(", ")}`);
}

/** Reads the version of a package in a folder. */
export function packageVersion(folder: string): string {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;
}

/** Warms a peer up, and finds how often it runs in one turn. */
async function timesInTurn(peer: Peer, turnMs: number): Promise<number> {
  const end = performance.now() + WARM_UP_MS;
  let times = 1;
  let ms = 0;
  while (performance.now() < end) {
    await peer.before?.();
    ms = await time(peer, times);
    if (!peer.before && ms * times < turnMs) times *= 2;
  }
  return peer.before ? 1 : Math.max(1, Math.round(turnMs / ms));
}

/** Gives the milliseconds that one run takes. */
async function time({ run }: Peer, times: number): Promise<number> {
  const start = performance.now();
  const first = run();
  // What is synchronous is not made to wait.
  if (first instanceof Promise || isThenable(first)) {
    await first;
    for (let n = 1; n < times; n++) await run();
  } else {
    for (let n = 1; n < times; n++) run();
  }
  return (performance.now() - start) / times;
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}

function inUnits(ms: number): string {
  return ms < 1 ? `${(ms * 1000).toFixed(ms < 0.1 ? 2 : 0)} µs` : `${ms.toFixed(1)} ms`;
}
