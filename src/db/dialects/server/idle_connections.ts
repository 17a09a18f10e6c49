/**
 * The idle connections of a pool.
 *
 * @module
 */

/** How long idle connections are kept, and how they are ended. */
export interface IdleOptions<T> {
  /** How long a connection may be idle, in milliseconds. */
  readonly idleMs: number;
  /** Returns the number of open connections, idle or in use, above the minimum. */
  readonly surplus: () => number;
  /** Ends a connection. */
  readonly end: (connection: T) => void;
}

/** Keeps idle connections, and ends those that are idle for too long. */
export class IdleConnections<T> {
  readonly #options: IdleOptions<T>;
  /** The most recently used one is last. */
  #idle: { readonly connection: T; readonly sinceMs: number }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Creates an empty set. */
  constructor(options: IdleOptions<T>) {
    this.#options = options;
  }

  /** The number of idle connections. */
  get size(): number {
    return this.#idle.length;
  }

  /** For how long the next one was idle, in milliseconds; 0 if all are in use. */
  get nextIdleMs(): number {
    const next = this.#idle.at(-1);
    return next ? performance.now() - next.sinceMs : 0;
  }

  /** Adds a connection. */
  add(connection: T): void {
    this.#idle.push({ connection, sinceMs: performance.now() });
    this.#timer ??= setTimeout(() => this.#sweep(), this.#options.idleMs);
  }

  /** Removes the most recently used one. */
  take(): T | undefined {
    return this.#idle.pop()?.connection;
  }

  /** Removes a connection; returns whether it was idle. */
  delete(connection: T): boolean {
    const index = this.#idle.findLastIndex((it) => it.connection === connection);
    if (index >= 0) this.#idle.splice(index, 1);
    return index >= 0;
  }

  /** Removes a lost connection. If it was in use, the idle ones may be lost too, and are ended. */
  lose(connection: T): void {
    if (this.delete(connection)) return;
    for (const suspect of this.clear()) this.#options.end(suspect);
  }

  /** Removes all connections, and returns them without ending them. */
  clear(): readonly T[] {
    const all = this.#idle;
    this.#idle = [];
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return all.map(({ connection }) => connection);
  }

  #sweep(): void {
    const { idleMs, surplus, end } = this.#options;
    // A timer may fire a millisecond early.
    const untilMs = performance.now() - idleMs + 1;
    const count = this.#idle.filter(({ sinceMs }) => sinceMs <= untilMs).length;
    const ended = this.#idle.splice(0, Math.max(0, Math.min(count, surplus())));
    for (const { connection } of ended) end(connection);
    // A connection may be swept as late as at twice the limit.
    this.#timer = this.#idle.length > 0 ? setTimeout(() => this.#sweep(), idleMs) : undefined;
  }
}
