/**
 * A cache that cannot grow without limit.
 *
 * @module
 */

/** Keeps the last `maxEntries` values that were made; the oldest goes first. */
export class BoundedCache<V> {
  readonly #entries = new Map<string, V>();
  readonly #maxEntries: number;

  /** Creates an empty cache. */
  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** How many values it holds. */
  get size(): number {
    return this.#entries.size;
  }

  /** Gives the value of a key, made if it is not there. */
  getOrMake(key: string, make: () => V): V {
    const kept = this.#entries.get(key);
    if (kept !== undefined) return kept;
    const made = make();
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.#maxEntries) break;
      this.#entries.delete(oldest);
    }
    this.#entries.set(key, made);
    return made;
  }
}
