/**
 * Work that goes on after its request is answered.
 *
 * @module
 */
import type { Context } from "./context.ts";

/**
 * Keeps work alive though its request has ended. An edge runtime drops what is not handed to it, and
 * whoever waits for that waits for ever.
 */
export type WaitUntil = (work: Promise<unknown>) => void;

/** Gives what keeps the work of a request alive, or nothing where that needs no help. */
export function waitUntilOf(c: Context): WaitUntil {
  return (work) => {
    try {
      c.executionCtx.waitUntil(work);
    } catch {
      // Hono throws where there is no execution context: the process outlives its requests
    }
  };
}
