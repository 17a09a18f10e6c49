/**
 * Work of the framework that goes on after its request is answered.
 *
 * @module
 */
import { getRuntimeKey } from "hono/adapter";
import type { Context } from "hono";

/**
 * Keeps work alive though its request has ended. An edge runtime drops what is not handed to it, and
 * whoever waits for that waits for ever.
 */
export type WaitUntil = (work: Promise<unknown>) => void;

/** Tells whether work outlives the request that began it by itself, as it does in a process of ours. */
export function outlivesRequests(): boolean {
  return ["deno", "bun", "node"].includes(getRuntimeKey());
}

/** Gives what keeps the work of a request alive on an edge runtime; it does nothing elsewhere. */
export function waitUntilOf(c: Context): WaitUntil {
  return (work) => {
    if (!outlivesRequests()) executionContextOf(c)?.waitUntil(work);
  };
}

function executionContextOf(c: Context): Context["executionCtx"] | undefined {
  try {
    return c.executionCtx;
  } catch {
    return undefined; // so Hono says that there is none
  }
}
