/**
 * Limits a WebSocket, and catches the errors of its handlers.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { WSContext, WSEvents } from "hono/ws";
import { limitPending, type PendingLimits } from "./pending_messages.ts";
import { checkCloses, limitSends } from "./sends.ts";

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
