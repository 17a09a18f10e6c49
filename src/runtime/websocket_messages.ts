/**
 * Limits the messages of a WebSocket that wait for their handlers.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { WSContext } from "hono/ws";

/** The default limit. */
const DEFAULT_MESSAGES = 1000;

/** Handles a message; its promise resolves when the message is handled. */
type MessageHandler = (event: MessageEvent, socket: WSContext) => Promise<void>;

/**
 * Returns a number of messages.
 *
 * @throws {RangeError} if it is not a positive integer
 */
export function checkedPendingLimit(messages: number = DEFAULT_MESSAGES): number {
  if (Number.isSafeInteger(messages) && messages > 0) return messages;
  throw new RangeError(
    `Cannot wait for ${messages} WebSocket messages: it is not a positive integer`,
  );
}

/**
 * Makes a handler close its socket with 1008 once more messages than `maxMessages` are being
 * handled; then it ignores those that follow.
 */
export function limitPending(handle: MessageHandler, maxMessages: number): MessageHandler {
  let pending = 0;
  let isClosed = false;
  return async function onMessage(event, socket) {
    if (isClosed) return;
    if (pending >= maxMessages) {
      isClosed = true;
      getLogger(["fw", "runtime"]).warn(
        "A WebSocket is closed: {pending} of its messages are being handled",
        { pending },
      );
      socket.close(1008, "Too many messages");
      return;
    }
    pending++;
    try {
      await handle(event, socket);
    } finally {
      pending--;
    }
  };
}
