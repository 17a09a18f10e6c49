/**
 * The request on whose behalf work runs. Tracking has a cost: it is off until a layer needs it. It
 * is state of the process, as in `caller.ts`: the core cannot import the layer that needs it.
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
