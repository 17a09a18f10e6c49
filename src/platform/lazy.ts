/**
 * Values that are loaded or created at their first use.
 *
 * @module
 */

/**
 * Returns what loads a value, such as a module, at its first call: each `import()` takes Node up to
 * 9 µs, also of a loaded module.
 */
export function lazy<T extends object>(load: () => Promise<T>): () => T | Promise<T> {
  let loaded: T | undefined;
  return () => loaded ?? load().then((it) => loaded = it);
}

/** Returns a function that its first call creates. */
export function lazyFunction<T, R>(create: () => (argument: T) => R): (argument: T) => R {
  let created: ((argument: T) => R) | undefined;
  return (argument) => (created ??= create())(argument);
}
