/**
 * Values that are loaded at their first use.
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
