/**
 * WebSockets on Deno, Bun, Node and workerd.
 *
 * @module
 */
import type { WSEvents } from "hono/ws";
import type { Context } from "../core/http/context.ts";

/**
 * Upgrades a request to a WebSocket (RFC 6455); the handler of the route returns the response. If
 * an event handler throws or rejects, the error is logged and the socket is closed with 1011. A
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
 * On workerd, `onOpen` is not called: a socket is open from the start.
 *
 * @throws {HttpException} 426 if the request does not ask for a WebSocket (RFC 9110 §15.5.22) of
 * version 13 (RFC 6455 §4.4), and 400 if its key or subprotocols are invalid (§4.2.1)
 * @throws {TypeError} on a runtime other than Deno, Bun, Node and workerd
 */
export async function upgradeWebSocket(c: Context, events: WSEvents): Promise<Response> {
  const { upgrade } = await import("./websocket_upgrade.ts"); // many applications have no WebSocket
  return await upgrade(c, events);
}
