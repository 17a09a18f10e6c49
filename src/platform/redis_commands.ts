/**
 * Commands to a Redis client of the application.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";

/** Options of {@linkcode RedisCommands}. */
export interface RedisCommandsOptions {
  /** The most commands that are pending at a time. */
  readonly maxPending: number;
}

/**
 * Sends commands by a client. While Redis is away, the client keeps commands, also those whose
 * callers no longer wait: at most `maxPending` are pending.
 *
 * A client without a listener of errors gets one that logs them (category `fw`, `redis`): without
 * one, a client of node-redis ends the process when it loses its connection.
 */
export class RedisCommands {
  readonly #maxPending: number;
  #pending = 0;

  /** Listens to the errors of the client, if nothing does. */
  constructor(client: object, { maxPending }: RedisCommandsOptions) {
    this.#maxPending = maxPending;
    logErrors(client);
  }

  /**
   * Sends a command, and returns its answer.
   *
   * @throws {Error} if too many are pending, or as the client does
   */
  async send<T>(command: () => Promise<T>): Promise<T> {
    if (this.#pending >= this.#maxPending) {
      throw new Error(`Cannot send to Redis: ${this.#pending} commands are pending`);
    }
    this.#pending++;
    try {
      return await command();
    } finally {
      this.#pending--;
    }
  }
}

/** The used part of an `EventEmitter`. */
interface Emitter {
  listenerCount(event: string): number;
  on(event: string, listener: (error: unknown) => void): unknown;
}

function isEmitter(client: object): client is Emitter {
  return "on" in client && typeof client.on === "function" &&
    "listenerCount" in client && typeof client.listenerCount === "function";
}

function logErrors(client: object): void {
  if (!isEmitter(client) || client.listenerCount("error") > 0) return;
  client.on("error", (error: unknown) => {
    // the error of a command has its arguments: only the message is logged
    const reason = error instanceof Error ? error.message : String(error);
    getLogger(["fw", "redis"]).warn("The Redis client failed: {reason}", { reason });
  });
}
