/**
 * Bytes as text (RFC 4648 §4).
 *
 * @module
 */

/** Returns bytes in base64. */
export function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
