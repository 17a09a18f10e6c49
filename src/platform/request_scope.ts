/**
 * The request on whose behalf work runs. To know it has a cost, so nothing is kept for it until a
 * layer needs it.
 *
 * @module
 */

/** Runs the work of a request, so that what it calls can distinguish the requests. */
export type RequestTracker = <T>(work: () => T) => T;

let tracker: RequestTracker | undefined;

/** Sets how requests are tracked; later calls have no effect. */
export function trackRequests(track: RequestTracker): void {
  tracker ??= track;
}

/** Returns how requests are tracked, if anything needs it. */
export function requestTracker(): RequestTracker | undefined {
  return tracker;
}
