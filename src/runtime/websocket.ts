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
      throw new TypeError("Cannot upgrade to a WebSocket: the runtime is not supported");
  }
}

/** Catches the errors of handlers, which would otherwise end the process. */
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
      getLogger(["fw", "runtime"]).error("A WebSocket handler failed: {error}", { error });
      socket.close(1011, "Internal error");
    }
  };
}

/** The code of a lost connection is 1006 (RFC 6455 §7.1.5); Deno reports 0. */
function namingLoss(events: WSEvents): WSEvents {
  const { onClose } = events;
  if (!onClose) return events;
  return {
    ...events,
    onClose: (event, socket) =>
      onClose(event.code === 0 ? new CloseEvent("close", { code: 1006 }) : event, socket),
  };
}

/** `Upgrade` is case-insensitive (RFC 6455 §4.2.1), but not in Hono's helper for Deno. */
function lowerCased(c: Context): Context {
  const header = (name: string) => name === "upgrade" ? "websocket" : c.req.header(name);
  const req = Object.create(c.req, { header: { value: header } });
  return Object.create(c, { req: { value: req } });
}
