/** What grows: start-up and memory, and the numbers of routes, controllers and connections. */
import { setTimeout as delay } from "node:timers/promises";
import { TEXT } from "./fixtures.ts";
import type { Contest } from "./contests.ts";
import { load } from "./load.ts";
import { type Figures, measure, type MeasureOptions, median } from "./measure.ts";
import { type Peer, peersOf, type Runtime, startPeer } from "./peer_process.ts";

/** How a peer starts, and what memory it takes. */
export interface StartFigures {
  readonly peer: Peer;
  /** From the start of the process to the first answer, in milliseconds: the median. */
  readonly startMs: number;
  /** Its resident memory in MiB: one second after its start, and after so many requests. */
  readonly idleMib: number;
  readonly usedMib: number;
}

/** The requests before the memory is measured again. */
const REQUESTS = 100_000;
const STARTS = 7;
/** How many routes an application has. */
export const ROUTES = [10, 1000, 5000] as const;
/** How many controllers an application has, of five routes each. */
export const CONTROLLERS = [10, 100, 1000] as const;
/** How many connections a load has. */
export const CONNECTIONS = [1, 40, 500] as const;

type Env = Readonly<Record<string, string>>;

const TEXT_CONTEST: Contest = {
  name: "GET text",
  mode: "plain",
  method: "GET",
  path: "/text",
  status: 200,
  expected: TEXT,
};

/** Starts peers in turn, and sends requests to the last process of each. */
export async function measureStart(
  runtime: Runtime,
  peers: readonly Peer[],
  env: Env,
): Promise<readonly StartFigures[]> {
  const times = new Map<Peer, number[]>(peers.map((peer) => [peer, []]));
  for (let start = 0; start < STARTS; start++) {
    for (const peer of peers) {
      await using process = await startPeer({ runtime, peer, mode: "plain", env });
      times.get(peer)?.push(process.startMs);
    }
  }
  const figures: StartFigures[] = [];
  for (const peer of peers) {
    await using process = await startPeer({ runtime, peer, mode: "plain", env });
    await delay(1000);
    const idleMib = process.memoryMib();
    const { origin } = process;
    for (let sent = 0; sent < REQUESTS;) {
      const contest = TEXT_CONTEST;
      const result = await load({ origin, contest, headers: {}, seconds: 1, connections: 40 });
      sent += result.requests;
    }
    const startMs = median(times.get(peer) ?? []);
    figures.push({ peer, startMs, idleMib, usedMib: process.memoryMib() });
  }
  return figures;
}

/** Returns how long peers take to boot controllers and answer, in milliseconds: the median. */
export async function measureBoot(
  runtime: Runtime,
  { peers, controllers, env }: {
    readonly peers: readonly Peer[];
    readonly controllers: number;
    readonly env: Env;
  },
): Promise<ReadonlyMap<Peer, number>> {
  const times = new Map<Peer, number>();
  for (const peer of peers) {
    const starts: number[] = [];
    for (let start = 0; start < STARTS; start++) {
      const ofControllers = { ...env, CONTROLLERS: String(controllers) };
      const options = { runtime, peer, mode: "controllers", env: ofControllers } as const;
      await using process = await startPeer(options);
      starts.push(process.startMs);
    }
    times.set(peer, median(starts));
  }
  return times;
}

/** Measures the last of so many routes. */
export async function measureRoutes(
  runtime: Runtime,
  { peers, routes, env, ...options }: MeasureOptions & {
    readonly peers: readonly Peer[];
    readonly routes: number;
    readonly env: Env;
  },
): Promise<readonly Figures[]> {
  await using stack = new AsyncDisposableStack();
  const processes = [];
  for (const peer of peersOf(runtime, "routes").filter((peer) => peers.includes(peer))) {
    const ofRoutes = { ...env, ROUTES: String(routes) };
    processes.push(stack.use(await startPeer({ runtime, peer, mode: "routes", env: ofRoutes })));
  }
  const contest: Contest = { ...TEXT_CONTEST, mode: "routes", path: `/many/r${routes - 1}/1` };
  return await measure(contest, processes, options);
}
