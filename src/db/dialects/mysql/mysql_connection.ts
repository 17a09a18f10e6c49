/**
 * A connection of `mysql2`, as Kysely uses it.
 *
 * @module
 */
import type { MysqlPoolConnection } from "kysely";
import type { PoolConnection, QueryError, ResultSetHeader, RowDataPacket } from "mysql2";
import type { Readable } from "node:stream";
import type { TogetherOptions } from "../../connection/dialect.ts";
import type { Statement } from "../../connection/statement.ts";
import { beginning } from "../../transaction/transaction_control.ts";
import { TransactionState } from "../../transaction/transaction_state.ts";
import { lengthOf } from "./mysql.ts";
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

/** Definitions whose bodies are several statements; not all servers can prepare them. */
const PROGRAM =
  /^\s*create\s+(?:(?:or\s+replace|definer\s*=\s*\S+|aggregate)\s+)*(?:trigger|procedure|function|event)\b/i;

/**
 * MySQL would read a whole table to find a long list: by default, 8 MiB limit the ranges that it
 * looks up in an index.
 */
const RANGES = "$& /*+ SET_VAR(range_optimizer_max_mem_size = 0) */";

/** The most characters that statements run together may have: they are not prepared. */
const MAX_TOGETHER = 2 ** 16;

/** The values of several statements, which makes their SQL run as such. */
class JointValues {
  readonly values: readonly unknown[];
  readonly isWhole: boolean;

  constructor(values: readonly unknown[], isWhole: boolean) {
    this.values = values;
    this.isWhole = isWhole;
  }
}

/** Combines statements, whose values are written into their SQL. */
export function together(
  statements: readonly Statement[],
  { isWhole }: TogetherOptions,
): Statement | undefined {
  const values = statements.flatMap(({ parameters }) => parameters);
  const length = values.reduce<number>((sum, value) => sum + lengthOf(value), 0);
  if (length > MAX_TOGETHER) return undefined;
  const parts = statements.map(({ sql }) => sql);
  return {
    sql: (isWhole ? ["start transaction", ...parts, "commit"] : parts).join("; "),
    parameters: [new JointValues(values, isWhole)],
    reads: false,
  };
}

type StreamOptions = { readonly highWaterMark?: number };
type Values = Parameters<PoolConnection["execute"]>[1];
type Callback = (error: QueryError | null, result: unknown, fields?: readonly unknown[]) => void;
type Face = Pick<MysqlPoolConnection, "query" | "release" | "destroy" | "threadId" | "config">;

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
 * Adapts a connection to Kysely. Statements with values are prepared, but for those with lists. A
 * text that may be several statements is always prepared, which the server refuses: it could have
 * been injected. Only the body of a trigger, a procedure, a function or an event has parts.
 */
export function kyselyConnection(
  connection: PoolConnection,
  abandon: Abandon,
): MysqlPoolConnection {
  const transaction = new TransactionState();
  let status = FRESH;
  let pending = 0;
  let isOver = false;

  function query(sql: string, given: readonly unknown[], callback?: Callback): unknown {
    const values = transaction.before(sql, given) ? [] : given;
    if (!callback) return { stream: (options: StreamOptions) => streamed(sql, values, options) };
    pending += 1;
    const called: Callback = (error, result, fields) => {
      note(error, sql);
      if (!error && sql.length > MAX_PREPARED_LENGTH) connection.unprepare(sql);
      const done = (failure: Error | null = error) => {
        pending -= 1;
        callback(failure as QueryError | null, result);
      };
      if (isLockTimeout(error)) {
        return lookUpTransaction((_lost, isOpen) => {
          error.isTransactionOpen = isOpen;
          done();
        });
      }
      const settle = (isOpen: boolean) => done(transaction.after(isOpen, error ?? undefined));
      const check = () => {
        const reported = statusOf(result, fields);
        status = reported ?? status;
        const mayHaveEnded = transaction.isInside && !STAYS_INSIDE.test(sql);
        if (
          error
            ? mayHaveEnded && !dooms(explainMysqlError(error))
            : mayHaveEnded && reported === undefined
        ) {
          lookUpTransaction((lost, isOpen) => lost ? done(error ?? lost) : settle(isOpen));
        } else if (error) done();
        else settle(isOpenIn(status));
      };
      if (isDuplicate(error)) nameColumns(sql, error, check);
      else check();
    };
    const [first] = values;
    if (first instanceof JointValues) return jointly(sql, first, called);
    const isOne = !sql.includes(";") || PROGRAM.test(sql);
    if (values.some(Array.isArray)) {
      const text = connection.format(
        sql.replace(/^(?:select|update|delete)/, RANGES),
        values.map(untyped),
      );
      return isOne ? connection.query(asText(text), called) : connection.execute(text, called);
    }
    if (values.length === 0 && isOne) return connection.query(asText(sql), called);
    return connection.execute(sql, values as Values, called);
  }

  function jointly(sql: string, { values, isWhole }: JointValues, callback: Callback): unknown {
    return connection.query(asText(sql, values.map(untyped)), (error, result) => {
      if (error) return callback(error, undefined);
      if (!Array.isArray(result)) { // the answer of another statement
        isOver = true;
        return callback(lost(), undefined);
      }
      const results = result.map((it) => Array.isArray(it) ? it : [it]);
      callback(null, isWhole ? results.slice(1, -1) : results);
    });
  }

  /** Streams rows, and fails when the connection is lost, which the driver does not report. */
  function streamed(sql: string, values: readonly unknown[], options: StreamOptions): Readable {
    const failing = Promise.withResolvers<Error>();
    const fail = (error = lost()) => failing.resolve(error);
    const settle = () => void connection.off("error", fail).off("end", fail);
    // A connection that is lost already emits the event at once.
    connection.on("error", fail).on("end", fail);
    const query = sql.includes(";")
      ? connection.execute(sql, [...values] as Values)
      : connection.query(asText(sql, [...values]));
    query.once("end", settle).once("error", (error: QueryError) => note(error, sql));
    const stream = query.stream(options).once("close", settle);
    failing.promise.then((error) => stream.destroy(error));
    return stream;
  }

  function note(error: QueryError | null, sql: string): void {
    withoutValues(error, sql);
    if (error && endsConnection(error)) isOver = true;
  }

  /** Looks up the columns of a key: the error has only its name. */
  function nameColumns(sql: string, error: DuplicateKey, done: () => void): void {
    const [, table] =
      /^(?:start transaction; )?(?:insert(?: ignore)? into|update) `([^`]+)`/i.exec(sql) ?? [];
    const key = keyIn(error.message);
    if (table === undefined || key === undefined) return done();
    connection.query<({ name: string | null } & RowDataPacket)[]>(
      COLUMNS_OF_KEY,
      [table, key],
      (failure, rows) => {
        if (!failure) error.fields = rows.flatMap(({ name }) => name ?? []);
        done();
      },
    );
  }

  /** Looks up whether the transaction is still open, in the state that an answer has. */
  function lookUpTransaction(found: (lost: QueryError | null, isOpen: boolean) => void): void {
    connection.query<ResultSetHeader>(
      "do 0",
      (lost, result) => found(lost, !lost && isOpenIn(result.serverStatus)),
    );
  }

  function release(): void {
    // The server rolls back a transaction that its user has left open.
    if (isOver || isSpent(status)) {
      abandon(connection, { isHung: false });
    } else connection.release();
    transaction.release();
  }

  const face: Face = {
    config: connection.config,
    threadId: connection.threadId ?? 0,
    destroy: () => abandon(connection, { isHung: pending > 0 }),
    release,
    // Kysely's type is narrower than the driver's.
    query: query as MysqlPoolConnection["query"],
  };
  // Kysely uses only these members.
  return face as MysqlPoolConnection;
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
