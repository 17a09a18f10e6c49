/**
 * Whether anybody still waits for the answer to a request. Work that can be given up asks, wherever
 * it is called; this has a cost, so nothing is kept for it until such work exists.
 *
 * @module
 */

/** Returns why nobody waits for the work any longer; `undefined` while somebody does. */
export type GoneReason = () => unknown;

/** Runs work that can ask, as can all that it calls, whether its caller is gone. */
export type CallerTracker = <T>(goneReason: GoneReason, work: () => T) => T;

let tracker: CallerTracker | undefined;

/** Sets how callers are tracked; later calls have no effect. */
export function trackCallers(track: CallerTracker): void {
  tracker ??= track;
}

/** Returns how callers are tracked, if anything asks for them. */
export function callerTracker(): CallerTracker | undefined {
  return tracker;
}
