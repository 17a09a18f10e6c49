/**
 * Requests that nobody waits for any longer.
 *
 * @module
 */
import type { Handler } from "hono";
import { callerTracker } from "../../platform/caller.ts";
import type { Context } from "./context.ts";

/**
 * Returns a handler whose work can be given up when the client has disconnected, or when the
 * request was answered before the handler has ended, as by Hono's `timeout()`. It must be of a safe
 * method (RFC 9110 §9.2.1).
 */
export function abandonable(handle: (c: Context) => Promise<Response>): Handler {
  return (c) => {
    const track = callerTracker();
    if (!track) return handle(c);
    let isHandled = false;
    const goneReason = () => {
      if (isHandled) return undefined; // work that outlives the handler is for no client
      const { signal } = c.req.raw;
      if (signal?.aborted) return signal.reason;
      return c.finalized ? new DOMException("It was answered", "TimeoutError") : undefined;
    };
    return track(goneReason, async () => {
      try {
        return await handle(c);
      } finally {
        isHandled = true;
      }
    });
  };
}
