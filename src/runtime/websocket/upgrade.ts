/**
 * The part of `upgradeWebSocket` that is loaded by its first call.
 *
 * @module
 */
import { getRuntimeKey } from "hono/adapter";
import type { WSContext, WSEvents } from "hono/ws";
import type { IncomingMessage } from "node:http";
import type { Context } from "../../core/http/context.ts";
import {
  BadRequestException,
  ServiceUnavailableException,
} from "../../core/http/http_exception.ts";
import { pendingUpgrade } from "../../core/http/pending_upgrade.ts";
import { problemResponse } from "../../core/http/problem.ts";
import { exchangeOf } from "../deno_request.ts";
import { limited } from "./events.ts";
import { added, checkHandshake, PROTOCOL, subprotocol } from "./handshake.ts";
import {
  checkedMessageLimit,
  type MessageEvents,
  type SocketEvents,
  type WebSocketMessages,
  withMessages,
} from "./messages.ts";
import { checkedPendingLimits } from "./pending_messages.ts";
import { checkedSendLimit } from "./sends.ts";
import type { WebSocketOptions } from "./options.ts";

/** A handshake that the application has accepted. */
interface Handshake {
  /** A context for Hono's helpers: `Upgrade` is in lower case, and the subprotocol is selected. */
  readonly c: Context;
  /** The handlers of the events. */
  readonly events: WSEvents;
  /** The headers that the application adds. */
  readonly headers: Headers;
}

/** The arguments of `upgradeWebSocket`. */
export interface UpgradeParts {
  readonly c: Context;
  readonly events: SocketEvents<WebSocketMessages | undefined>;
  readonly options: WebSocketOptions;
}

/**
 * Checks the handshake (RFC 6455 §4.2.1); returns a response that upgrades the request once it has
 * left the application.
 */
export async function upgrade(
  { c, events, options }: UpgradeParts,
): Promise<Response> {
  const maxBytes = checkedSendLimit(options.maxBufferedBytes);
  const pending = checkedPendingLimits(options);
  const handlers = rawEvents(events, options);
  checkHandshake(c);
  const upgrade = await loadUpgrade();
  return pendingUpgrade(c, async (sent) => {
    try {
      const headers = added(sent);
      const response = await upgrade({
        c: withFields(c, { upgrade: "websocket", [PROTOCOL]: subprotocol(c, sent) }),
        events: limited(handlers, { maxBytes, pending }),
        headers,
      });
      headers.forEach((value, name) => response.headers.append(name, value));
      return response;
    } catch (error) {
      return problemResponse(error, c); // the application has answered already
    }
  });
}

/** Returns handlers of text and bytes: without `messages`, those of `upgradeWebSocket` are. */
function rawEvents(
  events: UpgradeParts["events"],
  { messages, maxMessageBytes }: WebSocketOptions,
): WSEvents {
  const maxBytes = checkedMessageLimit(maxMessageBytes);
  return messages
    ? withMessages(events as MessageEvents<WebSocketMessages>, { messages, maxBytes })
    : events as WSEvents;
}

/** Returns a context for Hono's helpers, in which some headers of the request are replaced. */
function withFields(c: Context, fields: Readonly<Record<string, string | undefined>>): Context {
  const header = (name: string) => name in fields ? fields[name] : c.req.header(name);
  const req = Object.create(c.req, { header: { value: header } });
  return Object.create(c, { req: { value: req } });
}

/** Refuses a client that did not wait for the answer (RFC 6455 §4.1): Bun has lost its frames. */
function refuseEarly(): never {
  throw new BadRequestException("The client has sent more than the handshake, or is gone");
}

/** Upgrades a request of a runtime. */
type RuntimeUpgrade = (handshake: Handshake) => Promise<Response>;

async function loadUpgrade(): Promise<RuntimeUpgrade> {
  switch (getRuntimeKey()) {
    case "deno":
      return upgradeOnDeno;
    case "bun": {
      const { getBunServer, upgradeWebSocket } = await import("hono/bun");
      return async ({ c, events, headers }) => {
        const bun = getBunServer<BunServer>(c);
        const sent = new Headers(headers);
        const protocol = c.req.header(PROTOCOL);
        if (protocol !== undefined) sent.set(PROTOCOL, protocol);
        const server = bun && {
          upgrade: (request: Request, options: object) =>
            bun.upgrade(request, { ...options, headers: sent }),
        };
        const withServer = Object.create(c, { env: { value: { server } } });
        return await upgradeWebSocket(() => events)(withServer, refuseEarly) as Response;
      };
    }
    case "node": {
      const { upgradeWebSocket } = await import("@hono/node-server");
      return async ({ c, events }) => {
        const { incoming } = c.env as Partial<NodeEnv>;
        if (incoming) incoming.headers[PROTOCOL] = c.req.header(PROTOCOL); // `ws` selects the first
        return await upgradeWebSocket(c, events);
      };
    }
    case "workerd": {
      const { upgradeWebSocket } = await import("hono/cloudflare-workers");
      return ({ c, events }) => upgradeWebSocket(c, events);
    }
    default:
      throw new TypeError("Cannot upgrade to a WebSocket: the runtime is not supported");
  }
}

/** The part of Bun's server that is used here. */
interface BunServer {
  upgrade(request: Request, options: object): boolean;
}

/** The part of the bindings of `@hono/node-server` that is used here. */
interface NodeEnv {
  readonly incoming: IncomingMessage;
}

/**
 * Upgrades a request; `listen` bounds those that are not open yet.
 *
 * @throws {ServiceUnavailableException} if no more WebSockets can be opened
 */
async function upgradeOnDeno({ c, events }: Handshake): Promise<Response> {
  const { upgradeWebSocket } = await import("hono/deno");
  const upgrade = await beginOnDeno(c);
  try {
    const protocol = c.req.header(PROTOCOL);
    const named = protocol === undefined ? events : namingProtocol(events, protocol);
    const handlers = closedOnce(counted(namingLoss(named), upgrade));
    // Deno finds no protocol in a list without spaces
    const response = await upgradeWebSocket(withFields(c, { [PROTOCOL]: undefined }), handlers);
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

/**
 * Passes no event after the close: Deno reports an error and another close for a WebSocket that it
 * has closed itself, if its client leaves before it has read everything.
 */
function closedOnce(events: WSEvents): WSEvents {
  let isClosed = false;
  return {
    ...events,
    onError(event, socket) {
      if (!isClosed) events.onError?.(event, socket);
    },
    onClose(event, socket) {
      if (isClosed) return;
      isClosed = true;
      events.onClose?.(event, socket);
    },
  };
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
