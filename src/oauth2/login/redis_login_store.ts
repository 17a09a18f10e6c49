/**
 * Keeps logins in Redis, for applications of many processes.
 *
 * @module
 */
import { ServiceUnavailableException } from "../../core/http/http_exception.ts";
import { MAX_DELAY_MS, withTimeLimit } from "../../platform/time_limit.ts";
import { type JsonObject, jsonObject } from "../../platform/json_object.ts";
import { scrub } from "../client/scrub.ts";
import type { LoginStore, PendingLogin, SaveLoginOptions } from "./login_store.ts";

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

/** Options of a {@linkcode RedisLoginStore}. */
export interface RedisLoginStoreOptions {
  /** What its keys start with, `fw:login` by default; a colon follows. */
  readonly prefix?: string;
  /** How long Redis may take to answer in milliseconds, 5 000 by default. */
  readonly timeoutMs?: number;
}

/**
 * A store over the application's own Redis client (Redis 6.2 or newer), which it neither connects nor
 * closes. Redis itself forgets what is over. While Redis fails, nobody can log in: its methods throw a
 * `ServiceUnavailableException` (503).
 */
export class RedisLoginStore implements LoginStore {
  readonly #client: IoRedisClient | NodeRedisClient;
  readonly #prefix: string;
  readonly #timeoutMs: number;

  /**
   * Creates a store over a client.
   *
   * @throws {RangeError} if `timeoutMs` is not 1 to 2^31 - 1
   */
  constructor(
    client: IoRedisClient | NodeRedisClient,
    { prefix = "fw:login", timeoutMs = 5_000 }: RedisLoginStoreOptions = {},
  ) {
    if (!(timeoutMs >= 1 && timeoutMs <= MAX_DELAY_MS)) {
      throw new RangeError(`Cannot wait for Redis: ${timeoutMs} ms is not 1 to ${MAX_DELAY_MS}`);
    }
    this.#client = client;
    this.#prefix = prefix;
    this.#timeoutMs = timeoutMs;
  }

  /** Keeps a login for so many milliseconds. */
  async save(
    state: string,
    login: PendingLogin,
    { ttlMs }: SaveLoginOptions,
  ): Promise<void> {
    await this.#send("SET", this.#key(state), JSON.stringify(login), "PX", String(ttlMs));
  }

  /** Gives a login and forgets it, in one step. What is no login there is as good as none. */
  async take(state: string): Promise<PendingLogin | undefined> {
    const json = jsonObject(String(await this.#send("GETDEL", this.#key(state))));
    return isPendingLogin(json) ? json : undefined;
  }

  #key(state: string): string {
    return `${this.#prefix}:${state}`;
  }

  async #send(command: string, ...args: string[]): Promise<unknown> {
    try {
      // a client of ioredis has a `sendCommand` too, for commands of another shape
      const answer = "call" in this.#client
        ? this.#client.call(command, ...args)
        : this.#client.sendCommand([command, ...args]);
      return await withTimeLimit(answer, this.#timeoutMs);
    } catch (error) {
      // the client's own error has the arguments, the verifier among them: its words alone are kept
      const cause = new Error(scrub(error instanceof Error ? error.message : "", args));
      throw new ServiceUnavailableException("Logins cannot be kept at the moment", { cause });
    }
  }
}

function isPendingLogin(value: unknown): value is PendingLogin {
  const { verifier, nonce = "", returnTo, browser, client } = (value ?? {}) as JsonObject;
  const texts = [verifier, nonce, returnTo, browser, client];
  return texts.every((text) => typeof text === "string");
}
