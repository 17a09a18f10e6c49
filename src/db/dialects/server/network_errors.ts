/**
 * Errors of sockets.
 *
 * @module
 */

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

/** Tells whether an error, or one that it gathers, says that the other side could not be reached. */
export function isOutOfReach(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isOutOfReach);
  return CODES.includes(String((error as { code?: unknown } | null)?.code));
}
