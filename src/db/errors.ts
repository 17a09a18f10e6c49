/**
 * What can go wrong in the data layer, and the HTTP status it means.
 *
 * @module
 */

/** Why an operation failed; each code is one HTTP status. */
export type DbErrorCode =
  | "RowNotFound"
  | "UniqueViolation"
  | "ForeignKeyViolation"
  | "NotNullViolation"
  | "CheckViolation"
  | "SerializationFailure"
  | "PoolTimeout"
  | "PoolClosed"
  | "ConnectionLost"
  | "Database";

/** What a {@linkcode DbError} may carry beside its code and message. */
export interface DbErrorOptions {
  /** The columns at fault, where the database names them. */
  readonly fields?: readonly string[];
  /** The driver's error, for the log. */
  readonly cause?: unknown;
}

/** A driver's error, understood. */
export interface DbFailure {
  /** What kind of failure it is. */
  readonly code: DbErrorCode;
  /** The columns at fault, where the database names them. */
  readonly fields?: readonly string[];
  /** What is wrong, in words fit for a client, if that is more than the code says. */
  readonly reason?: string;
}

/** The table of a model is missing. */
export const NO_TABLE: DbFailure = { code: "Database", reason: "its table is missing" };
/** The table of a model lacks a column. */
export const NO_COLUMN: DbFailure = { code: "Database", reason: "its table lacks a column" };

const HTTP_STATUSES: Readonly<Record<DbErrorCode, number>> = {
  RowNotFound: 404,
  UniqueViolation: 409,
  ForeignKeyViolation: 409,
  NotNullViolation: 422,
  CheckViolation: 422,
  SerializationFailure: 409,
  PoolTimeout: 503,
  PoolClosed: 503,
  ConnectionLost: 503,
  Database: 500,
};

const REASONS: Readonly<Record<DbErrorCode, (subject: string) => string>> = {
  RowNotFound: () => "there is no such row",
  UniqueViolation: (subject) => `${subject} is already taken`,
  ForeignKeyViolation: () => "it refers to a row that does not exist, or is still referred to",
  NotNullViolation: (subject) => `${subject} is missing`,
  CheckViolation: (subject) => `${subject} is not allowed`,
  SerializationFailure: () => "a concurrent change came first",
  PoolTimeout: () => "the database was busy for too long",
  PoolClosed: () => "the database is closed",
  ConnectionLost: () => "the database is out of reach",
  Database: () => "the database failed",
};

/**
 * A failed operation. The message is fit for a client: it holds no SQL, no values and no text of the
 * driver; those are in `cause`. (That of a failure to open may have the server's own words.) `HttpException.from` gives it its status.
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
  /** The columns at fault, such as `["email"]` of a `UniqueViolation`; empty where unknown. */
  readonly fields: readonly string[];

  /** Creates one; a client may read the message. */
  constructor(code: DbErrorCode, message: string, options: DbErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.httpStatus = HTTP_STATUSES[code];
    this.fields = options.fields ?? [];
  }
}

/** Words a failure for a client: `"create users"` gives "Cannot create users: email is …". */
export function dbError(action: string, failure: DbFailure, cause?: unknown): DbError {
  const { code, fields = [], reason } = failure;
  const subject = fields.length === 0 ? "a value" : `the value of ${fields.join(", ")}`;
  const message = `Cannot ${action}: ${reason ?? REASONS[code](subject)}`;
  return new DbError(code, message, cause === undefined ? { fields } : { fields, cause });
}

/** What is done, and what its errors mean. */
export interface ExplainingOptions {
  /** What is done, for the error message: `"begin transaction"`. */
  readonly action: string;
  /** Says what an error means. */
  readonly explain: (error: unknown) => DbFailure;
}

/**
 * Does something of the driver's.
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
