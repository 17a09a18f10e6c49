/**
 * The part of `upgradeWebSocket` that is loaded by its first call.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { getRuntimeKey } from "hono/adapter";
import type { WSContext, WSEvents } from "hono/ws";
import type { Context } from "../core/http/context.ts";
import {
  checkCloses,
  checkedPendingLimits,
  checkedSendLimit,
  limitPending,
  limitSends,
  type PendingLimits,
  type WebSocketOptions,
} from "./websocket_limits.ts";
import {
  BadRequestException,
  HttpException,
  ServiceUnavailableException,
} from "../core/http/http_exception.ts";
import { exchangeOf } from "./deno_request.ts";

/** The arguments of `upgradeWebSocket`. */
export interface UpgradeParts {
  readonly c: Context;
  readonly events: WSEvents;
  readonly options: WebSocketOptions;
}

/** Checks the handshake (RFC 6455 §4.2.1), and upgrades the request. */
export async function upgrade(
  { c, events, options }: UpgradeParts,
): Promise<Response> {
  const maxBytes = checkedSendLimit(options.maxBufferedBytes);
  const limits = checkedPendingLimits(options);
  checkHandshake(c);
  const upgrade = await loadUpgrade();
  return await upgrade(c, limited(guarded(events, limits), maxBytes));
}

/** 16 bytes in Base64. */
const KEY = /^[\w+/]{21}[AQgw]==$/;

/** A token (RFC 9110 §5.6.2). */
const TOKEN = /^[!#$%&'*+.^`|~\w-]+$/;

/** Checks the request before the runtime does: each runtime refuses it in its own way. */
function checkHandshake({ req }: Context): void {
  const { method, headers } = req.raw;
  // on workerd, an upgrade needs no other header
  const isComplete = getRuntimeKey() === "workerd";
  const asks = method === "GET" && headers.get("upgrade")?.toLowerCase() === "websocket" &&
    (isComplete || /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(headers.get("connection") ?? ""));
  if (!asks) refuse("The request must be upgraded to a WebSocket");
  if (isComplete) return;
  if (headers.get("sec-websocket-version") !== "13") refuse("The version of WebSocket must be 13");
  const protocols = headers.get("sec-websocket-protocol") ?? "chat";
  const names = protocols.split(",").map((name) => name.trim()); // its time is linear
  if (
    !KEY.test(headers.get("sec-websocket-key") ?? "") ||
    !names.every((name) => TOKEN.test(name)) || new Set(names).size < names.length
  ) {
    throw new BadRequestException("The key or the subprotocols of the WebSocket are invalid");
  }
}

function refuse(detail: string): never {
  throw new HttpException(426, detail, {
    headers: { connection: "upgrade", upgrade: "websocket", "sec-websocket-version": "13" },
  });
}

/** Refuses a client that did not wait for the answer (RFC 6455 §4.1): Bun has lost its frames. */
function refuseEarly(): never {
  throw new BadRequestException("The client has sent more than the handshake, or is gone");
}

/** Upgrades a request of a runtime. */
type RuntimeUpgrade = (c: Context, events: WSEvents) => Promise<Response>;

async function loadUpgrade(): Promise<RuntimeUpgrade> {
  switch (getRuntimeKey()) {
    case "deno": {
      const { upgradeWebSocket } = await import("hono/deno");
      return async (c, events) => {
        const upgrade = await beginOnDeno(c);
        try {
          return await upgradeWebSocket(lowerCased(c), counted(namingLoss(events), upgrade));
        } catch (error) {
          upgrade?.settled(); // it never will be
          throw error;
        }
      };
    }
    case "bun": {
      const { upgradeWebSocket } = await import("hono/bun");
      return async (c, events) => await upgradeWebSocket(() => events)(c, refuseEarly) as Response;
    }
    case "node":
      return (await import("@hono/node-server")).upgradeWebSocket;
    case "workerd":
      return (await import("hono/cloudflare-workers")).upgradeWebSocket;
    default:
      throw new TypeError("Cannot upgrade to a WebSocket: the runtime is not supported");
  }
}

/**
 * Catches the errors of handlers, which would otherwise end the process, and limits messages: they
 * wait for `onOpen`, and those that arrive after the close are ignored.
 */
function guarded(
  { onOpen, onMessage, onClose, onError }: WSEvents,
  limits: PendingLimits,
): WSEvents {
  let opening: Promise<void> | undefined;
  const open = onOpen && guard(onOpen);
  const message = onMessage && guard(onMessage);
  const limitedMessage = message && limitPending(async (event, socket) => {
    if (opening) {
      await opening;
      if (!isOpen(socket)) return; // `onOpen` has failed, or has closed it
    }
    await message(event, socket);
  }, limits);
  return {
    ...open && {
      onOpen(event, socket) {
        // cleared, as later messages must not wait for another turn
        opening = open(event, socket).finally(() => opening = undefined);
      },
    },
    ...limitedMessage && {
      // a close that is received with its message does not come before it
      onMessage: (event, socket) => isOpen(socket) ? void limitedMessage(event, socket) : undefined,
    },
    ...onClose && { onClose: guard(onClose) },
    ...onError && { onError: guard(onError) },
  };
}

/** Limits the sends of a socket and checks its closes, before anything can be sent. */
function limited(events: WSEvents, maxBytes: number): WSEvents {
  return {
    ...events,
    onOpen(event, socket) {
      const raw = socket.raw as object; // each runtime has one
      limitSends(raw, maxBytes);
      checkCloses(raw);
      events.onOpen?.(event, socket);
    },
  };
}

/** Checks whether a socket is open now; `readyState` of its context is older on Bun. */
function isOpen({ raw }: WSContext): boolean {
  return (raw as { readonly readyState: number }).readyState === 1; // each runtime has one
}

type EventHandler<E, R = unknown> = (event: E, socket: WSContext) => R;

function guard<E>(handler: EventHandler<E>): EventHandler<E, Promise<void>> {
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

/** An upgrade that has begun on Deno. */
interface Upgrade {
  /** Reports that its WebSocket is open or has failed. */
  settled(): void;
  /** Reports that its WebSocket is closed. */
  closed(): void;
}

/** Begins an upgrade; `listen` bounds those that Deno never opens. */
async function beginOnDeno({ req }: Context): Promise<Upgrade | undefined> {
  const exchange = exchangeOf(req.raw);
  if (!exchange) return undefined;
  const settled = await exchange.upgrades.begin(req.raw);
  if (!settled) throw new ServiceUnavailableException("No more WebSockets can be opened");
  return { settled, closed: () => exchange.underWay.end() };
}

function counted(events: WSEvents, upgrade: Upgrade | undefined): WSEvents {
  return {
    ...events,
    onOpen(event, socket) {
      upgrade?.settled();
      events.onOpen?.(event, socket);
    },
    onError(event, socket) {
      upgrade?.settled();
      events.onError?.(event, socket);
    },
    onClose(event, socket) {
      upgrade?.closed();
      events.onClose?.(event, socket);
    },
  };
}

/** `Upgrade` is case-insensitive (RFC 6455 §4.2.1), but not in Hono's helper for Deno. */
function lowerCased(c: Context): Context {
  const header = (name: string) => name === "upgrade" ? "websocket" : c.req.header(name);
  const req = Object.create(c.req, { header: { value: header } });
  return Object.create(c, { req: { value: req } });
}
