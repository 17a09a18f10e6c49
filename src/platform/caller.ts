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

/** Tracks the callers of work that can be given up. */
export interface CallerTracking {
  /** Runs work that can ask, as can all that it calls, whether its caller still waits. */
  readonly track: CallerTracker;
  /** Whether the current context is that of work for some caller. */
  readonly isInside: () => boolean;
  /** Runs a function in the context in which callers begin. */
  readonly runOutside: ContextRunner;
}

/** Runs work for a caller; see {@linkcode CallerTracking}. */
export type CallerTracker = <T>(caller: Caller, work: () => T | Promise<T>) => T | Promise<T>;

/** Runs a function in the context in which it was created, as `AsyncLocalStorage.snapshot()`. */
export type ContextRunner = <R, A extends unknown[]>(run: (...args: A) => R, ...args: A) => R;

let tracking: CallerTracking | undefined;

/** Sets how callers are tracked; later calls have no effect. */
export function trackCallers(it: CallerTracking): void {
  tracking ??= it;
}

/** Returns how callers are tracked, if anything asks for them. */
export function callerTracker(): CallerTracker | undefined {
  return tracking?.track;
}

/**
 * Returns what runs a function in the context in which callers begin, if the current one is that of
 * some caller.
 */
export function callerContext(): ContextRunner | undefined {
  return tracking?.isInside() ? tracking.runOutside : undefined;
}
