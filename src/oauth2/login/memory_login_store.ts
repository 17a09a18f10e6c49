/**
 * Keeps logins in the memory of the process.
 *
 * @module
 */
import { BoundedMap } from "../../platform/bounded_map.ts";
import type { LoginStore, PendingLogin, SaveLoginOptions } from "./login_store.ts";

/** Options of a {@linkcode MemoryLoginStore}. */
export interface MemoryLoginStoreOptions {
  /** The most logins that are kept, 10 000 by default; the oldest goes for a new one. */
  readonly maxLogins?: number;
  /** The time in milliseconds since 1970; the platform's by default. */
  readonly now?: () => number;
}

/** A store for applications of one process. */
export class MemoryLoginStore implements LoginStore {
  readonly #logins: BoundedMap<string, PendingLogin>;
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
    this.#logins = new BoundedMap({ max: maxLogins, now });
    this.#now = now;
  }

  /** How many logins it keeps, those included that are over. */
  get size(): number {
    return this.#logins.size;
  }

  /** Keeps a login for so many milliseconds. */
  save(state: string, login: PendingLogin, { ttlMs }: SaveLoginOptions): Promise<void> {
    this.#logins.set(state, login, { expiresAtMs: this.#now() + ttlMs });
    return Promise.resolve();
  }

  /** Gives a login and forgets it. */
  take(state: string): Promise<PendingLogin | undefined> {
    const login = this.#logins.get(state);
    this.#logins.delete(state);
    return Promise.resolve(login);
  }
}
