/**
 * Answers to WebSockets on Node.
 *
 * @module
 */
import type { IncomingMessage } from "node:http";
import type { FetchHandler } from "./adapter.ts";

/** The bindings of `@hono/node-server`; a request to upgrade has no `outgoing`. */
interface NodeEnv {
  readonly incoming: IncomingMessage;
  readonly outgoing?: unknown;
}

/**
 * Sends the bodies of what a handler answers in place of an upgrade, such as a guard's problem:
 * `@hono/node-server` sends the status and the headers alone.
 */
export function refusingWhole(fetch: FetchHandler): FetchHandler {
  return (request, env) => {
    // The seam to `@hono/node-server`: this is what it calls a handler with.
    const { incoming, outgoing } = env as NodeEnv;
    if (outgoing !== undefined) return fetch(request, env);
    return Promise.resolve(fetch(request, env)).then(async (response) => {
      if (response.body !== null) await refuse(incoming, response);
      return response;
    });
  };
}

/** Sends a response and closes the connection, so that nothing else is sent. */
async function refuse(incoming: IncomingMessage, response: Response): Promise<void> {
  const { ServerResponse } = await import("node:http");
  const { socket } = incoming;
  const body = new Uint8Array(await response.arrayBuffer());
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const outgoing = new ServerResponse(incoming);
  outgoing.shouldKeepAlive = false;
  outgoing.statusCode = response.status;
  outgoing.setHeaders(response.headers);
  outgoing.assignSocket(socket);
  outgoing.end(body, () => socket.destroySoon());
  if (!socket.destroyed) await closed;
}
