/**
 * Measures the framework beside its peers over HTTP, and prints the ratios of processor time.
 *
 *     deno task bench:http [--runtime deno] [--peer fw] [--only contests|start|routes|connections]
 *       [--rounds 5] [--publish] [WORDS OF A CONTEST]
 *
 * `--publish` writes the contests into `docs/performance.md`.
 */
import { parseArgs } from "node:util";
import process from "node:process";
import { CONTESTS } from "./contests.ts";
import { CONNECTIONS, measureRoutes, measureStart, ROUTES } from "./growth.ts";
import { measure } from "./measure.ts";
import {
  type Peer,
  type PeerProcess,
  peersOf,
  type Runtime,
  RUNTIMES,
  startPeer,
} from "./peer_process.ts";
import type { Mode } from "./peers/options.ts";
import { prepare } from "./prepare.ts";
import { type Measured, publish } from "./publish.ts";
import { printContest, printStarts } from "./report.ts";
import { startTokens } from "./tokens.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runtime: { type: "string", multiple: true },
    peer: { type: "string", multiple: true },
    rounds: { type: "string", default: "5" },
    only: { type: "string", multiple: true },
    "as-prepared": { type: "boolean" },
    publish: { type: "boolean" },
  },
});
const words = positionals.join(" ");
const contests = CONTESTS.filter(({ name }) => name.includes(words));
const runtimes = RUNTIMES.filter((runtime) => values.runtime?.includes(runtime) ?? true);

const rounds = Number(values.rounds);
const measured: Measured[] = [];
const PARTS: Readonly<Record<string, (runtime: Runtime) => Promise<void>>> = {
  contests: measureContests,
  start: measureStarts,
  routes: measureGrowth,
  connections: measureConnections,
};

if (!values["as-prepared"]) await prepare();
await using tokens = await startTokens();
const { env, token } = tokens;
for (const runtime of runtimes) {
  for (const [part, run] of Object.entries(PARTS)) {
    if (values.only?.includes(part) ?? true) await run(runtime);
  }
}
if (values.publish) publish(measured);
process.exit();

async function measureContests(runtime: Runtime): Promise<void> {
  for (const mode of new Set(contests.map((contest) => contest.mode))) {
    await using peers = await startPeers(runtime, mode);
    for (const contest of contests.filter((contest) => contest.mode === mode)) {
      const options = { token, rounds, connections: 40 };
      const figures = await measure(contest, peers.all, options);
      printContest(`${contest.name} on ${runtime}`, figures);
      measured.push({ runtime, contest: contest.name, figures });
    }
  }
}

async function measureStarts(runtime: Runtime): Promise<void> {
  printStarts(runtime, await measureStart(runtime, chosen(runtime, "plain"), env));
}

async function measureGrowth(runtime: Runtime): Promise<void> {
  for (const routes of ROUTES) {
    const peers = chosen(runtime, "routes");
    const options = { peers, routes, env, token, rounds, connections: 40 };
    printContest(
      `the last of ${routes} routes on ${runtime}`,
      await measureRoutes(runtime, options),
    );
  }
}

async function measureConnections(runtime: Runtime): Promise<void> {
  const [contest] = CONTESTS;
  await using peers = await startPeers(runtime, contest.mode);
  for (const connections of CONNECTIONS) {
    const figures = await measure(contest, peers.all, { token, rounds, connections });
    printContest(`${contest.name} over ${connections} connections on ${runtime}`, figures);
  }
}

function chosen(runtime: Runtime, mode: Mode): readonly Peer[] {
  return peersOf(runtime, mode).filter((peer) => values.peer?.includes(peer) ?? true);
}

async function startPeers(
  runtime: Runtime,
  mode: Mode,
): Promise<AsyncDisposable & { readonly all: readonly PeerProcess[] }> {
  const all: PeerProcess[] = [];
  for (const peer of chosen(runtime, mode)) {
    all.push(await startPeer({ runtime, peer, mode, env }));
  }
  return {
    all,
    async [Symbol.asyncDispose]() {
      for (const peer of all) await peer[Symbol.asyncDispose]();
    },
  };
}
