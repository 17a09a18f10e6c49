/**
 * The header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07), by which a client
 * marks the repetitions of a request.
 *
 * @module
 */
import type { Context } from "./context.ts";
import { BadRequestException } from "./http_exception.ts";

/** The name of the header. */
export const IDEMPOTENCY_KEY = "idempotency-key";

/** The longest key in characters. */
const MAX_LENGTH = 255;

/** Visible ASCII without the characters that delimit the parts of a header, and the backslash. */
const KEY = `[!#-+\\--:<-[\\]-~]{1,${MAX_LENGTH}}`;

/**
 * The syntax of the header: a key, as most clients send it, or in quotes, as a string of RFC 9651
 * §3.3.3, which is the same key.
 */
export const KEY_PATTERN: string = `^(?:${KEY}|"${KEY}")$`;

const SYNTAX = new RegExp(KEY_PATTERN);

/**
 * Returns the key of a request, without quotes.
 *
 * @throws {BadRequestException} 400 if it is missing or invalid
 */
export function idempotencyKeyOf(c: Context): string {
  const value = c.req.header(IDEMPOTENCY_KEY);
  if (value === undefined) {
    throw new BadRequestException(
      "Idempotency-Key is missing; send a new UUID, and the same one when the request is repeated",
    );
  }
  if (SYNTAX.test(value)) return value.replaceAll('"', "");
  throw new BadRequestException(
    `Idempotency-Key is not 1 to ${MAX_LENGTH} visible ASCII characters other than " , ; and \\`,
  );
}
