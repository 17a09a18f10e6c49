/**
 * A map that cannot grow without limit.
 *
 * @module
 */

/** Options of a {@linkcode BoundedMap}. */
export interface BoundedMapOptions<K, V> {
  /** The largest weight of all entries together: by default, the largest number of entries. */
  readonly max: number;
  /** Returns the weight of a value when it is set; 1 by default. */
  readonly weigh?: (value: V) => number;
  /** Returns the time in milliseconds, for entries that expire; the platform's clock by default. */
  readonly now?: () => number;
  /** Called with each entry that was removed to make room, but not with deleted or expired ones. */
  readonly onEvict?: (key: K, value: V) => unknown;
}

/** An entry and its neighbours in insertion order. */
interface Entry<K, V> {
  readonly key: K;
  readonly value: V;
  readonly weight: number;
  readonly expiresAtMs: number;
  older: Entry<K, V> | undefined;
  newer: Entry<K, V> | undefined;
}

/**
 * A map of bounded weight. When it is full, the entries that were set first make room for a new
 * one; a value heavier than the whole map is not kept. It has no timers: an expired entry is
 * removed when it is looked up, when an entry that expires is set and all before it have expired,
 * or by `prune()`.
 *
 * The order is a linked list, because finding the first entry of a `Map` is slow after
 * many deletions.
 */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, Entry<K, V>>();
  readonly #max: number;
  readonly #weigh: (value: V) => number;
  readonly #now: () => number;
  readonly #onEvict: (key: K, value: V) => unknown;
  #oldest: Entry<K, V> | undefined;
  #newest: Entry<K, V> | undefined;
  #weight = 0;

  /** Creates an empty map. */
  constructor(
    { max, weigh = () => 1, now = Date.now, onEvict = () => {} }: BoundedMapOptions<K, V>,
  ) {
    this.#max = max;
    this.#weigh = weigh;
    this.#now = now;
    this.#onEvict = onEvict;
  }

  /** The number of entries, including expired ones that were not removed yet. */
  get size(): number {
    return this.#entries.size;
  }

  /** Returns the value of a key, unless it has expired. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || !this.#hasExpired(entry)) return entry?.value;
    this.#remove(entry);
    return undefined;
  }

  /** Returns the value of a key; a missing one is computed and set. */
  getOrInsertComputed(key: K, compute: () => V): V {
    const kept = this.get(key);
    if (kept !== undefined) return kept;
    const value = compute();
    this.set(key, value);
    return value;
  }

  /** Sets the value of a key, which becomes the newest; by default it does not expire. */
  set(key: K, value: V, { expiresAtMs = Infinity }: { readonly expiresAtMs?: number } = {}): void {
    this.delete(key);
    const weight = this.#weigh(value);
    if (expiresAtMs !== Infinity) this.#dropExpired();
    if (weight > this.#max) return;
    while (this.#oldest && this.#weight + weight > this.#max) this.#evict(this.#oldest);
    this.#append({ key, value, weight, expiresAtMs, older: this.#newest, newer: undefined });
  }

  /** Removes a key; returns whether it was set. */
  delete(key: K): boolean {
    const entry = this.#entries.get(key);
    if (entry) this.#remove(entry);
    return entry !== undefined;
  }

  /** Removes all entries. */
  clear(): void {
    this.#entries.clear();
    this.#oldest = this.#newest = undefined;
    this.#weight = 0;
  }

  /** Removes all entries that have expired. */
  prune(): void {
    for (const entry of this.#entries.values()) {
      if (this.#hasExpired(entry)) this.#remove(entry);
    }
  }

  /**
   * Iterates over keys and values, the oldest first, including expired ones that were
   * not removed yet.
   */
  *[Symbol.iterator](): Generator<readonly [key: K, value: V], void, undefined> {
    for (const { key, value } of this.#entries.values()) yield [key, value];
  }

  #dropExpired(): void {
    while (this.#oldest && this.#hasExpired(this.#oldest)) this.#remove(this.#oldest);
  }

  #hasExpired({ expiresAtMs }: Entry<K, V>): boolean {
    return expiresAtMs !== Infinity && expiresAtMs <= this.#now();
  }

  #evict(entry: Entry<K, V>): void {
    this.#remove(entry);
    this.#onEvict(entry.key, entry.value);
  }

  #append(entry: Entry<K, V>): void {
    this.#entries.set(entry.key, entry);
    this.#weight += entry.weight;
    if (entry.older) entry.older.newer = entry;
    else this.#oldest = entry;
    this.#newest = entry;
  }

  #remove({ key, weight, older, newer }: Entry<K, V>): void {
    this.#entries.delete(key);
    this.#weight -= weight;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
  }
}
