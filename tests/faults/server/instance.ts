/** A process of the application, on one of the runtimes. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { BUN, NODE, runtimeOf } from "../../support/runtimes.ts";
import { Subprocess } from "../../support/subprocess.ts";

/** The runtimes of the suite. */
export const RUNTIMES = ["deno", "node", "bun"] as const;

/** A runtime of the suite. */
export type RuntimeName = typeof RUNTIMES[number];

/** Options of {@linkcode startInstance}. */
export interface InstanceOptions {
  /** Its variables; `PORT` is any free port by default. */
  readonly env?: Readonly<Record<string, string>>;
  /** What it runs; default the application of the suite. */
  readonly file?: string;
  /** Its limit of descriptors. */
  readonly maxOpenFiles?: number;
  /** How long it may run, in milliseconds; default 5 minutes. */
  readonly maxRunMs?: number;
}

/** A running application. */
export interface Instance extends AsyncDisposable {
  /** Its URL, without a path. */
  readonly origin: string;
  readonly process: Subprocess;
  /** Its resident memory in MiB. */
  memoryMib(): number;
  /** The number of its open descriptors. */
  descriptors(): number;
  /** What it wrote and should not have: unhandled rejections, uncaught exceptions, its end. */
  unexpectedOutput(): readonly string[];
}

/** The application of {@linkcode startInstance} with routes of every protection; needs `ISSUER`. */
export const CALLERS_APPLICATION = "tests/faults/server/callers_application.ts";

const APPLICATION = "tests/faults/server/application.ts";
const MAX_RUN_MS = 300_000;
const programs = new Map<RuntimeName, Promise<string>>();

/** Starts a process; resolves when it listens. */
export async function startInstance(
  runtime: RuntimeName,
  { env = {}, file = APPLICATION, maxOpenFiles, maxRunMs = MAX_RUN_MS }: InstanceOptions = {},
): Promise<Instance> {
  const subprocess = new Subprocess(file, {
    program: await programOf(runtime),
    env: { PORT: "0", ...env },
    maxRunMs,
    ...maxOpenFiles !== undefined && { maxOpenFiles },
  });
  const listening = await subprocess.until(/Listening on (?:"|')?(http:[^\s"']+)/);
  const origin = listening.replace(/^.*?http:/, "http:");
  const { pid } = subprocess;
  return {
    origin,
    process: subprocess,
    memoryMib() {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
    },
    unexpectedOutput() {
      const unexpected = /.*(?:unhandled|uncaught|panicked|Segmentation|FATAL ERROR).*/gi;
      const found = [...subprocess.output.matchAll(unexpected)].map(([line]) => line.slice(0, 300));
      return existsSync(`/proc/${pid}`) ? found : [...found, "the process has ended"];
    },
    descriptors: () => readdirSync(`/proc/${pid}/fd`).length,
    [Symbol.asyncDispose]: () => subprocess[Symbol.asyncDispose](),
  };
}

/** Returns the path of the program of a runtime. */
export function programOf(runtime: RuntimeName): Promise<string> {
  if (runtime === "deno") return Promise.resolve(process.execPath);
  const program = programs.get(runtime) ?? runtimeOf(runtime === "node" ? NODE : BUN);
  programs.set(runtime, program);
  return program;
}
