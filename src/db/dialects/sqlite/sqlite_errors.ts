/**
 * The meaning of SQLite's errors.
 *
 * @module
 */
import { DbError, type DbFailure, NO_COLUMN, NO_TABLE } from "../../errors.ts";
import { FILE_GONE } from "./sqlite_file.ts";

/** Extended result codes (https://sqlite.org/rescode.html). */
const BUSY_SNAPSHOT = 517;
const CHECK = 275;
const DATATYPE = 3091;
const FULL = 13;
const FOREIGN_KEYS: readonly number[] = [787, 1811];
const NOT_A_DATABASE = 26;
const NOT_NULL = 1299;
const UNIQUES: readonly number[] = [1555, 2067, 2579];

/** What a function of integers reports, with no code of its own. */
const OVERFLOW = "integer overflow";

/** Primary result codes: the low byte of an extended one. */
const BUSY_OR_LOCKED: readonly number[] = [5, 6];
const IO_ERROR_OR_CANNOT_OPEN: readonly number[] = [10, 14];
const READ_ONLY = 8;

/** Explains an error of a statement. */
export function explainSqliteError(error: unknown): DbFailure {
  const { code, errcode = 0, message = "" } = error as {
    code?: string;
    errcode?: number;
    message?: string;
  };
  if (code === FILE_GONE) {
    return { code: "ConnectionLost", reason: "its file was removed or replaced" };
  }
  if (code === "ERR_INVALID_STATE") return { code: "PoolClosed" };
  if (message.includes("no such table")) return NO_TABLE;
  if (/no such column|has no column named/.test(message)) return NO_COLUMN;
  if (errcode === 0) return explainMessage(message);
  if (message === OVERFLOW) return { code: "CheckViolation" };
  if (UNIQUES.includes(errcode)) return { code: "UniqueViolation", fields: columnsIn(message) };
  if (errcode === NOT_NULL) return { code: "NotNullViolation", fields: columnsIn(message) };
  if (FOREIGN_KEYS.includes(errcode)) return { code: "ForeignKeyViolation" };
  if (errcode === CHECK || errcode === DATATYPE) return { code: "CheckViolation" };
  if (errcode === BUSY_SNAPSHOT) return { code: "SerializationFailure" };
  if (BUSY_OR_LOCKED.includes(errcode & 0xff)) return { code: "PoolTimeout" };
  if (errcode === FULL) return { code: "DiskFull" };
  if ((errcode & 0xff) === READ_ONLY) return { code: "ReadOnly" };
  if (IO_ERROR_OR_CANNOT_OPEN.includes(errcode & 0xff)) return { code: "ConnectionLost" };
  return { code: "Database" };
}

/** Returns the error of opening a file; Deno has no result code if the file cannot be opened. */
export function openError(path: string, error: unknown): DbError {
  const { errcode } = error as { errcode?: number };
  const [code, reason] = errcode === NOT_A_DATABASE
    ? ["Database", "it is not a database"] as const
    : errcode !== undefined && BUSY_OR_LOCKED.includes(errcode & 0xff)
    ? ["PoolTimeout", "another process keeps it locked"] as const
    : ["ConnectionLost", "it cannot be read and written, or its directory is missing"] as const;
  // On Deno they end with the path.
  const words = error instanceof Error ? `: ${error.message.replace(`: ${path}`, "")}` : "";
  return new DbError(code, `Cannot open SQLite database ${path}: ${reason}${words}`, {
    cause: error,
  });
}

/** Explains an error by SQLite's message: other drivers have other codes, or none. */
function explainMessage(message: string): DbFailure {
  if (message.includes("UNIQUE constraint failed")) {
    return { code: "UniqueViolation", fields: columnsIn(message) };
  }
  if (message.includes("NOT NULL constraint failed")) {
    return { code: "NotNullViolation", fields: columnsIn(message) };
  }
  if (message.includes("FOREIGN KEY constraint failed")) return { code: "ForeignKeyViolation" };
  if (/CHECK constraint failed|cannot store \w+ value in/.test(message)) {
    return { code: "CheckViolation" };
  }
  if (message.includes(OVERFLOW)) return { code: "CheckViolation" };
  if (/database (table )?is locked/.test(message)) return { code: "PoolTimeout" };
  if (message.includes("database or disk is full")) return { code: "DiskFull" };
  if (message.includes("readonly database")) return { code: "ReadOnly" };
  if (message.includes("ransactions are not supported")) {
    return { code: "Database", reason: "the database has no transactions" };
  }
  return { code: "Database" };
}

/**
 * Reads "UNIQUE constraint failed: users.email, users.name"; an index on an expression
 * has no columns.
 */
function columnsIn(message: string): readonly string[] {
  return [...message.matchAll(/[:,] \w+\.(\w+)/g)].map(([, column = ""]) => column);
}
