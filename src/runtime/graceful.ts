/**
 * Ending the process on a signal.
 *
 * @module
 */
import { drain, getLogger } from "@logtape/logtape";
import type { DrainOptions } from "./http_server.ts";

/** What asks a process to end: Ctrl-C, or a supervisor such as Docker or systemd. */
export type StopSignal = "SIGINT" | "SIGTERM";

/** Options of {@linkcode stopOnSignals}. */
export interface StopOnSignalsOptions extends DrainOptions {
  /** For how long connections are still accepted, in milliseconds; default 500. */
  readonly lameDuckMs?: number | undefined;
  /** Stops what the process does. It is called once, with how to drain its servers. */
  readonly onSignal: (signal: StopSignal, drain: DrainOptions) => Promise<void>;
}

/** The exit codes of a process that a signal has ended: 128 and the signal's number. */
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

/**
 * `deno task` and `bun run` pass on a Ctrl-C that the process has had from the terminal already.
 */
const ECHO_MS = 250;

/** Marks our listeners among those of the process. */
const STOPS = Symbol("fw.stops");

/**
 * Ends the process on SIGINT or SIGTERM when `onSignal` is done: with code 0, or 1 if it throws,
 * which is logged. Where several applications stop, the last of them ends it. A second signal ends it
 * at once. Gives a function that lets go of the signals.
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
    // The exit would lose what asynchronous sinks have yet to write.
    await drain().catch(() => {});
  }
}
