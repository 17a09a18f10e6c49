/**
 * Bounds the time that something may take.
 *
 * @module
 */

/** Settles like the promise, or rejects with a `TimeoutError` after `limitMs` milliseconds. */
export async function withTimeLimit<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expiry = new Promise<never>((_, reject) => {
    const expire = () => reject(new DOMException(`No answer in ${limitMs} ms`, "TimeoutError"));
    timer = setTimeout(expire, limitMs);
  });
  try {
    return await Promise.race([promise, expiry]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Tells whether a timer can run for so many milliseconds: beyond 2^31 - 1 it would fire at once.
 */
export function isTimeLimit(limitMs: number): boolean {
  return limitMs > 0 && limitMs < 2 ** 31;
}
