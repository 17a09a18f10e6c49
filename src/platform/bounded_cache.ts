/**
 * A cache that cannot grow without limit.
 *
 * @module
 */

/** How much a cache holds. */
export interface BoundedCacheOptions<V> {
  /** The weight of all its values together. */
  readonly max: number;
  /** The weight of a value; 1 unless given. */
  readonly weigh?: (value: V) => number;
}

/** Keeps the values that were made last, as far as they fit; the oldest goes first. */
export class BoundedCache<V> {
  readonly #entries = new Map<string, V>();
  readonly #max: number;
  readonly #weigh: (value: V) => number;
  #weight = 0;

  /** Creates an empty cache. */
  constructor({ max, weigh = () => 1 }: BoundedCacheOptions<V>) {
    this.#max = max;
    this.#weigh = weigh;
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
    this.#weight += this.#weigh(made);
    this.#entries.set(key, made);
    for (const [oldest, value] of this.#entries) {
      if (this.#weight <= this.#max) break;
      this.#weight -= this.#weigh(value);
      this.#entries.delete(oldest);
    }
    return made;
  }
}
