/**
 * WebSockets on Deno.
 *
 * @module
 */
import type { WSContext, WSEvents } from "hono/ws";
import type { Context } from "../../core/http/context.ts";
import { ServiceUnavailableException } from "../../core/http/http_exception.ts";
import { callerContext } from "../../platform/caller.ts";
import { exchangeOf } from "../deno_request.ts";
import { type Handshake, PROTOCOL, withFields } from "./handshake.ts";

/**
 * Upgrades a request; `listen` bounds those that are not open yet.
 *
 * @throws {ServiceUnavailableException} if no more WebSockets can be opened
 */
export async function upgradeOnDeno({ c, events }: Handshake): Promise<Response> {
  const { upgradeWebSocket } = await import("hono/deno");
  const upgrade = await beginOnDeno(c);
  try {
    const protocol = c.req.header(PROTOCOL);
    const named = protocol === undefined ? events : namingProtocol(events, protocol);
    const handlers = closedOnce(counted(named, upgrade));
    // Deno finds no protocol in a list without spaces
    const open = () => upgradeWebSocket(withFields(c, { [PROTOCOL]: undefined }), handlers);
    // Deno reports its events in the context in which it is created; Node and Bun in none
    const response = await (callerContext()?.(open) ?? open());
    if (protocol !== undefined) response.headers.set(PROTOCOL, protocol);
    return response;
  } catch (error) {
    upgrade?.settled(); // it never will be
    throw error;
  }
}

/** Sets the subprotocol of a socket, which was not passed to Deno. */
function namingProtocol(events: WSEvents, protocol: string): WSEvents {
  return {
    ...events,
    onOpen(event, socket) {
      for (const it of [socket, socket.raw as object]) {
        Object.defineProperty(it, "protocol", { value: protocol });
      }
      events.onOpen?.(event, socket);
    },
  };
}

/** How long a client may take to answer a close, in milliseconds: as long as with `ws`. */
const CLOSE_MS = 30_000;

/**
 * Passes the close once, and no event after it. Deno waits forever for a client that does not
 * answer a close of the server; and it reports an error and another close for a WebSocket that it
 * has closed itself, if its client leaves before it has read everything.
 */
function closedOnce(events: WSEvents): WSEvents {
  let isClosed = false;
  const end = (event: CloseEvent, socket: WSContext) => {
    if (isClosed) return;
    isClosed = true;
    events.onClose?.(event, socket);
  };
  return {
    ...events,
    onOpen(event, socket) {
      const raw = socket.raw as WebSocket; // that of Deno
      const { close } = raw;
      let timer: ReturnType<typeof setTimeout> | undefined;
      raw.close = (...reason) => {
        close.apply(raw, reason);
        if (isClosed || timer) return;
        timer = setTimeout(end, CLOSE_MS, lost(), socket);
        Deno.unrefTimer(timer);
      };
      raw.addEventListener("close", () => clearTimeout(timer));
      events.onOpen?.(event, socket);
    },
    onError(event, socket) {
      if (!isClosed) events.onError?.(event, socket);
    },
    // Deno reports 0 for a lost connection
    onClose: (event, socket) => end(event.code === 0 ? lost() : event, socket),
  };
}

/** Returns the close of a lost connection (RFC 6455 §7.1.5). */
function lost(): CloseEvent {
  return new CloseEvent("close", { code: 1006 });
}

/** An upgrade that has begun on Deno. */
interface Upgrade {
  /** Reports that its WebSocket is open or has failed. */
  settled(): void;
  /** Reports that its WebSocket is open. */
  opened(socket: WSContext): void;
  /** Reports that its WebSocket is closed. */
  closed(socket: WSContext): void;
}

/** Begins an upgrade; `listen` bounds those that Deno never opens. */
async function beginOnDeno({ req }: Context): Promise<Upgrade | undefined> {
  const exchange = exchangeOf(req.raw);
  if (!exchange) return undefined;
  const settled = await exchange.upgrades.begin(req.raw);
  if (!settled) throw new ServiceUnavailableException("No more WebSockets can be opened");
  const { upgrades, underWay } = exchange;
  return {
    settled,
    opened(socket) {
      settled();
      upgrades.opened(socket);
    },
    closed(socket) {
      upgrades.closed(socket);
      underWay.end();
    },
  };
}

function counted(events: WSEvents, upgrade: Upgrade | undefined): WSEvents {
  return {
    ...events,
    onOpen(event, socket) {
      upgrade?.opened(socket);
      events.onOpen?.(event, socket);
    },
    onError(event, socket) {
      upgrade?.settled();
      events.onError?.(event, socket);
    },
    onClose(event, socket) {
      upgrade?.closed(socket);
      events.onClose?.(event, socket);
    },
  };
}
