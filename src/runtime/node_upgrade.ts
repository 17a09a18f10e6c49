/**
 * Upgrade requests on Node, whose socket nothing reads until it is a WebSocket.
 *
 * @module
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { cancellableBody } from "../core/http/cancellable_body.ts";

/**
 * Answers an upgrade request, with a signal that aborts when its client leaves. A response with a
 * body, such as the problem of a guard or a stream, is sent whole: `@hono/node-server` sends only
 * the status and the headers of a rejected upgrade.
 */
export async function answerUpgrade(
  incoming: IncomingMessage,
  answer: (signal: AbortSignal) => Response | Promise<Response>,
): Promise<Response> {
  const watch = watchClient(incoming.socket);
  try {
    const response = await answer(watch.signal);
    const body = cancellableBody(response);
    if (body !== null) await send({ incoming, response, body });
    return response;
  } finally {
    watch.end();
  }
}

/** Watches for the end of a socket, without reading what a WebSocket will read. */
function watchClient(socket: Socket): { readonly signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const leave = () => {
    controller.abort(new Error("Client connection prematurely closed."));
    socket.destroy();
  };
  const look = () => {
    if (socket.readableLength === 0) socket.read(0); // emits the end
  };
  socket.on("readable", look).on("end", leave).on("close", leave);
  return {
    signal: controller.signal,
    end: () => void socket.off("readable", look).off("end", leave).off("close", leave),
  };
}

interface Refusal {
  readonly incoming: IncomingMessage;
  readonly response: Response;
  readonly body: ReadableStream<Uint8Array>;
}

/** Streams a response and closes the connection, so that nothing else is sent. */
async function send({ incoming, response, body }: Refusal): Promise<void> {
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
  // as the server did before it released the socket
  socket.on("drain", () => outgoing.emit("drain"));
  const chunks = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]); // typed twice
  // the client disconnected, or the handler failed
  await pipeline(chunks, outgoing).catch(() => {});
  socket.destroySoon();
  if (!socket.destroyed) await closed;
}
