/**
 * Limits what a WebSocket buffers for a client that does not read.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";

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
}

/** The default limit in bytes: 4 MiB. */
const DEFAULT_BYTES = 4 * 1024 * 1024;

/** The largest limit in bytes: above it, Bun drops messages. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A WebSocket of Deno, Bun or `ws`. */
interface RuntimeSocket {
  readonly bufferedAmount?: number;
  getBufferedAmount?(): number;
  close(code: number, reason: string): void;
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
export function limitSends(socket: object, maxBytes: number): void {
  const raw = socket as RuntimeSocket; // the packages have no types
  let isClosed = false;
  for (const name of SENDS) {
    const send = raw[name];
    if (send) raw[name] = (...args) => hasRoom() ? send.apply(raw, args) : undefined;
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
