/**
 * Steps that wait only where something is not ready: each promise costs a turn of the microtask
 * queue, and most requests need none.
 *
 * @module
 */

/** Calls `next` with a value: at once, unless the value is a promise or another thenable. */
export function whenReady<T, R>(
  value: T | PromiseLike<T>,
  next: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return isPromiseLike(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Calls `step` for each item in order; waits only after a step that returns a thenable. */
export function inTurn<T>(
  items: readonly T[],
  step: (item: T) => void | PromiseLike<void>,
): void | Promise<void> {
  for (let i = 0; i < items.length; i++) {
    const done = step(items[i] as T); // which is below the length
    if (isPromiseLike(done)) return whenReady(done, () => inTurn(items.slice(i + 1), step));
  }
}

/** Does work; passes what it throws or rejects with to `fail`. */
export function orElse<T>(
  work: () => T | Promise<T>,
  fail: (error: unknown) => T | Promise<T>,
): T | Promise<T> {
  try {
    const result = work();
    return result instanceof Promise ? result.catch(fail) : result;
  } catch (error) {
    return fail(error);
  }
}

/** Checks whether `await` would wait for a value. */
export function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (typeof value === "object" && value !== null || typeof value === "function") &&
    typeof (value as Partial<PromiseLike<T>>).then === "function";
}
