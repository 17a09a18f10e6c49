/**
 * The connections of a pool that nobody uses.
 *
 * @module
 */

/** How long they are kept, and how they are ended. */
export interface IdleOptions<T> {
  /** How long one is kept, in milliseconds. */
  readonly idleMs: number;
  /** Tells how many open connections, in use or not, are more than are always kept. */
  readonly surplus: () => number;
  /** Ends a connection. */
  readonly end: (connection: T) => void;
}

/** Keeps the connections that nobody uses, and ends those for which that is so for too long. */
export class IdleConnections<T> {
  readonly #options: IdleOptions<T>;
  /** The one used last comes last. */
  #idle: { readonly connection: T; readonly sinceMs: number }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Creates it with none. */
  constructor(options: IdleOptions<T>) {
    this.#options = options;
  }

  /** Adds a connection. */
  add(connection: T): void {
    this.#idle.push({ connection, sinceMs: performance.now() });
    this.#timer ??= setTimeout(() => this.#sweep(), this.#options.idleMs);
  }

  /** Removes the one that was used last. */
  take(): T | undefined {
    return this.#idle.pop()?.connection;
  }

  /** Removes a connection; tells whether it was there. */
  delete(connection: T): boolean {
    const index = this.#idle.findLastIndex((it) => it.connection === connection);
    if (index >= 0) this.#idle.splice(index, 1);
    return index >= 0;
  }

  /** Removes a connection that was lost. If it was in use, those kept may be lost too: they are ended. */
  lose(connection: T): void {
    if (this.delete(connection)) return;
    for (const suspect of this.clear()) this.#options.end(suspect);
  }

  /** Removes all, ends none, and gives them. */
  clear(): readonly T[] {
    const all = this.#idle;
    this.#idle = [];
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return all.map(({ connection }) => connection);
  }

  #sweep(): void {
    const { idleMs, surplus, end } = this.#options;
    // A timer may be a millisecond early.
    const untilMs = performance.now() - idleMs + 1;
    const count = this.#idle.filter(({ sinceMs }) => sinceMs <= untilMs).length;
    const ended = this.#idle.splice(0, Math.max(0, Math.min(count, surplus())));
    for (const { connection } of ended) end(connection);
    // The next look may come when none is old enough, and find it at twice the age.
    this.#timer = this.#idle.length > 0 ? setTimeout(() => this.#sweep(), idleMs) : undefined;
  }
}
