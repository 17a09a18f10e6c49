/**
 * Limits what a WebSocket buffers for a client that does not read, and what it can be closed with.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";

/** The default limit in bytes: 4 MiB. */
const DEFAULT_BYTES = 4 * 1024 * 1024;

/** The largest limit in bytes: above it, Bun drops messages. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The longest reason of a close in bytes (RFC 6455 §5.5). */
export const MAX_REASON_BYTES = 123;

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
export function limitSends(socket: object, maxBytes: number): void {
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

/**
 * Makes a socket throw a `RangeError` if it is closed with a code that no endpoint sends (RFC 6455
 * §7.4), or with too long a reason. The runtimes differ: on Node it would stay open for ever.
 */
export function checkCloses(socket: object): void {
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
