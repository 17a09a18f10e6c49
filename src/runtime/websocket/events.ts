/**
 * Limits a WebSocket, and catches the errors of its handlers.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { WSContext, WSEvents } from "hono/ws";
import { isPromiseLike } from "../../platform/ready.ts";
import type { WaitUntil } from "../../platform/wait_until.ts";
import { limitPending, type PendingLimits } from "./pending_messages.ts";
import { checkCloses, limitSends } from "./sends.ts";

/** The limits of a socket, and what waits for its handlers. */
interface Limits {
  /** The most bytes that it buffers. */
  readonly maxBytes: number;
  /** The most messages that wait for their handlers. */
  readonly pending: PendingLimits;
  /** Keeps an asynchronous handler running while the application stops. */
  readonly waitUntil: WaitUntil | undefined;
}

/**
 * Limits the sends, the closes and the messages of a socket, before anything can be sent, and
 * catches the errors of its handlers.
 */
export function limited(events: WSEvents, limits: Limits): WSEvents {
  const { maxBytes } = limits;
  const handlers = guarded(events, limits);
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
  { pending, waitUntil }: Limits,
): WSEvents {
  let opening: Promise<void> | undefined;
  const open = onOpen && guard(onOpen, waitUntil);
  const message = onMessage && guard(onMessage, waitUntil);
  const limitedMessage = message && limitPending(async (event, socket) => {
    if (opening) {
      await opening;
      if (!isOpen(socket)) return; // `onOpen` has failed, or has closed it
    }
    await message(event, socket);
  }, pending);
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
    ...onClose && { onClose: guard(onClose, waitUntil) },
    ...onError && { onError: guard(onError, waitUntil) },
  };
}

/** Checks whether a socket is open now; `readyState` of its context is older on Bun. */
function isOpen({ raw }: WSContext): boolean {
  return (raw as { readonly readyState: number }).readyState === 1; // each runtime has one
}

type EventHandler<E, R = unknown> = (event: E, socket: WSContext) => R;

function guard<E>(
  handler: EventHandler<E>,
  waitUntil: WaitUntil | undefined,
): EventHandler<E, Promise<void>> {
  return async (event, socket) => {
    try {
      const handled = handler(event, socket);
      if (isPromiseLike(handled)) waitUntil?.(Promise.resolve(handled).catch(() => {}));
      await handled;
    } catch (error) {
      getLogger(["fw", "runtime"]).error("A WebSocket handler failed: {error}", { error });
      socket.close(1011, "Internal error");
    }
  };
}
