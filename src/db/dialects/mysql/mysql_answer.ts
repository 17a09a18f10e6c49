/**
 * What the answers of MySQL have, and how they are read.
 *
 * @module
 */
import type {
  QueryOptions,
  QueryValues,
  ResultSetHeader,
  TypeCastField,
  TypeCastNext,
} from "mysql2";

/** Flags in the state of a session (`SERVER_STATUS_IN_TRANS` and `SERVER_STATUS_AUTOCOMMIT`). */
const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

/** The state of a new session. */
export const FRESH: number = AUTOCOMMIT;

/** Checks whether a transaction is open in a session, by its state. */
export function isOpenIn(status: number): boolean {
  return (status & IN_TRANSACTION) !== 0;
}

/** Checks whether the next user of a session could be part of a transaction of this one. */
export function isSpent(status: number): boolean {
  return isOpenIn(status) || (status & AUTOCOMMIT) === 0;
}

/**
 * Returns the state of the session after a statement: that of its result, or of its last one. Rows
 * have none.
 */
export function statusOf(
  result: unknown,
  fields: readonly unknown[] | undefined,
): number | undefined {
  const last = Array.isArray(result) && fields?.at(-1) === undefined ? result.at(-1) : result;
  return Array.isArray(last) || !last ? undefined : (last as ResultSetHeader).serverStatus;
}

/** Returns the options of a statement that is not prepared, whose answer is text. */
export function asText(sql: string, values?: readonly unknown[]): QueryOptions {
  return { sql, typeCast: castDouble, ...values && { values: values as QueryValues } };
}

/** Reads a double exactly: the driver computes short ones with errors of rounding. */
function castDouble(field: TypeCastField, next: TypeCastNext): unknown {
  if (field.type !== "DOUBLE") return next();
  const text = field.string();
  return text === null ? null : Number(text);
}
