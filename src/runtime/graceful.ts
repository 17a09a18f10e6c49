/**
 * Ending the process on a signal.
 *
 * @module
 */
import { drain, getLogger } from "@logtape/logtape";
import type { DrainOptions } from "./listen.ts";

/** What asks a process to end: Ctrl-C, or a supervisor such as Docker or systemd. */
export type StopSignal = "SIGINT" | "SIGTERM";

/** Options of {@linkcode stopOnSignals}. */
export interface StopOnSignalsOptions extends DrainOptions {
  /** For how long connections are still accepted, in milliseconds; default 500. */
  readonly lameDuckMs?: number;
  /** Stops what the process does. It is called once, with how to drain its servers. */
  readonly onSignal: (signal: StopSignal, drain: Required<DrainOptions>) => Promise<void>;
}

/** The exit codes of a process that a signal has ended: 128 and the signal's number. */
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

/**
 * `deno task` and `bun run` pass on a Ctrl-C that the process has had from the terminal already.
 */
const ECHO_MS = 250;

/**
 * Ends the process on SIGINT or SIGTERM when `onSignal` is done: with code 0, or 1 if it throws,
 * which is logged. A second signal ends it at once. Gives a function that lets go of the signals.
 */
export function stopOnSignals(
  { drainMs = 30_000, lameDuckMs = 500, onSignal }: StopOnSignalsOptions,
): () => void {
  const { process } = globalThis;
  let stoppingSince: number | undefined;

  function handle(signal: StopSignal): void {
    if (stoppingSince === undefined) {
      stoppingSince = performance.now();
      exitCodeOf(() => onSignal(signal, { drainMs, lameDuckMs })).then((code) =>
        process.exit(code)
      );
    } else if (performance.now() - stoppingSince > ECHO_MS) {
      process.exit(EXIT_CODES[signal]);
    }
  }

  process.on("SIGINT", handle).on("SIGTERM", handle);
  return () => void process.off("SIGINT", handle).off("SIGTERM", handle);
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
