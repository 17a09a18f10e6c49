/**
 * Opening a database server: loading its driver, and the errors of failing to.
 *
 * @module
 */
import { DbError, type DbFailure } from "../../errors.ts";
import type { DatabasePlace } from "../../transaction/sql_span.ts";
import { outlivesRequests } from "../../../platform/wait_until.ts";

const REFUSED_USER: readonly string[] = [
  "28000",
  "28P01",
  "ER_ACCESS_DENIED_ERROR",
  "ER_ACCESS_DENIED_NO_PASSWORD_ERROR",
  "ER_DBACCESS_DENIED_ERROR",
];
const NO_DATABASE: readonly string[] = ["3D000", "ER_BAD_DB_ERROR"];

/** What failed to open. */
export interface OpenFailure {
  /** The brand of the server. */
  readonly brand: string;
  /** The driver's error. */
  readonly cause: unknown;
  /** The meaning of the driver's error. */
  readonly failure: DbFailure;
}

/** Returns where a database is, by its URL and the standard port of its brand. */
export function placeOf(
  { hostname: address, port, pathname }: URL,
  standardPort: number,
): DatabasePlace {
  const namespace = decodeURIComponent(pathname.slice(1));
  const place = { namespace, address, port: Number(port || standardPort) };
  return { ...place, pool: `${address}:${place.port}/${namespace}` };
}

/**
 * Returns the error of opening a database. Its message has the address and the words of the server
 * or the driver, and not the password.
 */
export function openServerError(url: URL, { brand, cause, failure }: OpenFailure): DbError {
  const { hostname, port, pathname, username } = url;
  const code = String((cause as { code?: unknown } | null)?.code);
  const summary = REFUSED_USER.includes(code)
    ? [`it refuses the user ${decodeURIComponent(username)} or the password`]
    : NO_DATABASE.includes(code)
    ? ["there is no such database"]
    : failure.code === "ConnectionLost"
    ? ["it does not answer, or rejects connections"]
    : [];
  const words = wordsOf(cause, url);
  const reason = [...summary, ...words].join(": ") || "the database failed";
  const place = `${hostname}${port && `:${port}`}${decodeURIComponent(pathname)}`;
  return new DbError(failure.code, `Cannot open ${brand} database ${place}: ${reason}`, { cause });
}

/**
 * Loads the packages of a driver.
 *
 * @throws {TypeError} if they are not installed
 */
export async function loadDriver<T>(names: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const remedy = outlivesRequests()
      ? `install ${names}`
      : "bundles for the edge leave drivers out, so use DbOptions.fromDialect";
    throw new TypeError(`Cannot load database driver: ${remedy}`, { cause });
  }
}

const CODES: readonly string[] = [
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EAI_AGAIN",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOENT",
  "ENOTCONN",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "ERR_SOCKET_CLOSED",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
];

/** Checks whether an error, or one that it aggregates, is that of an unreachable server. */
export function isOutOfReach(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isOutOfReach);
  return CODES.includes(String((error as { code?: unknown } | null)?.code));
}

/**
 * Returns the words of the server or the driver, for the operator of the application. They contain
 * the password only by accident; one that is also the name of the user is no secret there.
 */
function wordsOf(
  cause: unknown,
  { hostname, pathname, username, password }: URL,
): readonly string[] {
  const errors: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  const words = errors.map((error) => error instanceof Error ? error.message : "").join(", ");
  const [secret = "", ...known] = [password, username, hostname, pathname.slice(1)]
    .map(decodeURIComponent);
  const isSecret = secret !== "" && words.includes(secret) && !known.includes(secret);
  return isSecret || words === "" ? [] : [words];
}
