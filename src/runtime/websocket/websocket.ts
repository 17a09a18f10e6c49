/**
 * WebSockets on Deno, Bun, Node and workerd.
 *
 * @module
 */
import type { Context } from "../../core/http/context.ts";
import type { SocketEvents, WebSocketMessages } from "./messages.ts";
import type { WebSocketOptions } from "./options.ts";

/**
 * Upgrades a request to a WebSocket (RFC 6455); the handler of the route returns the response, with
 * the status 101. The upgrade begins when that response has left the application: if another one
 * replaces it, such as that of an interceptor or a time limit, no socket opens. Its headers are
 * sent; `Sec-WebSocket-Protocol` selects a subprotocol, by default the first of the client. If an
 * event handler throws or rejects, the error is logged and the socket is closed with 1011. A
 * server that stops closes its sockets with 1001.
 *
 * Browsers send cookies with upgrades from any site and do not apply CORS: a handler that trusts
 * cookies must check `Origin`.
 *
 * @example
 * ```ts
 * import { controller, route, upgradeWebSocket } from "@fw/fw";
 *
 * class EchoController extends controller() {
 *   echo = route.get("/echo", (_, c) =>
 *     upgradeWebSocket(c, { onMessage: (event, socket) => socket.send(String(event.data)) }));
 * }
 * ```
 *
 * With `messages`, its messages are JSON by schemas: one that the client sends is validated, and
 * closes the socket with 1007 if it is invalid, unless there is an `onInvalid`.
 *
 * On workerd, `onOpen` is not called: a socket is open from the start.
 *
 * On Deno, an upgrade whose client has disconnected stays open for ever. Therefore `listen` refuses
 * upgrades with 503 when 256 are not open yet.
 *
 * @throws {HttpException} 426 if the request does not ask for a WebSocket (RFC 9110 §15.5.22) of
 * version 13 (RFC 6455 §4.4), and 400 if its key or subprotocols are invalid (§4.2.1), or, on Bun,
 * if the client has sent frames before the answer (§4.1) or is gone
 * @throws {RangeError} if `maxBufferedBytes` is not an integer from 0 to 16 MiB, or
 * `maxMessageBytes`, `maxPendingMessages` or `maxPendingBytes` not a positive integer
 * @throws {TypeError} on a runtime other than Deno, Bun, Node and workerd
 */
export async function upgradeWebSocket<M extends WebSocketMessages | undefined = undefined>(
  c: Context,
  events: SocketEvents<M>,
  options: WebSocketOptions<M> = {},
): Promise<Response> {
  const { upgrade } = await import("./upgrade.ts"); // many applications have no WebSocket
  return await upgrade({ c, events, options });
}
