/**
 * Idempotency keys, and the answers to their requests, in a table of the application's database.
 *
 * @module
 */
import { ConflictException, UnprocessableEntityException } from "../../core/http/http_exception.ts";
import type { DbConnection } from "../../db/connection/connection.ts";
import { DbError } from "../../db/errors.ts";
import type { Row } from "../../db/model/row.ts";
import type { Table } from "../../db/query/table.ts";
import { Repository } from "../../db/repository.ts";
import type { IdempotencyKeyModel } from "./key_table.ts";
import { lookUp } from "./key_lookup.ts";
import type { KeyedRequest } from "./keyed_request.ts";
import type { StoredAnswer } from "./stored_answer.ts";

/** The answer to a request. */
export interface OnceAnswered {
  /** The answer. */
  readonly answer: StoredAnswer;
  /** Whether it is the answer to an earlier request. */
  readonly isReplayed: boolean;
}

/** A request with a key, and how it is answered. */
interface Attempt {
  readonly request: KeyedRequest;
  readonly run: () => Promise<StoredAnswer>;
  /** The time of the database when the key was looked up, in milliseconds since 1970. */
  readonly now: number;
}

/** How many times a key is looked up whose row others insert or remove meanwhile. */
const MAX_LOOKUPS = 5;
/** The number of new keys after which expired ones are removed. */
const KEYS_PER_PURGE = 100;
/** The largest number of expired keys that are removed at a time. */
const PURGED_KEYS = 1000;
/** The retries of a statement that deadlocks with those of others. */
const RETRIES = 5;

/**
 * Stores keys in a table. A request first inserts the row of its key by a statement of its own,
 * then locks it for the transaction that has its effect and its answer. Another request finds the
 * row locked, and does not wait. If the process is killed, the database ends the lock and leaves a
 * row without an answer, which the next request with the key takes over.
 *
 * Keys expire by the time of the database, which comes with each lookup: it is the same in all
 * processes.
 *
 * The lock is by the primary key, and an insert fails by the unique key: on MySQL, it would wait
 * for a lock by the unique key.
 */
export class KeyStore {
  readonly #table: Table;
  readonly #keys: Repository<IdempotencyKeyModel>;
  readonly #connection: DbConnection;
  readonly #keepMs: number;
  #inserted = 0;

  /** Uses a table. */
  constructor(table: Table, { keepMs }: { readonly keepMs: number }) {
    this.#table = table;
    this.#keys = new Repository<IdempotencyKeyModel>(table);
    this.#connection = table.connection;
    this.#keepMs = keepMs;
  }

  /**
   * Returns the answer to the earlier request with the key, or else runs a function in a
   * transaction that stores its answer.
   *
   * @throws {HttpException} 422 if the key was used for another request, 409 if a request with the
   * key runs
   * @throws {DbError} if the database fails; and the error of the function, which rolls the
   * transaction back, so that the key can be used again
   */
  async once(
    request: KeyedRequest,
    run: () => Promise<StoredAnswer>,
  ): Promise<OnceAnswered> {
    if (this.#connection.isInTransaction) {
      throw new TypeError("Cannot answer an idempotent request: a transaction is open around it");
    }
    for (let lookups = 0; lookups < MAX_LOOKUPS; lookups++) {
      const { row, now } = await lookUp(this.#table, request.id);
      const attempt = { request, run, now };
      const replay = this.#replay(row, attempt);
      if (replay) return replay;
      const seq = row?.seq ?? await this.#insert(request.id, now);
      const answered = seq === undefined ? undefined : await this.#runLocked(seq, attempt);
      if (answered) return answered;
    }
    throw isRunning();
  }

  /** Runs the function while the row is locked; returns `undefined` if it was removed. */
  async #runLocked(
    seq: number,
    attempt: Attempt,
  ): Promise<OnceAnswered | undefined> {
    const { request: { fingerprint }, run, now } = attempt;
    let hasRun = false;
    try {
      return await this.#connection.transaction(async () => {
        const where = { seq };
        const row = await this.#keys.findUnique({ where, lock: "update", skipLocked: true });
        if (!row) {
          if (await this.#keys.exists({ where })) throw isRunning();
          return undefined;
        }
        const replay = this.#replay(row, attempt);
        if (replay) return replay;
        hasRun = true;
        const answer = await run();
        const { status, headers, body } = answer;
        const stored = headers.map(([name, value]) => [name, value]);
        const data = { fingerprint, status, headers: stored, body, expires_at: this.#expiry(now) };
        await this.#keys.updateMany({ where, data });
        return { answer, isReplayed: false };
      });
    } catch (error) {
      if (hasRun) await this.#release(seq).catch(() => {}); // the first error is the cause
      throw error;
    }
  }

  /** Returns the stored answer of a row, unless it has none or has expired. */
  #replay(
    row: Row<IdempotencyKeyModel> | null,
    { request: { fingerprint }, now }: Attempt,
  ): OnceAnswered | undefined {
    if (!row || row.status === null || row.expires_at.getTime() <= now) return undefined;
    if (row.fingerprint !== fingerprint) {
      throw new UnprocessableEntityException(
        "The Idempotency-Key was used for another request; a new request needs a new key",
      );
    }
    const { status, body } = row;
    const headers = row.headers as unknown as StoredAnswer["headers"]; // as `#runLocked` stores them
    return { answer: { status, headers, body: body ?? new Uint8Array() }, isReplayed: true };
  }

  /** Inserts the row of a key, and returns its number; `undefined` if another request has. */
  async #insert(id: string, now: number): Promise<number | undefined> {
    if (this.#inserted++ % KEYS_PER_PURGE === 0) await this.#purge(now);
    try {
      const { seq } = await this.#keys.create({ data: { id, expires_at: this.#expiry(now) } });
      return seq;
    } catch (error) {
      const isTaken = error instanceof DbError &&
        (error.code === "UniqueViolation" || error.code === "SerializationFailure");
      if (isTaken) return undefined;
      throw error;
    }
  }

  /** Removes the row of a request that has failed, unless another request has taken it over. */
  async #release(seq: number): Promise<void> {
    await this.#remove({ where: { seq, status: null }, take: 1 });
  }

  async #purge(now: number): Promise<void> {
    await this.#remove({ where: { expires_at: { lte: new Date(now) } }, take: PURGED_KEYS });
  }

  /** Removes rows that nobody has locked. */
  async #remove(
    { where, take }: {
      readonly where: { readonly seq: number; readonly status: null } | {
        readonly expires_at: { readonly lte: Date };
      };
      readonly take: number;
    },
  ): Promise<void> {
    await this.#connection.transaction(async () => {
      const rows = await this.#keys.findMany({
        where,
        orderBy: { expires_at: "asc" },
        select: { seq: true },
        take,
        lock: "update",
        skipLocked: true,
      });
      if (rows.length === 0) return;
      await this.#keys.deleteMany({ where: { seq: { in: rows.map(({ seq }) => seq) } } });
    }, { isolation: "read committed", retries: RETRIES });
  }

  #expiry(now: number): Date {
    return new Date(now + this.#keepMs);
  }
}

/** Returns the error of a request whose key belongs to one that runs. */
export function isRunning(): ConflictException {
  return new ConflictException("A request with this Idempotency-Key runs; repeat it later", {
    headers: { "retry-after": "1" },
  });
}
