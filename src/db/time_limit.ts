/**
 * Limits of time.
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
