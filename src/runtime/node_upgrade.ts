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

interface Refusal {
  readonly incoming: IncomingMessage;
  readonly response: Response;
  readonly body: ReadableStream<Uint8Array>;
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
      const { body } = response;
      if (body !== null) await refuse({ incoming, response, body });
      return response;
    });
  };
}

/** Sends a response as it is made, and closes the connection, so that nothing else is sent. */
async function refuse({ incoming, response, body }: Refusal): Promise<void> {
  const [{ ServerResponse }, { Readable }, { pipeline }] = await Promise.all([
    import("node:http"),
    import("node:stream"),
    import("node:stream/promises"),
  ]);
  const { socket } = incoming;
  if (socket.destroyed) return await body.cancel();
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const outgoing = new ServerResponse(incoming);
  outgoing.shouldKeepAlive = false;
  outgoing.statusCode = response.status;
  outgoing.setHeaders(response.headers);
  outgoing.assignSocket(socket);
  socket.on("drain", () => outgoing.emit("drain")); // as its server did before it gave the socket up
  const chunks = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]); // of two libraries
  await pipeline(chunks, outgoing).catch(() => {}); // the client has left, or the handler has failed
  socket.destroySoon();
  if (!socket.destroyed) await closed;
}
