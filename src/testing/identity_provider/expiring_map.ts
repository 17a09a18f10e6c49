/**
 * A map that forgets.
 *
 * @module
 */

interface Entry<V> {
  readonly value: V;
  readonly expiresAtMs: number;
}

/** A map whose entries end by themselves; full, it drops the one that was set first. */
export class ExpiringMap<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #now: () => number;
  readonly #maxEntries: number;

  /** Creates an empty map that goes by a clock in milliseconds. */
  constructor(now: () => number, { maxEntries = 10_000 }: { readonly maxEntries?: number } = {}) {
    this.#now = now;
    this.#maxEntries = maxEntries;
  }

  /** Gives what is under a key, if its time has not come. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAtMs > this.#now()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Puts a value under a key for a number of milliseconds; it is then the last that was set. */
  set(key: string, value: V, lifeMs: number): void {
    this.#entries.delete(key);
    if (this.#entries.size >= this.#maxEntries) {
      const [oldest] = this.#entries.keys();
      this.#entries.delete(oldest as string);
    }
    this.#entries.set(key, { value, expiresAtMs: this.#now() + lifeMs });
  }

  /** Removes what is under a key. */
  delete(key: string): void {
    this.#entries.delete(key);
  }
}
