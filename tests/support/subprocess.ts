/**
 * Runs a TypeScript file in a process of its own, on the runtime that runs the tests unless told
 * otherwise.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { join } from "node:path";
import { ROOT } from "./project.ts";

/** How a process ended. */
export interface Ending {
  /** Its exit code, `null` if a signal ended it. */
  readonly code: number | null;
  /** All that it wrote on stdout and stderr. */
  readonly output: string;
}

/** Options of {@linkcode Subprocess}. */
export interface SubprocessOptions {
  /** The arguments of the file. */
  readonly args?: readonly (string | number)[];
  /** What runs the file; default the runtime that runs the tests. */
  readonly program?: string;
  /** The command of Deno that runs it; default `run`. */
  readonly command?: "run" | "serve";
  /** What Deno allows it; default everything. */
  readonly permissions?: readonly string[];
  /** Where it runs; default the project's root. */
  readonly cwd?: string;
  /** How many files it can open, sockets included; default as this process. */
  readonly maxOpenFiles?: number;
  /** The file that takes what it writes, such as `/dev/full`; default its `output`. */
  readonly outputTo?: string;
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** How long it may run, in milliseconds; default 2 minutes. */
  readonly maxRunMs?: number;
}

const MAX_RUN_MS = 120_000;

/** A running process, which is killed at the end of its scope. */
export class Subprocess implements AsyncDisposable {
  /** Resolves when it has ended. */
  readonly ended: Promise<Ending>;
  readonly #maxRunMs: number;
  readonly #child: ChildProcess;
  #output = "";
  #hasEnded = false;

  /** Starts a file of the directory it runs in. */
  constructor(
    file: string,
    {
      args = [],
      program = process.execPath,
      command = "run",
      permissions = ["-A"],
      cwd = ROOT,
      maxOpenFiles,
      outputTo,
      env = {},
      maxRunMs = MAX_RUN_MS,
    }: SubprocessOptions = {},
  ) {
    const line = [
      program,
      ...flagsOf(program, [command, ...permissions]),
      join(cwd, file),
      ...args.map(String),
    ];
    const limits = [
      ...maxOpenFiles === undefined ? [] : [`ulimit -n ${maxOpenFiles}`],
      ...outputTo === undefined ? [] : [`exec > "${outputTo}" 2>&1`],
    ];
    const limited = ["sh", "-c", [...limits, `exec "$@"`].join("; "), "sh", ...line];
    const [first = "", ...rest] = limits.length === 0 ? line : limited;
    this.#child = spawn(first, rest, {
      cwd,
      env: { ...process.env, NO_COLOR: "1", ...env },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on("data", (chunk) => this.#output += chunk);
    }
    this.#maxRunMs = maxRunMs;
    const tooLong = setTimeout(() => this.#child.kill("SIGKILL"), maxRunMs);
    this.ended = once(this.#child, "close").then(([code]) => {
      clearTimeout(tooLong);
      this.#hasEnded = true;
      return { code, output: this.#output };
    });
  }

  /**
   * Waits until the output matches, for as long as the process may run, and returns the match;
   * fails if it ends without.
   */
  async until(pattern: RegExp): Promise<string> {
    for (let waitedMs = 0; waitedMs < this.#maxRunMs; waitedMs += 10) {
      const isAll = this.#hasEnded;
      const match = pattern.exec(this.#output);
      if (match) return match[0];
      if (isAll) break;
      await delay(10);
    }
    throw new Error(`Cannot find ${pattern} in the output: ${this.#output}`);
  }

  /**
   * Waits until it accepts connections on a port or the path of a Unix socket, for as long as it
   * may run; fails if it ends before.
   */
  async accepts(address: number | string): Promise<void> {
    for (let waitedMs = 0; waitedMs < this.#maxRunMs && !this.#hasEnded; waitedMs += 20) {
      if (await isAccepted(address)) return;
      await delay(20);
    }
    throw new Error(`Cannot connect to ${address}: the output is ${this.#output}`);
  }

  /** Its process id. */
  get pid(): number {
    return this.#child.pid!;
  }

  /** Reads no more of what it writes on stdout, until it is told to go on. */
  pauseOutput(): Disposable {
    this.#child.stdout?.pause();
    return { [Symbol.dispose]: () => void this.#child.stdout?.resume() };
  }

  /** Stops reading what it writes on stdout: its next write fails. */
  closeOutput(): void {
    this.#child.stdout?.destroy();
  }

  /** What it has written so far. */
  get output(): string {
    return this.#output;
  }

  /**
   * Sends a signal: not by `ChildProcess.kill`, which Deno lets do so once and takes for the end.
   */
  kill(signal: "SIGINT" | "SIGTERM" | "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
    process.kill(this.pid, signal);
  }

  /** Kills it, if it still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }
}

async function isAccepted(address: number | string): Promise<boolean> {
  const socket = typeof address === "number"
    ? connect({ port: address, host: "127.0.0.1" })
    : connect({ path: address });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function flagsOf(program: string, ofDeno: readonly string[]): readonly string[] {
  if (program !== process.execPath) return [];
  if ("Deno" in globalThis) return [...ofDeno, "--quiet", "--no-prompt"];
  return process.execArgv.filter((flag) => flag.startsWith("--import=")); // it may write `using`
}
