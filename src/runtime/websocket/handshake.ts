/**
 * The handshake of a WebSocket (RFC 6455 §4).
 *
 * @module
 */
import type { WSEvents } from "hono/ws";
import { getRuntimeKey } from "hono/adapter";
import type { Context } from "../../core/http/context.ts";
import { BadRequestException, HttpException } from "../../core/http/http_exception.ts";
import { CONTROL } from "../adapter.ts";

/** A handshake that the application has accepted. */
export interface Handshake {
  /** A context for Hono's helpers: `Upgrade` is in lower case, and the subprotocol is selected. */
  readonly c: Context;
  /** The handlers of the events. */
  readonly events: WSEvents;
  /** The headers that the application adds. */
  readonly headers: Headers;
}

/** The header with the subprotocols. */
export const PROTOCOL = "sec-websocket-protocol";

/** 16 bytes in Base64. */
const KEY = /^[\w+/]{21}[AQgw]==$/;

/** A token (RFC 9110 §5.6.2). */
const TOKEN = /^[!#$%&'*+.^`|~\w-]+$/;

/**
 * Checks the request before the runtime does: each runtime refuses it in its own way.
 *
 * @throws {HttpException} 426 if it asks for no WebSocket of version 13, 400 if it is invalid
 */
export function checkHandshake({ req }: Context): void {
  const { method, headers } = req.raw;
  // on workerd, an upgrade needs no other header
  const isComplete = getRuntimeKey() === "workerd";
  const asks = method === "GET" && headers.get("upgrade")?.toLowerCase() === "websocket" &&
    (isComplete || /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(headers.get("connection") ?? ""));
  if (!asks) refuse("The request must be upgraded to a WebSocket");
  if (isComplete) return;
  if (headers.get("sec-websocket-version") !== "13") refuse("The version of WebSocket must be 13");
  const protocols = headers.get(PROTOCOL) ?? "chat";
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

/**
 * Returns the subprotocol of the response, or the first that the client has offered.
 *
 * @throws {TypeError} if the client has not offered that of the response: it would disconnect
 */
export function subprotocol({ req }: Context, sent: Headers): string | undefined {
  const offered = req.raw.headers.get(PROTOCOL)?.split(",").map((name) => name.trim()) ?? [];
  const protocol = sent.get(PROTOCOL) ?? offered[0];
  if (protocol === undefined || offered.includes(protocol)) return protocol;
  throw new TypeError(
    "Cannot upgrade to a WebSocket: the client has not offered the subprotocol " +
      JSON.stringify(protocol),
  );
}

/** The headers of a handshake, which the runtime sets, and those of a body or a connection. */
const HANDSHAKE =
  /^(?:connection|content-length|keep-alive|te|trailer|transfer-encoding|upgrade|sec-websocket-.*)$/;

/**
 * Returns the headers that the application adds to those of the handshake.
 *
 * @throws {TypeError} if one has a control character: Deno cannot send it
 */
export function added(sent: Headers): Headers {
  const headers = new Headers();
  sent.forEach((value, name) => {
    if (CONTROL.test(value)) {
      throw new TypeError(
        `Cannot upgrade to a WebSocket: the header ${name} has a control character`,
      );
    }
    if (!HANDSHAKE.test(name)) headers.append(name, value);
  });
  return headers;
}

/** Returns a context for Hono's helpers, in which some headers of the request are replaced. */
export function withFields(
  c: Context,
  fields: Readonly<Record<string, string | undefined>>,
): Context {
  const header = (name: string) => name in fields ? fields[name] : c.req.header(name);
  const req = Object.create(c.req, { header: { value: header } });
  return Object.create(c, { req: { value: req } });
}
