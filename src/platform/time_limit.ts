/**
 * Limits the time of asynchronous work.
 *
 * @module
 */

/** The longest delay of a timer in milliseconds: a timer with a longer one fires at once. */
export const MAX_DELAY_MS = 2 ** 31 - 1;

/** Waits for work for at most `limitMs` milliseconds; returns whether it was done by then. */
export async function within(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(limitMs, MAX_DELAY_MS));
  try {
    return await Promise.race([work.then(() => true), promise.then(() => false)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Settles like the promise, or rejects with a `TimeoutError` after `limitMs` milliseconds. */
export async function withTimeLimit<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  if (await within(promise, limitMs)) return await promise;
  throw new DOMException(`No answer in ${limitMs} ms`, "TimeoutError");
}

/** Checks whether a timer can have this delay in milliseconds. */
export function isTimeLimit(limitMs: number): boolean {
  return limitMs > 0 && limitMs <= MAX_DELAY_MS;
}
