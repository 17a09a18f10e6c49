/**
 * Callers without a server that leave before they have the whole answer.
 *
 * @module
 */
import type { Send } from "../client/client.ts";

/**
 * Makes a caller in the same process leave as the client of a server does: when the signal of a
 * request aborts, the call rejects with its reason, or its body fails with it.
 */
export function leaving(fetch: (request: Request) => Response | Promise<Response>): Send {
  return async (request) => {
    const { signal } = request;
    signal.throwIfAborted();
    const left = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => left.reject(signal.reason), { once: true });
    const answer = Promise.resolve(fetch(request));
    const response = await Promise.race([answer, left.promise]).catch((error) => {
      answer.then(({ body }) => body?.cancel(error)).catch(() => {}); // nobody reads it
      throw error;
    });
    const { body } = response;
    return body
      ? new Response(body.pipeThrough(new TransformStream(), { signal }), response)
      : response;
  };
}
