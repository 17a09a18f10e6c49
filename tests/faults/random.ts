/** Random numbers that a seed repeats. */

/** A source of random numbers. */
export class Random {
  #state: number;

  /** Creates a source. */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number of 0 or more, less than 1 (mulberry32). */
  next(): number {
    this.#state = this.#state + 0x6d2b79f5 >>> 0;
    let mixed = Math.imul(this.#state ^ this.#state >>> 15, this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
  }

  /** Returns a whole number of 0 or more, less than `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Returns one of the items. */
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}
