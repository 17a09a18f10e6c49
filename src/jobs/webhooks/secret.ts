/**
 * The secrets that sign webhooks.
 *
 * @module
 */
import { base64Of } from "../../platform/base64.ts";

/** How many random bytes a new secret has. */
const BYTES = 32;

/**
 * Returns a new secret: `whsec_` and the base64 of 32 random bytes (Standard Webhooks, Signature
 * scheme).
 */
export function createSecret(): string {
  return `whsec_${base64Of(crypto.getRandomValues(new Uint8Array(BYTES)))}`;
}

/**
 * Returns a secret.
 *
 * @throws {TypeError} if it is not `whsec_` and the base64 of 24 to 64 bytes; `action` is in its
 * message, the secret is not
 */
export function checkedSecret(secret: unknown, action: string): string {
  if (typeof secret === "string" && isSecret(secret)) return secret;
  const reason = secret === undefined
    ? "the secret is undefined"
    : 'the secret is not "whsec_" and the base64 of 24 to 64 bytes';
  throw new TypeError(`Cannot ${action}: ${reason}`);
}

function isSecret(secret: string): boolean {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  if (base64 === undefined || base64.length % 4 !== 0) return false;
  const { length } = atob(base64);
  return length >= 24 && length <= 64;
}
