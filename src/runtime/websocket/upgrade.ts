/**
 * The part of `upgradeWebSocket` that is loaded by its first call.
 *
 * @module
 */
import { getRuntimeKey } from "hono/adapter";
import type { WSEvents } from "hono/ws";
import type { IncomingMessage } from "node:http";
import type { Context } from "../../core/http/context.ts";
import { BadRequestException } from "../../core/http/http_exception.ts";
import { pendingUpgrade } from "../../core/http/pending_upgrade.ts";
import { problemResponse } from "../../core/http/problem.ts";
import { executionContextOf } from "../../platform/wait_until.ts";
import { limited } from "./events.ts";
import {
  added,
  checkHandshake,
  type Handshake,
  PROTOCOL,
  subprotocol,
  withFields,
} from "./handshake.ts";
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
  const waitUntil = executionContextOf(c)?.waitUntil.bind(c.executionCtx);
  checkHandshake(c);
  const upgrade = await loadUpgrade();
  return pendingUpgrade(c, async (sent) => {
    try {
      const headers = added(sent);
      const response = await upgrade({
        c: withFields(c, { upgrade: "websocket", [PROTOCOL]: subprotocol(c, sent) }),
        events: limited(handlers, { maxBytes, pending, waitUntil }),
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

/** Refuses a client that did not wait for the answer (RFC 6455 §4.1): Bun has lost its frames. */
function refuseEarly(): never {
  throw new BadRequestException("The client has sent more than the handshake, or is gone");
}

/** Upgrades a request of a runtime. */
type RuntimeUpgrade = (handshake: Handshake) => Promise<Response>;

async function loadUpgrade(): Promise<RuntimeUpgrade> {
  switch (getRuntimeKey()) {
    case "deno":
      return (await import("./deno_upgrade.ts")).upgradeOnDeno;
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
