/**
 * Steps that wait only where something is not ready: each promise costs a turn of the microtask
 * queue, and most requests need none.
 *
 * @module
 */

/** Continues with a value: at once if it is ready, so that the result is too. */
export function whenReady<T, R>(
  value: T | PromiseLike<T>,
  next: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return isPromiseLike(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Takes a step for each item, one after the other. */
export function inTurn<T>(
  items: readonly T[],
  step: (item: T) => void | Promise<void>,
  from = 0,
): void | Promise<void> {
  for (let i = from; i < items.length; i++) {
    const taken = step(items[i] as T); // which is below the length
    if (taken instanceof Promise) return taken.then(() => inTurn(items, step, i + 1));
  }
}

/** Checks whether `await` would wait for a value. */
function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (typeof value === "object" && value !== null || typeof value === "function") &&
    typeof (value as Partial<PromiseLike<T>>).then === "function";
}
