/**
 * The meaning of PostgreSQL's errors.
 *
 * @module
 */
import { type DbErrorCode, type DbFailure, LOCKED, NO_COLUMN, NO_TABLE } from "../../errors.ts";
import { isOutOfReach } from "../server/open_server.ts";

/** SQLSTATEs (PostgreSQL manual, appendix A), and codes of the driver. */
const CODES: Readonly<Record<string, DbErrorCode>> = {
  "23505": "UniqueViolation",
  "23P01": "UniqueViolation",
  "23503": "ForeignKeyViolation",
  "23001": "ForeignKeyViolation",
  "23502": "NotNullViolation",
  "23514": "CheckViolation",
  "22001": "CheckViolation",
  "22003": "CheckViolation",
  "22007": "CheckViolation",
  "22008": "CheckViolation",
  "22021": "CheckViolation",
  "22P02": "CheckViolation",
  "22P05": "CheckViolation",
  "54000": "CheckViolation",
  "40001": "SerializationFailure",
  "40P01": "SerializationFailure",
  "57014": "StatementTimeout",
  "25006": "ReadOnly",
  "25P03": "ConnectionLost",
  "28000": "ConnectionLost",
  "28P01": "ConnectionLost",
  "3D000": "ConnectionLost",
  "53300": "ConnectionLost",
  "53100": "DiskFull",
  "57P01": "ConnectionLost",
  "57P02": "ConnectionLost",
  "57P03": "ConnectionLost",
  "57P05": "ConnectionLost",
  CONNECTION_CLOSED: "ConnectionLost",
  CONNECTION_DESTROYED: "ConnectionLost",
  CONNECT_TIMEOUT: "ConnectionLost",
  CONNECT_TLS: "ConnectionLost",
  CONNECT_TARGET: "ConnectionLost",
  CONNECTION_ENDED: "PoolClosed",
};

/** PostgreSQL before 18 has no LIKE for them; its message in other languages is not recognised. */
const NO_LIKE = /nondeterministic collations/;
const NO_PARTS: DbFailure = {
  code: "Database",
  reason: "a column with a nondeterministic collation has no contains, startsWith and endsWith",
};

/** Explains an error of a statement or a connection. */
export function explainPostgresError(error: unknown): DbFailure {
  const { code, message, detail = "", column_name, column } = error as {
    code?: string;
    message?: string;
    detail?: string;
    column_name?: string;
    column?: string;
  };
  if (code === "42P01") return NO_TABLE;
  if (code === "42703") return NO_COLUMN;
  if (code === "0A000" && NO_LIKE.test(String(message))) return NO_PARTS;
  if (code === "55P03") return LOCKED;
  // a migration came first; a new connection prepares the statement anew
  if (isOutdatedPlan(error)) return { code: "SerializationFailure" };
  const kind = CODES[String(code)] ??
    (String(code).startsWith("08") || isOutOfReach(error) ? "ConnectionLost" : "Database");
  if (kind === "UniqueViolation") return { code: kind, fields: columnsIn(detail) };
  const name = column_name ?? column;
  return kind === "NotNullViolation" && name ? { code: kind, fields: [name] } : { code: kind };
}

/**
 * Errors by which a statement fails that was prepared before the type of a column was replaced
 * (PostgreSQL manual, appendix A): a plan whose result has changed, a name that is unknown, types
 * that do not fit, and a type that is missing. No value of a client leads to them.
 */
const OUTDATED: readonly unknown[] = ["0A000", "26000", "42804", "42883"];

/** The message of the internal error that a type is missing; no language has another. */
const NO_TYPE = /^cache lookup failed/;

/** Checks whether an error may mean that a prepared statement is outdated. */
export function mayBeOutdated(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return OUTDATED.includes(code) || code === "XX000" && NO_TYPE.test(String(message));
}

/** Checks whether a statement failed because its plan is older than a column; in any language. */
export function isOutdatedPlan(error: unknown): boolean {
  return (error as { readonly routine?: unknown }).routine === "RevalidateCachedQuery";
}

/** Reads `Key (email, name)=(…) already exists.` in any language; an expression has no columns. */
function columnsIn(detail: string): readonly string[] {
  const [, list = ""] = /^[^(]*\(([^()]+)\)=\(/.exec(detail) ?? [];
  return list === "" ? [] : list.split(", ").map((name) => name.replace(/^"|"$/g, ""));
}

/** Checks for the error of the driver for a statement on a connection that it has ended. */
export function isDestroyed(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === "CONNECTION_DESTROYED";
}

/** Creates the error of a connection that is lost. */
export function lostConnection(): Error {
  return Object.assign(new Error("the connection was lost"), { code: "CONNECTION_CLOSED" });
}
