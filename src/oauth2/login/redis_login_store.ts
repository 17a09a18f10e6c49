/**
 * Keeps logins in Redis, for applications of many processes.
 *
 * @module
 */
import type { LoginStore, PendingLogin } from "./login_store.ts";

/** As much of a client of `ioredis` as is used here. */
export interface IoRedisClient {
  /** Sends a command. */
  call(command: string, ...args: string[]): Promise<unknown>;
}

/** As much of a client of `redis` (node-redis) as is used here. */
export interface NodeRedisClient {
  /** Sends a command. */
  sendCommand(args: string[]): Promise<unknown>;
}

/** How a {@linkcode RedisLoginStore} names its keys. */
export interface RedisLoginStoreOptions {
  /** What its keys start with, `fw:login` by default; a colon follows. */
  readonly prefix?: string;
}

/**
 * A store over the application's own Redis client (Redis 6.2 or newer), which it neither connects nor
 * closes. Redis itself forgets what is over.
 */
export class RedisLoginStore implements LoginStore {
  readonly #client: IoRedisClient | NodeRedisClient;
  readonly #prefix: string;

  /** Creates a store over a client. */
  constructor(
    client: IoRedisClient | NodeRedisClient,
    { prefix = "fw:login" }: RedisLoginStoreOptions = {},
  ) {
    this.#client = client;
    this.#prefix = prefix;
  }

  /** Keeps a login for so many milliseconds. */
  async save(state: string, login: PendingLogin, ttlMs: number): Promise<void> {
    await this.#send("SET", this.#key(state), JSON.stringify(login), "PX", String(ttlMs));
  }

  /** Gives a login and forgets it, in one step. */
  async take(state: string): Promise<PendingLogin | undefined> {
    const json = await this.#send("GETDEL", this.#key(state));
    return json === null ? undefined : JSON.parse(String(json));
  }

  #key(state: string): string {
    return `${this.#prefix}:${state}`;
  }

  #send(command: string, ...args: string[]): Promise<unknown> {
    // a client of ioredis has a `sendCommand` too, for commands of another shape
    return "call" in this.#client
      ? this.#client.call(command, ...args)
      : this.#client.sendCommand([command, ...args]);
  }
}
