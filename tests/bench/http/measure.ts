/** Measures contests: peers take turns in short rounds, and of each figure the median counts. */
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import type { Contest } from "./contests.ts";
import { load, type LoadResult } from "./load.ts";
import type { Peer, PeerProcess } from "./peer_process.ts";

/** The figures of a peer in a contest. */
export interface Figures {
  readonly peer: Peer;
  /** The processor time of a request in microseconds: of each round, in ascending order. */
  readonly cpuUs: readonly number[];
  /** Requests in a second, and the latency of 99 % in microseconds: medians. */
  readonly perSecond: number;
  readonly p99Us: number;
}

/** Options of {@linkcode measure}. */
export interface MeasureOptions {
  readonly token: string;
  readonly rounds: number;
  readonly connections: number;
}

/** Checks the answer of each peer, warms it up, and measures it. */
export async function measure(
  contest: Contest,
  peers: readonly PeerProcess[],
  { token, rounds, connections }: MeasureOptions,
): Promise<readonly Figures[]> {
  const headers = headersOf(contest, token);
  const turn = async ({ origin, cpuUs }: PeerProcess) => {
    const before = cpuUs();
    const result = await load({ origin, contest, headers, seconds: 1, connections });
    return { ...result, cpuUs: (cpuUs() - before) / result.requests }; // cold, some answer none
  };
  const turns = new Map<PeerProcess, (LoadResult & { readonly cpuUs: number })[]>();
  for (const peer of peers) {
    await check(contest, peer, headers);
    await turn(peer);
    turns.set(peer, []);
  }
  for (let round = 0; round < rounds; round++) {
    for (const peer of round % 2 === 0 ? peers : peers.toReversed()) {
      turns.get(peer)?.push(await turn(peer));
    }
  }
  const idle = [...turns].find(([, results]) => results.some(({ requests }) => requests === 0));
  if (idle) throw new Error(`${idle[0].peer} answered nothing for a second: ${contest.name}`);
  return [...turns].map(([{ peer }, results]) => ({
    peer,
    cpuUs: results.map(({ cpuUs }) => cpuUs).sort((a, b) => a - b),
    perSecond: median(results.map(({ perSecond }) => perSecond)),
    p99Us: median(results.map(({ p99Us }) => p99Us)),
  }));
}

/** Returns the processor time of the framework over that of a peer, `NaN` without either. */
export function ratioTo(peer: Peer, figures: readonly Figures[]): number {
  const [own, other] = (["fw", peer] as const).map((name) =>
    median(figures.find((each) => each.peer === name)?.cpuUs ?? [])
  );
  return own! / other!;
}

/** Returns the middle one. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}

function headersOf(
  { body, withToken }: Contest,
  token: string,
): Readonly<Record<string, string>> {
  return {
    ...withToken && { authorization: `Bearer ${token}` },
    ...body !== undefined && { "content-type": "application/json" },
  };
}

async function check(
  { name, method, path, body, status, expected, generated }: Contest,
  { peer, origin }: PeerProcess,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const response = await fetch(origin + path, { method, headers, ...body && { body } });
  const text = await response.text();
  const what = `${peer}, ${name}: ${text.slice(0, 300)}`;
  strictEqual(response.status, status, what);
  if (typeof expected === "string") return strictEqual(text, expected, what);
  const answer = JSON.parse(text);
  if (generated !== undefined) {
    ok(Number.isInteger(answer[generated]), what);
    delete answer[generated];
  }
  deepStrictEqual(answer, expected, what);
}
