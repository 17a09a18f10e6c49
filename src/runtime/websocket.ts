/**
 * WebSockets on Deno, Bun, Node and workerd.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { getRuntimeKey } from "hono/adapter";
import type { WSContext, WSEvents } from "hono/ws";
import type { Context } from "../core/http/context.ts";
import { HttpException } from "../core/http/http_exception.ts";

/**
 * Turns a request into a WebSocket (RFC 6455) and gives the response that a handler returns for it.
 * An event handler that throws or rejects is logged, and its socket is closed with 1011. A server
 * that stops closes its sockets with 1001.
 *
 * Browsers send cookies with an upgrade from any site and apply no CORS: a handler that trusts
 * cookies has to check `Origin`.
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
 * On workerd, a socket is open once it is there: `onOpen` is not called.
 *
 * @throws {HttpException} 426 if the request does not ask for a WebSocket (RFC 9110 §15.5.22)
 * @throws {TypeError} on a runtime other than Deno, Bun, Node and workerd
 */
export async function upgradeWebSocket(c: Context, events: WSEvents): Promise<Response> {
  if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
    throw new HttpException(426, "The request must be upgraded to a WebSocket", {
      headers: { connection: "upgrade", upgrade: "websocket" },
    });
  }
  const upgrade = await loadUpgrade();
  return await upgrade(c, guarded(events));
}

async function loadUpgrade(): Promise<typeof upgradeWebSocket> {
  switch (getRuntimeKey()) {
    case "deno": {
      const { upgradeWebSocket } = await import("hono/deno");
      return (c, events) => upgradeWebSocket(lowerCased(c), namingLoss(events));
    }
    case "bun":
      return (await import("hono/bun")).upgradeWebSocket;
    case "node":
      return (await import("@hono/node-server")).upgradeWebSocket;
    case "workerd":
      return (await import("hono/cloudflare-workers")).upgradeWebSocket;
    default:
      throw new TypeError("Cannot upgrade to a WebSocket: the runtime is not one of ours");
  }
}

/** Catches what a handler throws: nothing else would, and it would end the process. */
function guarded({ onOpen, onMessage, onClose, onError }: WSEvents): WSEvents {
  return {
    ...onOpen && { onOpen: guard(onOpen) },
    ...onMessage && { onMessage: guard(onMessage) },
    ...onClose && { onClose: guard(onClose) },
    ...onError && { onError: guard(onError) },
  };
}

type EventHandler<E> = (event: E, socket: WSContext) => unknown;

function guard<E>(handler: EventHandler<E>): EventHandler<E> {
  return async (event, socket) => {
    try {
      await handler(event, socket);
    } catch (error) {
      getLogger(["fw", "runtime"]).error("A WebSocket's handler failed: {error}", { error });
      socket.close(1011, "Internal error");
    }
  };
}

/** RFC 6455 §7.1.5 has 1006 for a connection that is lost; Deno has 0. */
function namingLoss(events: WSEvents): WSEvents {
  const { onClose } = events;
  if (!onClose) return events;
  return {
    ...events,
    onClose: (event, socket) =>
      onClose(event.code === 0 ? new CloseEvent("close", { code: 1006 }) : event, socket),
  };
}

/** RFC 6455 §4.2.1 takes `Upgrade: WebSocket` in any case; Hono's helper for Deno does not. */
function lowerCased(c: Context): Context {
  const header = (name: string) => name === "upgrade" ? "websocket" : c.req.header(name);
  const req = Object.create(c.req, { header: { value: header } });
  return Object.create(c, { req: { value: req } });
}
