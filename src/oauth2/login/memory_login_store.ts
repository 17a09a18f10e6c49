/**
 * Keeps logins in the memory of the process.
 *
 * @module
 */
import type { LoginStore, PendingLogin, SaveLoginOptions } from "./login_store.ts";

/** Options of a {@linkcode MemoryLoginStore}. */
export interface MemoryLoginStoreOptions {
  /** The most logins that are kept, 10 000 by default; the oldest goes for a new one. */
  readonly maxLogins?: number;
  /** The time in milliseconds since 1970; the platform's by default. */
  readonly now?: () => number;
}

interface Entry {
  readonly login: PendingLogin;
  readonly expiresAtMs: number;
}

/** A store for applications of one process. */
export class MemoryLoginStore implements LoginStore {
  readonly #entries = new Map<string, Entry>();
  readonly #maxLogins: number;
  readonly #now: () => number;

  /**
   * Creates an empty store.
   *
   * @throws {RangeError} if `maxLogins` is not a positive integer
   */
  constructor({ maxLogins = 10_000, now = Date.now }: MemoryLoginStoreOptions = {}) {
    if (!Number.isSafeInteger(maxLogins) || maxLogins < 1) {
      throw new RangeError(`Cannot keep logins: maxLogins ${maxLogins} is not a positive integer`);
    }
    this.#maxLogins = maxLogins;
    this.#now = now;
  }

  /** How many logins it keeps, those included that are over. */
  get size(): number {
    return this.#entries.size;
  }

  /** Keeps a login for so many milliseconds. */
  save(state: string, login: PendingLogin, { ttlMs }: SaveLoginOptions): Promise<void> {
    const nowMs = this.#now();
    for (const [oldest, { expiresAtMs }] of this.#entries) {
      if (expiresAtMs > nowMs && this.#entries.size < this.#maxLogins) break;
      this.#entries.delete(oldest);
    }
    this.#entries.set(state, { login, expiresAtMs: nowMs + ttlMs });
    return Promise.resolve();
  }

  /** Gives a login and forgets it. */
  take(state: string): Promise<PendingLogin | undefined> {
    const entry = this.#entries.get(state);
    this.#entries.delete(state);
    const holds = entry !== undefined && entry.expiresAtMs > this.#now();
    return Promise.resolve(holds ? entry.login : undefined);
  }
}
