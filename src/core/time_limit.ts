/**
 * Bounds the time that something may take.
 *
 * @module
 */

/** Waits for work, but not for longer than a time; tells whether it was done by then. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    return await Promise.race([work.then(() => true), promise.then(() => false)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Settles like the promise, or rejects with a `TimeoutError` after `limitMs` milliseconds. */
export async function withTimeLimit<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  if (await within(limitMs, promise)) return await promise;
  throw new DOMException(`No answer in ${limitMs} ms`, "TimeoutError");
}

/**
 * Tells whether a timer can run for so many milliseconds: beyond 2^31 - 1 it would fire at once.
 */
export function isTimeLimit(limitMs: number): boolean {
  return limitMs > 0 && limitMs < 2 ** 31;
}
