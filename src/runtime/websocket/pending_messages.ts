/**
 * Limits the messages of a client that wait for their handlers.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { WSContext } from "hono/ws";
import type { WebSocketOptions } from "./options.ts";

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
 * Makes a handler close its socket with 1008 once more messages wait than the limits allow; later
 * messages are ignored. Node passes on all messages of a packet before promises resolve: those
 * beyond a limit are held for up to 1000 microtasks and one turn of the event loop, in which
 * handlers without I/O end. With more turns, slow handlers would make room for a client that never
 * stops.
 */
export function limitPending(handle: MessageHandler, limits: PendingLimits): MessageHandler {
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
    for (let first = 0, turns = 0; first < held.length;) {
      for (let turn = 0; turn < MICROTASKS && !hasRoom(held[first]); turn++) await undefined;
      if (!hasRoom(held[first]) && turns++ === 0) {
        await new Promise((resolve) => setTimeout(resolve));
      }
      if (isClosed) return;
      if (!hasRoom(held[first])) return close(socket);
      while (hasRoom(held[first])) void start(held[first++]!, socket);
    }
    held.length = 0;
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
    if (held.length === MAX_HELD) return close(socket);
    if (held.push(event) === 1) await resume(socket);
  };
}

/** Returns the bytes of a message, or the characters of text. */
function sizeOf({ data }: MessageEvent): number {
  return typeof data === "string" ? data.length : data.byteLength ?? data.size;
}

/** How many turns of the microtask queue a handler that waits for nothing takes at most. */
const MICROTASKS = 1000;

/** More messages than a packet of 64 KiB contains, which is the most that is read at once. */
const MAX_HELD = 16_384;
