/**
 * Whether anybody still waits for the answer to a request. Work that can be given up asks, wherever
 * it is called; this has a cost, so nothing is kept for it until such work exists.
 *
 * @module
 */

/** A request, as its context knows it. */
export interface Caller {
  /** The request, whose signal is aborted when the client has disconnected; without one, never. */
  readonly req: { readonly raw: { readonly signal?: AbortSignal } };
  /** Whether it was answered: before its handler has ended, as by Hono's `timeout()`. */
  readonly finalized: boolean;
}

/** Runs work that can ask, as can all that it calls, whether its caller still waits. */
export type CallerTracker = <T>(caller: Caller, work: () => T | Promise<T>) => Promise<T>;

/** Runs a function in the context in which it was created, as `AsyncLocalStorage.snapshot()`. */
export type ContextRunner = <R, A extends unknown[]>(run: (...args: A) => R, ...args: A) => R;

let tracker: CallerTracker | undefined;
let runner: ContextRunner | undefined;

/** Sets how callers are tracked, and in which context they begin; later calls have no effect. */
export function trackCallers(track: CallerTracker, inContext: ContextRunner): void {
  tracker ??= track;
  runner ??= inContext;
}

/** Returns what runs a function in the context in which callers begin, if they are tracked. */
export function callerContext(): ContextRunner | undefined {
  return runner;
}

/** Returns how callers are tracked, if anything asks for them. */
export function callerTracker(): CallerTracker | undefined {
  return tracker;
}
