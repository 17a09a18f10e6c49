/**
 * Ends the process on a signal, or after an error that nothing has caught.
 *
 * @module
 */
import { drain, getLogger } from "@logtape/logtape";
import { within } from "../platform/time_limit.ts";
import type { DrainOptions } from "./http_server.ts";
import { outputWritten } from "./node_output.ts";

/**
 * The signals that stop a process: sent by Ctrl-C, or by a supervisor such as Docker or systemd.
 */
export type StopSignal = "SIGINT" | "SIGTERM";

/** Options of {@linkcode stopGracefully}. */
export interface StopOptions extends DrainOptions {
  /** How long connections are still accepted, in milliseconds; default 500. */
  readonly lameDuckMs?: number | undefined;
  /**
   * Stops the application. It is called once, with the options of its servers' `close`; without a
   * signal after an error.
   */
  readonly onStop: (signal: StopSignal | undefined, drain: DrainOptions) => Promise<void>;
}

/** The exit codes of a process ended by a signal: 128 plus the number of the signal. */
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

/** `deno task` and `bun run` repeat a Ctrl-C that the process has received from the terminal. */
const ECHO_MS = 250;

/** The events of errors that nothing has caught; each ends a process without listeners. */
const FAILURES = ["unhandledRejection", "uncaughtException"] as const;

/** The most failures that are logged: to log one can fail too, which would have no end. */
const MAX_FAILURES = 100;

/** How long sinks of the log and readers of a pipe have for the last records, in milliseconds. */
const DRAIN_LOG_MS = 5_000;

/** Marks the listeners of this module. */
const STOPS = Symbol("fw.stops");

/**
 * Ends the process on SIGINT or SIGTERM when `onStop` has resolved and the log is written, for
 * which asynchronous sinks, and on Node readers of a pipe, have 5 s: with code 0, or with 1 if
 * `onStop` rejects, which is logged. An unhandled rejection or an uncaught exception is logged and
 * stops the process in the same way, with code 1, unless the application listens for it itself. If
 * several applications stop, the last one ends the process. A second signal ends it at once.
 * Returns a function that removes the listeners.
 *
 * @throws {RangeError} if a time is not a number of 0 or more
 */
export function stopGracefully(
  { drainMs = 30_000, lameDuckMs = 500, onStop }: StopOptions,
): () => void {
  for (const [name, ms] of Object.entries({ drainMs, lameDuckMs })) {
    if (typeof ms === "number" && ms >= 0) continue;
    throw new RangeError(`Cannot stop gracefully: ${name} ${ms} is not 0 or more milliseconds`);
  }
  const { process } = globalThis;
  let stoppingSince: number | undefined;
  let failed = 0;

  async function stop(signal?: StopSignal): Promise<void> {
    stoppingSince = performance.now();
    const code = await exitCodeOf(() => onStop(signal, { drainMs, lameDuckMs }));
    if (code !== 0) process.exitCode = code;
    release();
    if (!process.listeners("SIGTERM").some(isOurs)) process.exit(process.exitCode ?? 0);
  }

  const onSignal = ours((signal: StopSignal) => {
    if (stoppingSince === undefined) void stop(signal);
    else if (performance.now() - stoppingSince > ECHO_MS) process.exit(EXIT_CODES[signal]);
  });

  const failures = FAILURES.map((origin) => {
    const listener = ours((error: unknown) => {
      const listeners: readonly object[] = process.listeners(origin as "uncaughtException");
      if (!listeners.every(isOurs)) return;
      if (listeners[0] === listener && failed++ < MAX_FAILURES) logFailure(origin, error);
      process.exitCode = 1;
      if (stoppingSince === undefined) void stop();
    });
    return { origin, listener };
  });

  function release(): void {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    for (const { origin, listener } of failures) process.off(origin, listener);
  }

  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  for (const { origin, listener } of failures) process.on(origin, listener);
  return release;
}

function ours<F extends object>(listener: F): F {
  return Object.assign(listener, { [STOPS]: true });
}

function isOurs(listener: object): boolean {
  return STOPS in listener;
}

function logFailure(origin: typeof FAILURES[number], error: unknown): void {
  getLogger(["fw", "runtime"]).fatal("Stopping after {origin}: {error}", { origin, error });
}

async function exitCodeOf(stop: () => Promise<void>): Promise<0 | 1> {
  try {
    await stop();
    return 0;
  } catch (error) {
    getLogger(["fw", "runtime"]).fatal("Stopping failed: {error}", { error });
    return 1;
  } finally {
    // The exit would lose records that asynchronous sinks, or pipes of Node, have not written yet.
    await within(drain().finally(outputWritten), DRAIN_LOG_MS).catch(() => {});
  }
}
