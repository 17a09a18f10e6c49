/**
 * Measures the framework beside its peers over HTTP, and prints the ratios of processor time.
 *
 *     deno task bench:http [--runtime deno] [--peer fw] [--only contests|crud|start|routes|controllers|connections|types]
 *       [--rounds 5] [--publish | --check] [WORDS OF A CONTEST]
 *
 * `crud` are the contests of users in databases; without a server, those of PostgreSQL are skipped.
 * `--publish` writes the contests into `docs/performance.md`, and the ratios to Hono into
 * `baseline.json`. `--check` measures a few of them beside Hono alone, and fails if a ratio has
 * grown by a quarter since then.
 */
import { parseArgs } from "node:util";
import process from "node:process";
import { BASELINE_PEERS, CHECKED, slower, writeBaseline } from "./baseline.ts";
import { type Contest, CONTESTS, CRUD_CONTESTS } from "./contests.ts";
import {
  CONNECTIONS,
  CONTROLLERS,
  measureBoot,
  measureRoutes,
  measureStart,
  ROUTES,
} from "./growth.ts";
import { measure } from "./measure.ts";
import {
  type Peer,
  type PeerProcess,
  peersOf,
  type Runtime,
  RUNTIMES,
  startPeer,
} from "./peer_process.ts";
import { hasDatabase, type Mode } from "./peers/options.ts";
import { prepare } from "./prepare.ts";
import { type Measured, publish } from "./publish.ts";
import { printBoot, printContest, printStarts, printTypeChecks } from "./report.ts";
import { startTokens } from "./tokens.ts";
import { measureTypeChecks } from "./type_checks.ts";
import { createUsersDatabase, skipOf } from "./users_database.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runtime: { type: "string", multiple: true },
    peer: { type: "string", multiple: true },
    rounds: { type: "string", default: "5" },
    only: { type: "string", multiple: true },
    "as-prepared": { type: "boolean" },
    publish: { type: "boolean" },
    check: { type: "boolean" },
  },
});
const words = positionals.join(" ");
const contests = selected(CONTESTS);
const crud = selected(CRUD_CONTESTS);
const only = values.check ? [] : values.only;
const among: readonly string[] | undefined = values.check ? BASELINE_PEERS : values.peer;
const runtimes = RUNTIMES.filter((runtime) => values.runtime?.includes(runtime) ?? true);

const rounds = Number(values.rounds);
const measured: Measured[] = [];
/** How often a contest is measured whose ratio has grown: the machine may have been busy. */
const TRIES = 5;
const PARTS: Readonly<Record<string, (runtime: Runtime) => Promise<void>>> = {
  contests: async (runtime) => void measured.push(...await measureContests(runtime, contests)),
  crud: async (runtime) => void measured.push(...await measureContests(runtime, crud)),
  start: measureStarts,
  routes: measureGrowth,
  controllers: measureControllers,
  connections: measureConnections,
};

if (!values["as-prepared"]) await prepare({ withDatabases: only?.includes("crud") ?? true });
await using tokens = await startTokens();
const { env, token } = tokens;
for (const runtime of runtimes) {
  for (const [part, run] of Object.entries(PARTS)) {
    if (only?.includes(part) ?? true) await run(runtime);
  }
}
if (only?.includes("types") ?? true) printTypeChecks(measureTypeChecks());
if (values.publish) {
  publish(measured);
  writeBaseline(measured);
}
process.exit(values.check && !await isAsFast() ? 1 : 0);

async function measureContests(
  runtime: Runtime,
  contests: readonly Contest[],
): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  for (const mode of new Set(contests.map((contest) => contest.mode))) {
    const skip = skipOf(mode);
    if (skip !== undefined) {
      console.log(`\nusers on ${runtime}: skipped, ${skip}`);
      continue;
    }
    await using peers = await startPeers(runtime, mode);
    for (const contest of contests.filter((contest) => contest.mode === mode)) {
      const options = { token, rounds, connections: 40 };
      const figures = await measure(contest, peers.all, options);
      printContest(`${contest.name} on ${runtime}`, figures);
      measured.push({ runtime, contest: contest.name, isCrud: hasDatabase(mode), figures });
    }
  }
  return measured;
}

function selected(contests: readonly Contest[]): readonly Contest[] {
  return contests.filter(({ name }) => name.includes(words));
}

/** Checks on each runtime whether the ratios to Hono have not grown by a quarter. */
async function isAsFast(): Promise<boolean> {
  let isFast = true;
  for (const runtime of runtimes) {
    let left = contests.filter(({ name }) => CHECKED.includes(name));
    for (let tries = 0; tries < TRIES && left.length > 0; tries++) {
      const found = slower(await measureContests(runtime, left));
      for (const { message } of found) console.log(message);
      left = left.filter(({ name }) => found.some(({ contest }) => contest === name));
    }
    isFast &&= left.length === 0;
  }
  return isFast;
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

async function measureControllers(runtime: Runtime): Promise<void> {
  for (const controllers of CONTROLLERS) {
    const peers = chosen(runtime, "controllers");
    printBoot(
      `${controllers} controllers on ${runtime}`,
      await measureBoot(runtime, { peers, controllers, env }),
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
  return peersOf(runtime, mode).filter((peer) => among?.includes(peer) ?? true);
}

async function startPeers(
  runtime: Runtime,
  mode: Mode,
): Promise<AsyncDisposable & { readonly all: readonly PeerProcess[] }> {
  await using starting = new AsyncDisposableStack();
  const all: PeerProcess[] = [];
  for (const peer of chosen(runtime, mode)) {
    // Each has its own, so that none waits for what another one writes.
    const users = hasDatabase(mode) ? starting.use(await createUsersDatabase(mode)) : undefined;
    const ofUsers = { ...env, USERS_URL: users?.url ?? "" };
    all.push(starting.use(await startPeer({ runtime, peer, mode, env: ofUsers })));
  }
  const started = starting.move();
  return { all, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
