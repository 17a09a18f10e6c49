/**
 * Work of the framework that continues after the response.
 *
 * @module
 */
import { getRuntimeKey } from "hono/adapter";
import type { Context } from "hono";

/**
 * Keeps work running after its request has ended. An edge runtime drops work that was not passed to
 * it, and the promise of dropped work never settles.
 */
export type WaitUntil = (work: Promise<unknown>) => void;

/** Checks whether work continues after its request without `waitUntil`: on Deno, Bun and Node. */
export function outlivesRequests(): boolean {
  return ["deno", "bun", "node"].includes(getRuntimeKey());
}

/**
 * Returns a function that keeps work running after a request on edge runtimes; elsewhere
 * it is a no-op.
 */
export function waitUntilOf(c: Context): WaitUntil {
  return (work) => {
    if (!outlivesRequests()) executionContextOf(c)?.waitUntil(work);
  };
}

function executionContextOf(c: Context): Context["executionCtx"] | undefined {
  try {
    return c.executionCtx;
  } catch {
    return undefined; // Hono throws if there is none
  }
}
