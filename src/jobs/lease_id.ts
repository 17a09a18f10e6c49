/**
 * The ids of claims, which have the time of their lease.
 *
 * @module
 */

/** The place of the version of a UUID, and that of an own layout (RFC 9562 §5.8). */
const VERSION_AT = 14;
const OWN_VERSION = "8";
/** The number of hexadecimal digits of the time, which is below 2^31. */
const TIME_DIGITS = 8;

/**
 * Returns a new id of a claim, a UUID whose first digits are `leaseMs`: processes that share the
 * table can have different ones, such as those of two versions or of two applications.
 */
export function leaseId(leaseMs: number): string {
  const time = Math.ceil(leaseMs).toString(16).padStart(TIME_DIGITS, "0");
  const random = crypto.randomUUID();
  return time + random.slice(TIME_DIGITS, VERSION_AT) + OWN_VERSION + random.slice(VERSION_AT + 1);
}

/** Returns the `leaseMs` of a claim; 0 if its id does not have it. */
export function leaseMsOf(id: string): number {
  return id[VERSION_AT] === OWN_VERSION ? parseInt(id.slice(0, TIME_DIGITS), 16) : 0;
}
