/**
 * Work of the framework that continues after the response.
 *
 * @module
 */
import { getRuntimeKey } from "hono/adapter";
import type { Context } from "hono";
import { within } from "./time_limit.ts";

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
 * Waits for work that another request may have begun, and returns whether it has ended; rejects
 * like the work. An edge runtime may cancel the work with its request, and ends a request which
 * waits for another one alone: there, the wait has a timer of its own, and ends after `limitMs`
 * milliseconds, by default longer than work is kept whose client has left.
 */
export function hasEnded(work: Promise<unknown>, limitMs: number = 31_000): Promise<boolean> {
  return outlivesRequests() ? work.then(() => true) : within(work, limitMs);
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

/** Returns the execution context of a request, if it has one. */
export function executionContextOf(c: Context): Context["executionCtx"] | undefined {
  try {
    return c.executionCtx;
  } catch {
    return undefined; // Hono throws if the request has no context
  }
}
