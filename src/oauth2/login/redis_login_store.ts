/**
 * A store of logins in Redis, for applications of several processes.
 *
 * @module
 */
import { ServiceUnavailableException } from "../../core/http/http_exception.ts";
import { MAX_DELAY_MS, withTimeLimit } from "../../platform/time_limit.ts";
import { type JsonObject, jsonObject } from "../../platform/json_object.ts";
import { checkNames, refusing } from "../../platform/option_names.ts";
import { RedisCommands } from "../../platform/redis_commands.ts";
import { scrub } from "../client/scrub.ts";
import type { LoginStore, PendingLogin, SaveLoginOptions } from "./login_store.ts";

/** The used part of a client of `ioredis`. */
export interface IoRedisClient {
  /** Sends a command. */
  call(command: string, ...args: string[]): Promise<unknown>;
}

/** The used part of a client of `redis` (node-redis). */
export interface NodeRedisClient {
  /** Sends a command. */
  sendCommand(args: string[]): Promise<unknown>;
}

/** Options of a {@linkcode RedisLoginStore}. */
export interface RedisLoginStoreOptions {
  /** The prefix of the keys, `fw:login` by default; a colon follows. */
  readonly prefix?: string;
  /** The time limit of a command in milliseconds; 5 000 by default. */
  readonly timeoutMs?: number;
}

/** The most pending commands: the client keeps those that have timed out while Redis is away. */
const MAX_PENDING = 1000;

/**
 * A store on a Redis client of the application (Redis 6.2 or newer), which it neither connects nor
 * closes. Redis removes expired logins. While Redis fails, or 1 000 commands are pending, its
 * methods throw a `ServiceUnavailableException` (503). A client without a listener of `error` gets
 * one that logs (category `fw`, `redis`): a client of node-redis would end the process.
 */
export class RedisLoginStore implements LoginStore {
  readonly #client: IoRedisClient | NodeRedisClient;
  readonly #commands: RedisCommands;
  readonly #prefix: string;
  readonly #timeoutMs: number;

  /**
   * Creates a store on a client.
   *
   * @throws {RangeError} if `timeoutMs` is not 1 to 2^31 - 1
   * @throws {TypeError} if an option is unknown
   */
  constructor(client: IoRedisClient | NodeRedisClient, options: RedisLoginStoreOptions = {}) {
    checkNames(options, { known: ["prefix", "timeoutMs"], refuse: refusing("keep logins") });
    const { prefix = "fw:login", timeoutMs = 5_000 } = options;
    if (!(timeoutMs >= 1 && timeoutMs <= MAX_DELAY_MS)) {
      throw new RangeError(`Cannot wait for Redis: ${timeoutMs} ms is not 1 to ${MAX_DELAY_MS}`);
    }
    this.#client = client;
    this.#commands = new RedisCommands(client, { maxPending: MAX_PENDING });
    this.#prefix = prefix;
    this.#timeoutMs = timeoutMs;
  }

  /** Stores a login for `ttlMs`. */
  async save(
    key: string,
    login: PendingLogin,
    { ttlMs }: SaveLoginOptions,
  ): Promise<void> {
    await this.#send("SET", this.#key(key), JSON.stringify(login), "PX", String(ttlMs));
  }

  /** Returns a login and removes it atomically; `undefined` if the value is not a login. */
  async take(key: string): Promise<PendingLogin | undefined> {
    const json = jsonObject(String(await this.#send("GETDEL", this.#key(key))));
    return isPendingLogin(json) ? json : undefined;
  }

  #key(key: string): string {
    return `${this.#prefix}:${key}`;
  }

  async #send(command: string, ...args: string[]): Promise<unknown> {
    try {
      // clients of ioredis also have `sendCommand`, with other arguments
      const client = this.#client;
      const answer = this.#commands.send(() =>
        "call" in client ? client.call(command, ...args) : client.sendCommand([command, ...args])
      );
      return await withTimeLimit(answer, this.#timeoutMs);
    } catch (error) {
      // the error of the client contains the arguments with the verifier: only its message is kept
      const cause = new Error(scrub(error instanceof Error ? error.message : "", args));
      throw new ServiceUnavailableException("Logins cannot be kept at the moment", { cause });
    }
  }
}

function isPendingLogin(value: unknown): value is PendingLogin {
  const { verifier, nonce = "", returnTo, client, maxAgeSeconds = 0, hostedDomain = "" } =
    (value ?? {}) as JsonObject;
  const texts = [verifier, nonce, returnTo, client, hostedDomain];
  return texts.every((text) => typeof text === "string") && typeof maxAgeSeconds === "number";
}
