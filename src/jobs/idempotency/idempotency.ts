/**
 * Answers the requests of routes with `idempotent`.
 *
 * @module
 */
import type { Context } from "../../core/http/context.ts";
import { answersOnce, type IdempotencyStore } from "../../core/module/idempotent_routes.ts";
import { isLate } from "../../core/route/responder.ts";
import type { AnswerOnce, Handle } from "../../core/route/route_handler.ts";
import { databaseIn, type JobsDatabaseKey, tableOf } from "../database.ts";
import type { IdempotencyOptions } from "./idempotency_options.ts";
import { keyedRequest } from "./keyed_request.ts";
import { isRunning, KeyStore } from "./key_store.ts";
import { KEY_TABLE } from "./key_table.ts";
import { responseOf, storedAnswer } from "./stored_answer.ts";

/** A route, and what answers its requests. */
interface Answering {
  readonly route: string;
  readonly keys: KeyStore;
  readonly answer: Handle;
}

/** Rolls back the transaction of a request whose answer is not stored. */
class NotStored extends Error {
  readonly response: Response;

  constructor(response: Response) {
    super("The answer is not stored");
    this.response = response;
  }
}

/** Answers the requests of routes with `idempotent`: provided by `JobsModule`. */
export class Idempotency implements IdempotencyStore {
  readonly #key: JobsDatabaseKey;
  readonly #options: Required<IdempotencyOptions>;
  /** The digests of the keys whose requests run in this process. */
  readonly #running = new Set<string>();
  #keys: KeyStore | undefined;

  /** Stores answers in a database. */
  constructor(key: JobsDatabaseKey, options: Required<IdempotencyOptions>) {
    this.#key = key;
    this.#options = options;
  }

  /**
   * Finds the table among those of the database, if it has it.
   *
   * @throws {TypeError} if no module provides the database
   */
  onModuleInit(instances: readonly object[] = []): void {
    const db = databaseIn(instances, { key: this.#key, action: "use jobs" });
    const table = tableOf(db, KEY_TABLE);
    if (table) this.#keys = new KeyStore(table, this.#options);
  }

  /**
   * Returns what answers the requests of a route.
   *
   * @throws {TypeError} if the database lacks the table
   */
  [answersOnce](route: string): AnswerOnce {
    const keys = this.#keys;
    if (keys) return (c, answer) => this.#answer(c, { route, keys, answer });
    throw new TypeError(
      `Cannot mount ${route}: it is idempotent, but ${this.#key.name} lacks the table of keys; ` +
        "add ...idempotencyTables to its models",
    );
  }

  async #answer(c: Context, { route, keys, answer }: Answering): Promise<Response> {
    const { tenant, maxAnswerBytes: maxBytes } = this.#options;
    const request = await keyedRequest(c, { route, tenant });
    if (this.#running.has(request.id)) throw isRunning();
    // prepares headers: without them, c.text leaves its type to the runtime, and Bun's is invisible
    c.header("content-type", undefined);
    const before = c.body(null).headers;
    let cookies: readonly string[] = [];
    this.#running.add(request.id);
    try {
      const { answer: stored, isReplayed } = await keys.once(request, async () => {
        const response = await answer(c);
        if (response.status >= 500 || isLate(c)) throw new NotStored(response);
        cookies = response.headers.getSetCookie();
        return await storedAnswer(response, { before, maxBytes, route });
      });
      const response = responseOf(stored, before);
      const known = before.getSetCookie();
      for (const cookie of cookies) {
        if (!known.includes(cookie)) response.headers.append("set-cookie", cookie);
      }
      if (isReplayed) response.headers.set("idempotency-replayed", "true");
      return response;
    } catch (error) {
      if (error instanceof NotStored) return error.response;
      throw error;
    } finally {
      this.#running.delete(request.id);
    }
  }
}
