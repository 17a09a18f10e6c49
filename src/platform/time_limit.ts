/**
 * Limits the time of asynchronous work.
 *
 * @module
 */

/** The longest delay of a timer in milliseconds: a timer with a longer one fires at once. */
export const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * For how many turns of the microtask queue work is awaited without a timer: what is ready needs
 * none, such as a small body on Deno that came with its head. There a timer takes a fifth of the
 * time of a small request.
 */
const TURNS = 3;

/** Waits for work for at most `limitMs` milliseconds; returns whether it was done by then. */
export async function within(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let isDone = false;
  let wake: (() => void) | undefined;
  const end = () => {
    isDone = true;
    wake?.();
  };
  work.then(end, end);
  for (let turn = 0; turn < TURNS && !isDone; turn++) await undefined;
  if (!isDone) {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    const timer = setTimeout(resolve, Math.min(limitMs, MAX_DELAY_MS));
    await promise;
    clearTimeout(timer);
  }
  if (isDone) await work; // which may have failed
  return isDone;
}

/** In how many parts the event loop has to run before a time limit is reached. */
const PARTS = 10;

/**
 * Settles like the promise, or rejects with a `TimeoutError` after `limitMs` milliseconds. Time for
 * which the event loop is held up does not count: meanwhile, no answer could arrive.
 */
export async function withTimeLimit<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const partMs = Math.min(limitMs, MAX_DELAY_MS) / PARTS;
  let parts = 0;
  let timer = setTimeout(function next() {
    // an interval would catch up on what was held up
    if (++parts < PARTS) timer = setTimeout(next, partMs);
    else reject(new DOMException(`No answer in ${limitMs} ms`, "TimeoutError"));
  }, partMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Checks whether a timer can have this delay in milliseconds. */
export function isTimeLimit(limitMs: number): boolean {
  return limitMs > 0 && limitMs <= MAX_DELAY_MS;
}
