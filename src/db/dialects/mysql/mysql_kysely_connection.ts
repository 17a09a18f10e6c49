/**
 * A connection of `mysql2`, as Kysely sees it.
 *
 * @module
 */
import type { MysqlPoolConnection } from "kysely";
import type { PoolConnection, QueryError, RowDataPacket } from "mysql2";
import type { Readable } from "node:stream";
import { lost } from "./mysql_pool.ts";
import { type DuplicateKey, isDuplicate, keyIn } from "./mysql_errors.ts";

type StreamOptions = { readonly highWaterMark?: number };
type Values = Parameters<PoolConnection["execute"]>[1];
type Callback = (error: QueryError | null, result: unknown) => void;
type Face = Pick<MysqlPoolConnection, "query" | "release" | "destroy" | "threadId" | "config">;

const COLUMNS_OF_KEY = "select column_name as name from information_schema.statistics " +
  "where table_schema = database() and table_name = ? and index_name = ? order by seq_in_index";

/** Gives a connection the face that Kysely knows. Statements with values are prepared. */
export function kyselyConnection(connection: PoolConnection): MysqlPoolConnection {
  function query(sql: string, values: readonly unknown[], callback?: Callback): unknown {
    if (!callback) return { stream: (options: StreamOptions) => streamed(sql, values, options) };
    const called: Callback = (error, result) => {
      if (isDuplicate(error)) nameColumns(sql, error, () => callback(error, result));
      else callback(error, result);
    };
    return values.length > 0
      ? connection.execute(sql, values as Values, called)
      : connection.query(sql, called);
  }

  /** The driver does not tell a stream that the connection was lost. */
  function streamed(sql: string, values: readonly unknown[], options: StreamOptions): Readable {
    const failing = Promise.withResolvers<Error>();
    const fail = (error = lost()) => failing.resolve(error);
    const settle = () => void connection.off("error", fail).off("end", fail);
    // If it is lost already, it tells so at once.
    connection.on("error", fail).on("end", fail);
    const query = connection.query(sql, [...values]);
    query.once("end", settle);
    const stream = query.stream(options).once("close", settle);
    failing.promise.then((error) => stream.destroy(error));
    return stream;
  }

  /** The database tells the name of the key only. */
  function nameColumns(sql: string, error: DuplicateKey, done: () => void): void {
    const [, table] = /^(?:insert(?: ignore)? into|update) `([^`]+)`/i.exec(sql) ?? [];
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

  const face: Face = {
    config: connection.config,
    threadId: connection.threadId ?? 0,
    destroy: () => connection.destroy(),
    release: () => connection.release(),
    // Kysely's type of it knows less of what the driver takes and gives.
    query: query as MysqlPoolConnection["query"],
  };
  // These are the members that Kysely uses.
  return face as MysqlPoolConnection;
}
