/**
 * The errors of the data layer, and their HTTP status.
 *
 * @module
 */

/** Why an operation failed; each code is one HTTP status. */
export type DbErrorCode =
  | "RowNotFound"
  | "Conflict"
  | "UniqueViolation"
  | "ForeignKeyViolation"
  | "NotNullViolation"
  | "CheckViolation"
  | "InvalidCursor"
  | "SerializationFailure"
  | "StatementTimeout"
  | "PoolTimeout"
  | "PoolClosed"
  | "ConnectionLost"
  | "DiskFull"
  | "ReadOnly"
  | "Database";

/** The data of a {@linkcode DbError} beside its code and message. */
export interface DbErrorOptions {
  /** The columns in error, where the database names them. */
  readonly fields?: readonly string[];
  /** The driver's error, for the log. */
  readonly cause?: unknown;
}

/** The meaning of a driver's error. */
export interface DbFailure {
  /** What kind of failure it is. */
  readonly code: DbErrorCode;
  /** The columns in error, where the database names them. */
  readonly fields?: readonly string[];
  /** A reason that a client may read, if it is more specific than the code. */
  readonly reason?: string | undefined;
  /** Whether the server has rolled back the transaction, or may have done so. */
  readonly endsTransaction?: boolean;
}

/** Another transaction has locked what it needs. */
export const LOCKED: DbFailure = { code: "PoolTimeout", reason: "another transaction locks it" };
/** The table of a model is missing. */
export const NO_TABLE: DbFailure = { code: "Database", reason: "its table is missing" };
/** The table of a model lacks a column. */
export const NO_COLUMN: DbFailure = { code: "Database", reason: "its table lacks a column" };

const HTTP_STATUSES: Readonly<Record<DbErrorCode, number>> = {
  RowNotFound: 404,
  Conflict: 409,
  UniqueViolation: 409,
  ForeignKeyViolation: 409,
  NotNullViolation: 422,
  CheckViolation: 422,
  InvalidCursor: 400,
  SerializationFailure: 409,
  StatementTimeout: 503,
  PoolTimeout: 503,
  PoolClosed: 503,
  ConnectionLost: 503,
  DiskFull: 503,
  ReadOnly: 503,
  Database: 500,
};

const REASONS: Readonly<Record<DbErrorCode, (subject: string) => string>> = {
  RowNotFound: () => "there is no such row",
  Conflict: () => "the row has another version",
  UniqueViolation: (subject) => `${subject} is already taken`,
  ForeignKeyViolation: () => "it refers to a row that does not exist, or is still referred to",
  NotNullViolation: (subject) => `${subject} is missing`,
  CheckViolation: (subject) => `${subject} is not allowed`,
  InvalidCursor: () => "the cursor is invalid, or that of another query",
  SerializationFailure: () => "a concurrent change came first",
  StatementTimeout: () => "it took too long",
  PoolTimeout: () => "the database was busy for too long",
  PoolClosed: () => "the database is closed",
  ConnectionLost: () => "the database is out of reach",
  DiskFull: () => "the database has no space left",
  ReadOnly: () => "the database is read-only",
  Database: () => "the database failed",
};

/**
 * A failed operation. A client may read the message: it contains no SQL, no values and no text of
 * the driver; those are in `cause`. Only the message of a failure to open may quote the server.
 * `HttpException.from` sets its status.
 *
 * @example
 * ```ts
 * import { DbError } from "@fw/fw/db";
 *
 * function isTaken(error: unknown): boolean {
 *   return error instanceof DbError && error.code === "UniqueViolation";
 * }
 * ```
 */
export class DbError extends Error {
  /** Always `"DbError"`. */
  override readonly name = "DbError";
  /** Why the operation failed. */
  readonly code: DbErrorCode;
  /** The status of an HTTP response to it. */
  readonly httpStatus: number;
  /** The columns in error, such as `["email"]` of a `UniqueViolation`; empty where unknown. */
  readonly fields: readonly string[];

  /** Creates an error; a client may read the message. */
  constructor(code: DbErrorCode, message: string, options: DbErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.httpStatus = HTTP_STATUSES[code];
    this.fields = options.fields ?? [];
  }
}

/** Returns the error of a failure; the action `"create users"` becomes "Cannot create users: …". */
export function dbError(action: string, failure: DbFailure, cause?: unknown): DbError {
  const { code, fields = [], reason } = failure;
  const subject = fields.length === 0 ? "a value" : `the value of ${fields.join(", ")}`;
  const message = `Cannot ${action}: ${reason ?? REASONS[code](subject)}`;
  return new DbError(code, message, cause === undefined ? { fields } : { fields, cause });
}

/** An action, and the meaning of its errors. */
export interface ExplainingOptions {
  /** The action, for the error message: `"begin transaction"`. */
  readonly action: string;
  /** Explains an error. */
  readonly explain: (error: unknown) => DbFailure;
}

/**
 * Calls the driver, and explains its errors.
 *
 * @throws {DbError} if it fails
 */
export async function explaining<T>(
  work: () => Promise<T>,
  { action, explain }: ExplainingOptions,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw dbError(action, explain(error), error);
  }
}
