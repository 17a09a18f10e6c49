/**
 * Random text and digests.
 *
 * @module
 */
import { base64url } from "jose";

/** Makes 256 random bits, as base64url. */
export function randomText(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
}

/** Gives the first half, or all, of the digest of ASCII text as base64url. */
export async function digest(
  text: string,
  algorithm: "SHA-256" | "SHA-512",
  { half = false }: { readonly half?: boolean } = {},
): Promise<string> {
  const bytes = new Uint8Array(
    await crypto.subtle.digest(algorithm, new TextEncoder().encode(text)),
  );
  return base64url.encode(half ? bytes.subarray(0, bytes.length / 2) : bytes);
}
