/**
 * How a token is verified.
 *
 * @module
 */

/** How a token is verified, and keys are looked for, on behalf of a request. */
export interface VerifyOptions {
  /**
   * Keeps a fetch of keys alive though the request has ended: `waitUntil` of the execution context, on
   * an edge runtime. Without it, a fetch that dies there with its request is done again when it is
   * overdue.
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}
