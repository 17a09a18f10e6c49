/**
 * The meaning of MySQL's errors.
 *
 * @module
 */
import { type DbErrorCode, type DbFailure, LOCKED, NO_COLUMN, NO_TABLE } from "../../errors.ts";
import { isOutOfReach } from "../server/open_server.ts";

/** Error numbers (MySQL Error Message Reference), and those of MariaDB. */
const NUMBERS: Readonly<Record<number, DbErrorCode>> = {
  1062: "UniqueViolation",
  1169: "UniqueViolation",
  1586: "UniqueViolation",
  1216: "ForeignKeyViolation",
  1217: "ForeignKeyViolation",
  1451: "ForeignKeyViolation",
  1452: "ForeignKeyViolation",
  1048: "NotNullViolation",
  1364: "NotNullViolation",
  1264: "CheckViolation",
  1265: "CheckViolation",
  1292: "CheckViolation",
  1366: "CheckViolation",
  1406: "CheckViolation",
  1690: "CheckViolation",
  3140: "CheckViolation",
  3141: "CheckViolation",
  3157: "CheckViolation",
  3819: "CheckViolation",
  4025: "CheckViolation",
  1020: "SerializationFailure",
  1213: "SerializationFailure",
  3101: "SerializationFailure",
  1317: "StatementTimeout",
  1969: "StatementTimeout",
  3024: "StatementTimeout",
  1021: "DiskFull",
  1114: "DiskFull",
  1036: "ReadOnly",
  1792: "ReadOnly",
  1836: "ReadOnly",
  1040: "ConnectionLost",
  1044: "ConnectionLost",
  1045: "ConnectionLost",
  1049: "ConnectionLost",
  1698: "ConnectionLost",
  1053: "ConnectionLost",
  1077: "ConnectionLost",
  1129: "ConnectionLost",
  1152: "ConnectionLost",
  1158: "ConnectionLost",
  1159: "ConnectionLost",
  1160: "ConnectionLost",
  1161: "ConnectionLost",
  1184: "ConnectionLost",
  1203: "ConnectionLost",
  1226: "ConnectionLost",
  1862: "ConnectionLost",
  1927: "ConnectionLost",
  3032: "ConnectionLost",
  3118: "ConnectionLost",
  3168: "ConnectionLost",
  3169: "ConnectionLost",
  3955: "ConnectionLost",
  4031: "ConnectionLost",
};

/**
 * A lock takes too long or, on MariaDB, is not waited for: rolls back the transaction if the server
 * has the option `innodb_rollback_on_timeout`.
 */
const LOCK_TIMEOUT = 1205;
/** A lock is not waited for. */
const LOCK_NOWAIT = 3572;
/** The server has no memory for more locks, and rolls back the transaction. */
const TOO_MANY_LOCKS = 1206;
/** Codes of the driver. */
const LOSSES: readonly string[] = ["PROTOCOL_CONNECTION_LOST", "PROTOCOL_SEQUENCE_TIMEOUT"];
/** ENOSPC of POSIX, which other errors of files and of the storage engine quote. */
const NO_SPACE = /(?:errno|errcode|error):? 28\b/i;
const DUPLICATE = 1062;
/** A statement is larger than the server's `max_allowed_packet`. */
const TOO_LARGE = 1153;
/** What an option of the server prevents, such as `--super-read-only`. */
const PREVENTED = 1290;

/** The error of a duplicate key, and its columns, if they were looked up. */
export interface DuplicateKey extends Error {
  fields?: readonly string[];
}

/** The error of a lock that takes too long. */
export interface LockTimeout extends Error {
  /** Whether the transaction is still open, if that was looked up. */
  isTransactionOpen?: boolean;
}

/** Checks whether an error is that of a lock that takes too long. */
export function isLockTimeout(error: unknown): error is LockTimeout {
  return error instanceof Error && errnoOf(error) === LOCK_TIMEOUT;
}

/** Checks whether an error is that of a duplicate key. */
export function isDuplicate(error: unknown): error is DuplicateKey {
  return error instanceof Error && errnoOf(error) === DUPLICATE;
}

/**
 * Checks whether a connection is to be closed after an error: the server has closed it, as after a
 * statement that is too large, or is read-only, and may have been replaced by another.
 */
export function endsConnection(error: unknown): boolean {
  return errnoOf(error) === TOO_LARGE || explainMysqlError(error).code === "ReadOnly";
}

/**
 * Checks whether a failure has ended the transaction: later statements would run outside one. A
 * deadlock rolls it back.
 */
export function dooms({ code, endsTransaction = false }: DbFailure): boolean {
  return endsTransaction || code === "SerializationFailure" || code === "ConnectionLost";
}

/** Explains an error of a statement or a connection. */
export function explainMysqlError(error: unknown): DbFailure {
  const { code, errno = 0, message = "", fatal } = error as {
    code?: string;
    errno?: number;
    message?: string;
    fatal?: boolean;
  };
  if (message === "Pool is closed.") return { code: "PoolClosed" };
  if (errno === 1146) return NO_TABLE;
  if (errno === 1054) return NO_COLUMN;
  if (errno === LOCK_NOWAIT) return LOCKED;
  if (errno === LOCK_TIMEOUT) {
    return { ...LOCKED, endsTransaction: !(error as LockTimeout).isTransactionOpen };
  }
  if (errno === TOO_MANY_LOCKS) return { code: "Database", endsTransaction: true };
  const kind = NUMBERS[errno];
  if (isDuplicate(error)) return { code: "UniqueViolation", fields: columnsOf(error) };
  if (kind === "NotNullViolation") return { code: kind, fields: columnIn(message) };
  if (kind) return { code: kind };
  if (errno === TOO_LARGE) {
    return { code: "CheckViolation", reason: "it is larger than the database accepts" };
  }
  if (errno === PREVENTED && message.includes("read-only")) return { code: "ReadOnly" };
  if (NO_SPACE.test(message)) return { code: "DiskFull" };
  const isLost = fatal === true || LOSSES.includes(String(code)) || isOutOfReach(error) ||
    message.includes("in closed state");
  return { code: isLost ? "ConnectionLost" : "Database" };
}

/** Reads the name of the key in `Duplicate entry '…' for key 'users.email'`. */
export function keyIn(message: string): string | undefined {
  return /for key '(?:[^'.]+\.)?([^'.]+)'$/.exec(message)?.[1];
}

function errnoOf(error: unknown): unknown {
  return (error as { errno?: unknown }).errno;
}

/** The key of a unique column has the column's name, unless it was named explicitly. */
function columnsOf({ fields, message }: DuplicateKey): readonly string[] {
  const key = keyIn(message);
  return fields ?? (key === undefined || key === "PRIMARY" ? [] : [key]);
}

/** Reads `Column 'name' cannot be null`, and `Field 'name' doesn't have a default value`. */
function columnIn(message: string): readonly string[] {
  const [, column] = /^\w+ '([^']+)'/.exec(message) ?? [];
  return column === undefined ? [] : [column];
}
