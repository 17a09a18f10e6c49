/**
 * The connection of an open transaction.
 *
 * @module
 */
import { CompiledQuery, type DatabaseConnection, type QueryResult } from "kysely";
import { DbError, dbError, type DbErrorCode, type DbFailure } from "../errors.ts";

/** A point of a transaction to go back to. */
export interface Savepoint {
  /** Its name in SQL. */
  readonly name: string;
  /** What had doomed the transaction before. */
  readonly doom: Doom | undefined;
}

/** Why a transaction cannot be committed. */
interface Doom {
  readonly code: DbErrorCode;
  readonly error: unknown;
}

/** What errors mean. */
export interface FailureRules {
  /** Says what an error of a statement means. */
  readonly explain: (error: unknown) => DbFailure;
  /** Tells whether a failed statement dooms its transaction. */
  readonly dooms: (failure: DbFailure) => boolean;
}

/** The failures that the same transaction might not meet again. */
const PASSING: readonly DbErrorCode[] = ["SerializationFailure", "ConnectionLost", "PoolTimeout"];

/** The connection of an open transaction. */
export class TransactionConnection {
  readonly #connection: DatabaseConnection;
  readonly #explain: (error: unknown) => DbFailure;
  readonly #dooms: (failure: DbFailure) => boolean;
  #doom: Doom | undefined;
  #savepoints = 0;

  /** Takes over a connection with an open transaction, and what tells what an error means. */
  constructor(connection: DatabaseConnection, { explain, dooms }: FailureRules) {
    this.#connection = connection;
    this.#explain = explain;
    this.#dooms = dooms;
  }

  /**
   * Refuses to go on after a failure that dooms the transaction. The database would roll it back in
   * silence when it is to be committed, or by then have forgotten that there is one.
   *
   * @throws {DbError} with the failure as its cause; `Database`, unless to begin anew may help
   */
  checkNotDoomed(action: string): void {
    if (!this.#doom) return;
    const { code, error } = this.#doom;
    const message = `Cannot ${action}: an earlier statement of its transaction failed`;
    throw new DbError(code, message, { cause: error });
  }

  /** Runs a query. */
  run<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.noting(() => this.#connection.executeQuery<R>(query));
  }

  /** Runs a query and gives its rows in chunks. */
  async *stream<R>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<R>> {
    try {
      yield* this.#connection.streamQuery<R>(query, chunkSize);
    } catch (error) {
      throw this.#note(error);
    }
  }

  /** Runs something on the connection, and notes if it fails. */
  async noting<T>(run: () => T | Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw this.#note(error);
    }
  }

  /** Sets a savepoint. */
  async savepoint(): Promise<Savepoint> {
    const savepoint = { name: `fw_${++this.#savepoints}`, doom: this.#doom };
    await this.run(CompiledQuery.raw(`savepoint ${savepoint.name}`));
    return savepoint;
  }

  /** Keeps what was done since a savepoint. */
  async release({ name }: Savepoint): Promise<void> {
    await this.run(CompiledQuery.raw(`release savepoint ${name}`));
  }

  /** Undoes what was done since a savepoint, failures included. */
  async rollBackTo(savepoint: Savepoint): Promise<void> {
    await this.run(CompiledQuery.raw(`rollback to savepoint ${savepoint.name}`));
    this.#doom = savepoint.doom;
    await this.release(savepoint);
  }

  /** Takes note that what doomed the transaction was undone by a savepoint that others set. */
  revive(): void {
    this.#doom = undefined;
  }

  #note(error: unknown): unknown {
    const failure = this.#explain(error);
    if (!this.#doom && this.#dooms(failure)) {
      this.#doom = { code: PASSING.includes(failure.code) ? failure.code : "Database", error };
    }
    return error;
  }
}

/** Words an error of a query of Kysely's; what is wrong with the query itself stays as it is. */
export function queryError(error: unknown, { explain }: FailureRules): unknown {
  if (error instanceof DbError || error instanceof TypeError) return error;
  return dbError("run query", explain(error), error);
}
