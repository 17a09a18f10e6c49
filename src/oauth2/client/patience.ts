/**
 * Waiting for what may take longer.
 *
 * @module
 */
import { within } from "../../platform/time_limit.ts";
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
  if (await within(promise, timeoutMs)) return await promise;
  throw new OAuth2Error({ code: "Transport" }, `Cannot ${action}: no answer in ${timeoutMs} ms`);
}
