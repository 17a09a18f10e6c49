/**
 * Ends the process on a signal.
 *
 * @module
 */
import { drain, getLogger } from "@logtape/logtape";
import type { DrainOptions } from "./http_server.ts";

/**
 * The signals that stop a process: sent by Ctrl-C, or by a supervisor such as Docker or systemd.
 */
export type StopSignal = "SIGINT" | "SIGTERM";

/** Options of {@linkcode stopOnSignals}. */
export interface StopOnSignalsOptions extends DrainOptions {
  /** How long connections are still accepted, in milliseconds; default 500. */
  readonly lameDuckMs?: number | undefined;
  /** Stops the application. It is called once, with the options of its servers' `close`. */
  readonly onSignal: (signal: StopSignal, drain: DrainOptions) => Promise<void>;
}

/** The exit codes of a process ended by a signal: 128 plus the number of the signal. */
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

/** `deno task` and `bun run` repeat a Ctrl-C that the process has received from the terminal. */
const ECHO_MS = 250;

/** Marks the listeners of this module. */
const STOPS = Symbol("fw.stops");

/**
 * Ends the process on SIGINT or SIGTERM when `onSignal` has resolved: with code 0, or with 1 if it
 * rejects, which is logged. If several applications stop, the last one ends the process. A second
 * signal ends it at once. Returns a function that removes the listeners.
 */
export function stopOnSignals(
  { drainMs = 30_000, lameDuckMs = 500, onSignal }: StopOnSignalsOptions,
): () => void {
  const { process } = globalThis;
  let stoppingSince: number | undefined;

  async function stop(signal: StopSignal): Promise<void> {
    const code = await exitCodeOf(() => onSignal(signal, { drainMs, lameDuckMs }));
    if (code !== 0) process.exitCode = code;
    release();
    if (!process.listeners(signal).some((listener) => STOPS in listener)) {
      process.exit(process.exitCode ?? 0);
    }
  }

  function handle(signal: StopSignal): void {
    if (stoppingSince === undefined) {
      stoppingSince = performance.now();
      void stop(signal);
    } else if (performance.now() - stoppingSince > ECHO_MS) {
      process.exit(EXIT_CODES[signal]);
    }
  }

  function release(): void {
    process.off("SIGINT", listener).off("SIGTERM", listener);
  }

  const listener = Object.assign(handle, { [STOPS]: true });
  process.on("SIGINT", listener).on("SIGTERM", listener);
  return release;
}

async function exitCodeOf(stop: () => Promise<void>): Promise<0 | 1> {
  try {
    await stop();
    return 0;
  } catch (error) {
    getLogger(["fw", "runtime"]).fatal("Stopping failed: {error}", { error });
    return 1;
  } finally {
    // The exit would lose records that asynchronous sinks have not written yet.
    await drain().catch(() => {});
  }
}
