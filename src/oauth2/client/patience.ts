/**
 * Waiting for what may take longer.
 *
 * @module
 */
import { OAuth2Error } from "../ground/errors.ts";

/** How long is waited, and for what. */
export interface Patience {
  /** What the application wants, for messages: "refresh token". */
  readonly action: string;
  /** How long is waited in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Settles as what is waited for, which goes on if that takes longer.
 *
 * @throws {OAuth2Error} `Transport` if it does
 */
export async function waitFor<T>(
  promise: Promise<T>,
  { action, timeoutMs }: Patience,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expiry = new Promise<never>((_, reject) => {
    const message = `Cannot ${action}: no answer in ${timeoutMs} ms`;
    const expire = () => reject(new OAuth2Error({ code: "Transport" }, message));
    timer = setTimeout(expire, timeoutMs);
  });
  try {
    return await Promise.race([promise, expiry]);
  } finally {
    clearTimeout(timer);
  }
}
