/** A peer in a process of its own, on the first processor. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../../support/free_port.ts";
import { BUN, NODE, runtimeOf } from "../../support/runtimes.ts";
import { DATABASES, type Mode } from "./peers/options.ts";

/** The runtimes of the contests. */
export const RUNTIMES = ["deno", "node", "bun"] as const;

/** A runtime of the contests. */
export type Runtime = typeof RUNTIMES[number];

const HONO_STORES = ["hono_sql", "hono_drizzle", "hono_prisma"] as const;

/** The peers, by the runtimes that their documentation names. */
export const PEERS = {
  deno: ["fw", "hono", "hono_zod", "elysia", "raw", ...HONO_STORES],
  node: [
    ...["fw", "hono", "hono_zod", "fastify", "nest_fastify", "nest_express", "raw"] as const,
    ...HONO_STORES,
    ...["hono_typeorm", "fastify_sql"] as const,
  ],
  bun: ["fw", "hono", "hono_zod", "elysia", "raw", ...HONO_STORES],
} as const satisfies Readonly<Record<Runtime, readonly string[]>>;

/** The modes without a database. */
const BARE: readonly Mode[] = ["plain", "token", "stack", "routes", "controllers"];

/** The modes of the peers that do not have those. */
const MODES: Readonly<Partial<Record<string, readonly Mode[]>>> = {
  fw: [...BARE, ...DATABASES],
  hono_zod: ["plain", "routes"],
  elysia: ["plain", "token", "routes"],
  fastify: ["plain", "token", "stack", "routes"],
  raw: ["plain"],
  hono_sql: DATABASES,
  hono_drizzle: DATABASES,
  hono_prisma: DATABASES,
  hono_typeorm: ["postgres"],
  fastify_sql: DATABASES,
};

/** Returns the peers of a runtime that have a mode. */
export function peersOf(runtime: Runtime, mode: Mode): readonly Peer[] {
  return PEERS[runtime].filter((peer) => (MODES[peer] ?? BARE).includes(mode));
}

/** The name of a peer. */
export type Peer = typeof PEERS[Runtime][number];

/** Options of {@linkcode startPeer}. */
export interface StartPeerOptions {
  readonly runtime: Runtime;
  readonly peer: Peer;
  readonly mode: Mode;
  /** Its variables beside those of this process. */
  readonly env: Readonly<Record<string, string>>;
}

/** A listening peer. */
export interface PeerProcess extends AsyncDisposable {
  readonly peer: Peer;
  readonly mode: Mode;
  readonly origin: string;
  /** From its start to its first answer, in milliseconds. */
  readonly startMs: number;
  /** The processor time that it has used, of all threads, in microseconds. */
  cpuUs(): number;
  /** Its resident memory in MiB. */
  memoryMib(): number;
}

/** The processors of the peers, and of the load. */
export const PEER_CPU = "0";
export const LOAD_CPU = "1";

const HERE = import.meta.dirname!;
const LISTENS_WITHIN_MS = 60_000;
const programs = new Map<Runtime, string>();

/** Starts a peer; resolves after its first answer. */
export async function startPeer(
  { runtime, peer, mode, env }: StartPeerOptions,
): Promise<PeerProcess> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const main = join(HERE, "peers/main.ts");
  const command = [await programOf(runtime), ...flags(runtime), main];
  const startedAt = performance.now();
  const child = spawn("taskset", ["-c", PEER_CPU, ...command], {
    cwd: HERE,
    env: {
      ...process.env,
      ...env,
      PORT: String(port),
      PEER: peer,
      MODE: mode,
      NODE_ENV: "production",
      NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
    },
    stdio: ["ignore", "ignore", "pipe"], // what a peer logs is formatted and written, to nowhere
  });
  let said = "";
  child.stderr.on("data", (chunk) => said += chunk);
  const ended = once(child, "exit");
  while (!await answers(origin)) {
    if (child.exitCode !== null || performance.now() - startedAt > LISTENS_WITHIN_MS) {
      child.kill("SIGKILL");
      throw new Error(`${peer} on ${runtime} did not start: ${said.slice(-2000)}`);
    }
    await delay(1);
  }
  const startMs = performance.now() - startedAt;
  const { pid } = child;
  const threads = new Map<string, number>(); // those that have ended, too
  return {
    peer,
    mode,
    origin,
    startMs,
    cpuUs() {
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        threads.set(thread, cpuUsOf(`${pid}/task/${thread}`) ?? threads.get(thread) ?? 0);
      }
      return threads.values().reduce((sum, cpuUs) => sum + cpuUs, 0);
    },
    memoryMib() {
      const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
      return Number(kib) / 1024;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Returns the processor time of a thread in microseconds; `undefined` if it has ended. */
function cpuUsOf(thread: string): number | undefined {
  try {
    const [onCpuNs] = readFileSync(`/proc/${thread}/schedstat`, "utf8").split(" ");
    return Number(onCpuNs) / 1000;
  } catch {
    return undefined;
  }
}

async function answers(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/text`);
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}

async function programOf(runtime: Runtime): Promise<string> {
  if (runtime === "deno") return process.execPath;
  const program = programs.get(runtime) ?? await runtimeOf(runtime === "node" ? NODE : BUN);
  programs.set(runtime, program);
  return program;
}

function flags(runtime: Runtime): readonly string[] {
  return runtime === "deno" ? ["run", "-A", "--no-check", "--config", join(HERE, "deno.json")] : [];
}
