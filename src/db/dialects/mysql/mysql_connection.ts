/**
 * A connection of `mysql2`, as Kysely uses it.
 *
 * @module
 */
import type { PoolConnection, QueryError, ResultSetHeader, RowDataPacket } from "mysql2";
import type { Readable } from "node:stream";
import { beginning } from "../../transaction/transaction_control.ts";
import { TransactionState } from "../../transaction/transaction_state.ts";
import { asText, FRESH, isOpenIn, isSpent, statusOf } from "./mysql_answer.ts";
import {
  dooms,
  type DuplicateKey,
  endsConnection,
  explainMysqlError,
  isDuplicate,
  isLockTimeout,
  keyIn,
} from "./mysql_errors.ts";
import { JointValues } from "./mysql_together.ts";

/** Definitions whose bodies are several statements; not all servers can prepare them. */
const PROGRAM =
  /^\s*create\s+(?:(?:or\s+replace|definer\s*=\s*\S+|aggregate)\s+)*(?:trigger|procedure|function|event)\b/i;

/**
 * MySQL would read a whole table to find a long list: by default, 8 MiB limit the ranges that it
 * looks up in an index.
 */
const RANGES = "$& /*+ SET_VAR(range_optimizer_max_mem_size = 0) */";

type StreamOptions = { readonly highWaterMark?: number };
type Values = Parameters<PoolConnection["execute"]>[1];
type Callback = (error: QueryError | null, result: unknown, fields?: readonly unknown[]) => void;

/** A statement, and its values. */
interface Sent {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** The answer to a statement; rows have no status of the session. */
interface Answer {
  readonly sql: string;
  readonly error: QueryError | null;
  readonly status: number | undefined;
}

const COLUMNS_OF_KEY = "select column_name as name from information_schema.statistics " +
  "where table_schema = database() and table_name = ? and index_name = ? order by seq_in_index";

/** Statements that leave the transaction open, also if they fail; most others commit it first. */
const STAYS_INSIDE = beginning(
  /(?:\(|(?:select|insert|update|delete|replace|with|savepoint|release|rollback)\b)/,
);

/** The longest SQL in characters that stays prepared: the driver and the server keep it. */
const MAX_PREPARED_LENGTH = 16_384;

/** Returns the error of a lost connection. */
export function lost(): QueryError {
  const error = new Error("the connection was lost");
  return Object.assign(error, { code: "PROTOCOL_CONNECTION_LOST", fatal: true });
}

/** Ends a connection; `isHung` if the server has not answered it. */
export type Abandon = (
  connection: PoolConnection,
  options: { readonly isHung: boolean },
) => void;

/**
 * A connection as Kysely uses it. Statements with values are prepared, but for those with lists. A
 * text that may be several statements is always prepared, which the server refuses: it could have
 * been injected. Only the body of a trigger, a procedure, a function or an event has parts.
 */
export class MysqlConnection {
  /** The settings of the driver. */
  readonly config: PoolConnection["config"];
  /** The number of the session on the server. */
  readonly threadId: number;
  readonly #connection: PoolConnection;
  readonly #abandon: Abandon;
  readonly #transaction = new TransactionState();
  #status = FRESH;
  #pending = 0;
  #isOver = false;

  /** Adapts a connection of the driver. */
  constructor(connection: PoolConnection, abandon: Abandon) {
    this.config = connection.config;
    this.threadId = connection.threadId ?? 0;
    this.#connection = connection;
    this.#abandon = abandon;
  }

  /** Runs a statement; without a callback, its rows can be streamed. */
  query(sql: string, given: readonly unknown[], callback?: Callback): unknown {
    const values = this.#transaction.before(sql, given) ? [] : given;
    if (!callback) {
      return { stream: (options: StreamOptions) => this.#stream({ sql, values }, options) };
    }
    this.#pending += 1;
    return this.#send({ sql, values }, (error, result, fields) => {
      this.#note(error, sql);
      if (!error && sql.length > MAX_PREPARED_LENGTH) this.#connection.unprepare(sql);
      const answer = { sql, error, status: statusOf(result, fields) };
      this.#settle(answer, (failure) => {
        this.#pending -= 1;
        callback(failure as QueryError | null, result);
      });
    });
  }

  /** Returns the connection to the pool, or ends it: the server rolls back what is left open. */
  release(): void {
    if (this.#isOver || isSpent(this.#status)) this.#abandon(this.#connection, { isHung: false });
    else this.#connection.release();
    this.#transaction.release();
  }

  /** Ends the connection. */
  destroy(): void {
    this.#abandon(this.#connection, { isHung: this.#pending > 0 });
  }

  #send({ sql, values }: Sent, callback: Callback): unknown {
    const [first] = values;
    if (first instanceof JointValues) return this.#sendJointly({ sql, joint: first }, callback);
    const isOne = !sql.includes(";") || PROGRAM.test(sql);
    const connection = this.#connection;
    if (values.some(Array.isArray)) {
      const text = connection.format(
        sql.replace(/^(?:select|update|delete)/, RANGES),
        values.map(untyped),
      );
      return isOne ? connection.query(asText(text), callback) : connection.execute(text, callback);
    }
    if (values.length === 0 && isOne) return connection.query(asText(sql), callback);
    return connection.execute(sql, values as Values, callback);
  }

  #sendJointly(
    { sql, joint }: { readonly sql: string; readonly joint: JointValues },
    callback: Callback,
  ): unknown {
    return this.#connection.query(asText(sql, joint.values.map(untyped)), (error, result) => {
      if (error) return callback(error, undefined);
      if (Array.isArray(result)) return callback(null, joint.resultsOf(result));
      this.#isOver = true; // the answer of another statement
      callback(lost(), undefined);
    });
  }

  /** Streams rows, and fails when the connection is lost, which the driver does not report. */
  #stream({ sql, values }: Sent, options: StreamOptions): Readable {
    const connection = this.#connection;
    const failing = Promise.withResolvers<Error>();
    const fail = (error = lost()) => failing.resolve(error);
    const settle = () => void connection.off("error", fail).off("end", fail);
    // A connection that is lost already emits the event at once.
    connection.on("error", fail).on("end", fail);
    const query = sql.includes(";")
      ? connection.execute(sql, [...values] as Values)
      : connection.query(asText(sql, [...values]));
    query.once("end", settle).once("error", (error: QueryError) => this.#note(error, sql));
    const stream = query.stream(options).once("close", settle);
    failing.promise.then((error) => stream.destroy(error));
    return stream;
  }

  #note(error: QueryError | null, sql: string): void {
    withoutValues(error, sql);
    if (error && endsConnection(error)) this.#isOver = true;
  }

  /** Completes the error of an answer, and checks that the transaction is still open. */
  #settle({ sql, error, status }: Answer, done: (failure: Error | null) => void): void {
    this.#status = status ?? this.#status;
    const settle = (isOpen: boolean) =>
      done(this.#transaction.after(isOpen, error ?? undefined) ?? error);
    const check = () => {
      if (this.#mayHaveEnded({ sql, error, status })) {
        this.#lookUpTransaction((lost, isOpen) => lost ? done(error ?? lost) : settle(isOpen));
      } else if (error) done(error);
      else settle(isOpenIn(this.#status));
    };
    if (isLockTimeout(error)) {
      this.#lookUpTransaction((_lost, isOpen) => {
        error.isTransactionOpen = isOpen;
        done(error);
      });
    } else if (isDuplicate(error)) this.#nameColumns({ sql, error }, check);
    else check();
  }

  /** Checks whether a statement may have ended the transaction, and its answer does not show it. */
  #mayHaveEnded({ sql, error, status }: Answer): boolean {
    if (!this.#transaction.isInside || STAYS_INSIDE.test(sql)) return false;
    return error ? !dooms(explainMysqlError(error)) : status === undefined;
  }

  /** Looks up the columns of a key: the error has only its name. */
  #nameColumns(
    { sql, error }: { readonly sql: string; readonly error: DuplicateKey },
    done: () => void,
  ): void {
    const [, table] =
      /^(?:start transaction; )?(?:insert(?: ignore)? into|update) `([^`]+)`/i.exec(sql) ?? [];
    const key = keyIn(error.message);
    if (table === undefined || key === undefined) return done();
    this.#connection.query<({ name: string | null } & RowDataPacket)[]>(
      COLUMNS_OF_KEY,
      [table, key],
      (failure, rows) => {
        if (!failure) error.fields = rows.flatMap(({ name }) => name ?? []);
        done();
      },
    );
  }

  /** Looks up whether the transaction is still open, in the state that an answer has. */
  #lookUpTransaction(found: (lost: QueryError | null, isOpen: boolean) => void): void {
    this.#connection.query<ResultSetHeader>(
      "do 0",
      (lost, result) => found(lost, !lost && isOpenIn(result.serverStatus)),
    );
  }
}

/** Replaces the SQL of an error by that without values: the error may be logged. */
function withoutValues(error: QueryError | null, sql: string): void {
  if (error && "sql" in error) error.sql = sql;
}

/** Returns a value, or a list of them, as the driver writes it into SQL: without its type. */
function untyped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(untyped);
  return typeof value === "object" && value !== null && "value" in value ? value.value : value;
}
