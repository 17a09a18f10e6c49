/**
 * Limits what a WebSocket buffers for a client that does not read, the messages of a client that
 * wait for their handlers, and what it can be closed with; catches the errors of its handlers.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { WSContext, WSEvents } from "hono/ws";

/** Options of `upgradeWebSocket()`. */
export interface WebSocketOptions {
  /**
   * How many bytes a socket may buffer for a client that does not read, from 0 to 16 MiB; default
   * 4 MiB. A send that finds more closes the socket with 1013. One message may be larger. workerd
   * ignores it.
   */
  readonly maxBufferedBytes?: number | undefined;
  /**
   * How many messages of a client may wait for `onMessage` at once, a positive integer; default
   * 1000. One more closes the socket with 1008; on Deno, a client that goes on sending may see its
   * connection lost instead.
   */
  readonly maxPendingMessages?: number | undefined;
  /**
   * How many bytes of messages may wait so, a positive integer; default 16 MiB. One that exceeds
   * them closes the socket with 1008, unless it is the only one. A character of text counts as one.
   */
  readonly maxPendingBytes?: number | undefined;
}

/** The limits of a socket. */
interface Limits {
  /** The most bytes that it buffers. */
  readonly maxBytes: number;
  /** The most messages that wait for their handlers. */
  readonly pending: PendingLimits;
}

/**
 * Limits the sends, the closes and the messages of a socket, before anything can be sent, and
 * catches the errors of its handlers.
 */
export function limited(events: WSEvents, { maxBytes, pending }: Limits): WSEvents {
  const handlers = guarded(events, pending);
  return {
    ...handlers,
    onOpen(event, socket) {
      const raw = socket.raw as object; // each runtime has one
      limitSends(raw, maxBytes);
      checkCloses(raw);
      handlers.onOpen?.(event, socket);
    },
  };
}

/** The default limit in bytes: 4 MiB. */
const DEFAULT_BYTES = 4 * 1024 * 1024;

/** The largest limit in bytes: above it, Bun drops messages. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A WebSocket of Deno, Bun or `ws`. */
interface RuntimeSocket {
  readonly bufferedAmount?: number;
  getBufferedAmount?(): number;
  close(code?: number, reason?: string): void;
  send?: Send;
  sendText?: Send;
  sendBinary?: Send;
  ping?: Send;
  pong?: Send;
}

type Send = (...args: unknown[]) => unknown;

/** The methods that send; `ws` answers the pings of its client with `pong`. */
const SENDS = ["send", "sendText", "sendBinary", "ping", "pong"] as const;

/**
 * Returns a limit in bytes.
 *
 * @throws {RangeError} if it is not an integer from 0 to 16 MiB
 */
export function checkedSendLimit(bytes: number = DEFAULT_BYTES): number {
  if (Number.isInteger(bytes) && bytes >= 0 && bytes <= MAX_BYTES) return bytes;
  throw new RangeError(
    `Cannot buffer ${bytes} bytes for a WebSocket: it is not an integer from 0 to ${MAX_BYTES}`,
  );
}

/**
 * Makes a socket close with 1013 instead of sending once it buffers more than `maxBytes`. The
 * message itself does not count, so that one of any size can be sent.
 */
function limitSends(socket: object, maxBytes: number): void {
  const raw = socket as RuntimeSocket; // the packages have no types
  let isClosed = false;
  for (const name of SENDS) {
    const send = raw[name];
    if (!send) continue;
    raw[name] = (...args) => {
      if (hasRoom()) return send.apply(raw, args);
      const done = args.at(-1); // the callback of Node
      if (typeof done === "function") done(new Error("Cannot send: the WebSocket is closed"));
      return undefined;
    };
  }

  function hasRoom(): boolean {
    if (isClosed) return false;
    const bytes = raw.getBufferedAmount?.() ?? raw.bufferedAmount ?? 0;
    if (bytes <= maxBytes) return true;
    isClosed = true;
    getLogger(["fw", "runtime"]).warn(
      "A WebSocket is closed: its client has not read {bytes} bytes",
      { bytes },
    );
    raw.close(1013, "The client does not read");
    return false;
  }
}

/** The longest reason of a close in bytes (RFC 6455 §5.5). */
const MAX_REASON_BYTES = 123;

/**
 * Makes a socket throw a `RangeError` if it is closed with a code that no endpoint sends (RFC 6455
 * §7.4), or with too long a reason. The runtimes differ: on Node it would stay open for ever.
 */
function checkCloses(socket: object): void {
  const raw = socket as RuntimeSocket; // the packages have no types
  const { close } = raw;
  raw.close = (code, reason = "") => {
    const isCode = code === undefined || /^(?:100[0-37-9]|101[0-4]|[34]\d{3})$/.test(String(code));
    if (!isCode) throw new RangeError(`Cannot close a WebSocket: ${code} is not a code to send`);
    const { byteLength } = new TextEncoder().encode(reason);
    if (byteLength > MAX_REASON_BYTES) {
      throw new RangeError(`Cannot close a WebSocket: its reason has ${byteLength} bytes of 123`);
    }
    close.call(raw, code, reason);
  };
}

/** What may wait for its handlers. */
export interface PendingLimits {
  /** The number of messages. */
  readonly messages: number;
  /** The bytes of all messages, if there are several. */
  readonly bytes: number;
}

/** Handles a message; its promise resolves when the message is handled. */
type MessageHandler = (event: MessageEvent, socket: WSContext) => Promise<void>;

/**
 * Returns the limits of options.
 *
 * @throws {RangeError} if one is not a positive integer
 */
export function checkedPendingLimits(
  { maxPendingMessages = 1000, maxPendingBytes = 16 * 1024 * 1024 }: WebSocketOptions,
): PendingLimits {
  for (const [limit, what] of [[maxPendingMessages, ""], [maxPendingBytes, "bytes of "]] as const) {
    if (Number.isSafeInteger(limit) && limit > 0) continue;
    throw new RangeError(
      `Cannot wait for ${limit} ${what}WebSocket messages: it is not a positive integer`,
    );
  }
  return { messages: maxPendingMessages, bytes: maxPendingBytes };
}

/**
 * Makes a handler close its socket with 1008 once more messages wait than the limits allow; then it
 * ignores those that follow. Messages of one packet reach Node at once: those beyond a limit are
 * held until the handlers of the others have ended that wait for nothing.
 */
function limitPending(handle: MessageHandler, limits: PendingLimits): MessageHandler {
  const held: MessageEvent[] = [];
  let pending = 0;
  let bytes = 0;
  let isClosed = false;

  async function start(event: MessageEvent, socket: WSContext): Promise<void> {
    const size = sizeOf(event);
    pending++;
    bytes += size;
    try {
      await handle(event, socket);
    } finally {
      pending--;
      bytes -= size;
    }
  }

  function hasRoom(event: MessageEvent | undefined): event is MessageEvent {
    if (!event) return false;
    const hasBytes = pending === 0 || bytes + sizeOf(event) <= limits.bytes;
    return hasBytes && pending < limits.messages;
  }

  async function resume(socket: WSContext): Promise<void> {
    while (held.length > 0) {
      for (let turn = 0; turn < MICROTASKS && !hasRoom(held[0]); turn++) await undefined;
      if (!hasRoom(held[0])) await new Promise((resolve) => setTimeout(resolve));
      if (!hasRoom(held[0])) return close(socket);
      while (hasRoom(held[0])) void start(held.shift()!, socket);
    }
  }

  function close(socket: WSContext): void {
    isClosed = true;
    held.length = 0;
    getLogger(["fw", "runtime"]).warn(
      "A WebSocket is closed: {pending} of its messages are being handled",
      { pending },
    );
    socket.close(1008, "Too many messages");
  }

  return async function onMessage(event, socket) {
    if (isClosed) return;
    if (held.length === 0 && hasRoom(event)) return await start(event, socket);
    if (held.push(event) === 1) await resume(socket);
  };
}

/** Returns the bytes of a message, or the characters of text. */
function sizeOf({ data }: MessageEvent): number {
  return typeof data === "string" ? data.length : data.byteLength ?? data.size;
}

/** How many turns of the microtask queue a handler that waits for nothing usually takes. */
const MICROTASKS = 10;

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
