/**
 * The state that the server on Deno keeps with a request, and its signal.
 *
 * @module
 */
import { receivedRequest } from "../platform/received_request.ts";
import type { Delivery, UnderWay } from "./deno_server.ts";
import type { DenoUpgrades } from "./deno_upgrades.ts";

/** The delivery of a request, and the server that received it. */
export interface Exchange {
  /** What Deno knows of its response. */
  readonly info: Delivery;
  /** The upgrades of its server. */
  readonly upgrades: DenoUpgrades;
  /** The requests of its server. */
  readonly underWay: UnderWay;
}

const EXCHANGE = Symbol("fw.exchange");
const SIGNAL = Symbol("fw.signal");

interface ServedRequest extends Request {
  [EXCHANGE]?: Exchange;
  [SIGNAL]?: AbortSignal;
}

/** Returns the exchange of a request, or `undefined` if another program serves it. */
export function exchangeOf(request: Request): Exchange | undefined {
  return (receivedRequest(request) as ServedRequest)[EXCHANGE];
}

/** Sets the exchange of a request, as soon as it has arrived. */
export function setExchange(request: Request, exchange: Exchange): void {
  (request as ServedRequest)[EXCHANGE] = exchange; // a private symbol
}

const { get: nativeSignal } = Object.getOwnPropertyDescriptor(Request.prototype, "signal") ?? {};

/**
 * Makes the signals of requests with an exchange abort only if the client disconnects before the
 * response was sent. Without `--unstable-no-legacy-abort`, Deno aborts them after every response.
 * For Deno the end of a stream is a disconnect: there the signal still aborts after the response.
 *
 * It patches the prototype, as to change each request takes a tenth of its time. Requests without
 * an exchange keep their signal.
 */
export function abortOnlyEarly(): void {
  dropSignalWarning();
  Object.defineProperty(Request.prototype, "signal", {
    configurable: true,
    enumerable: true,
    get(this: ServedRequest): AbortSignal {
      const native: AbortSignal = nativeSignal?.call(this);
      const exchange = exchangeOf(this);
      return exchange ? this[SIGNAL] ??= earlySignal(native, exchange) : native;
    },
  });
}

/** How Deno warns of what {@linkcode abortOnlyEarly} changes. */
const WARNING = "Deno.serve: request.signal aborts on successful responses";

/**
 * Drops the warning, which Deno prints after the first response whose request had its signal read:
 * if it cannot be written, such as on a full disk, the process aborts.
 */
function dropSignalWarning(): void {
  const { warn } = console;
  if (warn.name === "dropOnce") return; // another server has begun
  console.warn = function dropOnce(...args: unknown[]) {
    if (!String(args[0]).startsWith(WARNING)) return warn.apply(console, args);
    if (console.warn === dropOnce) console.warn = warn;
  };
}

function earlySignal(native: AbortSignal, { info: { completed } }: Exchange): AbortSignal {
  const early = new AbortController();
  let delivered = false;
  completed.then(() => delivered = true, () => {});
  const abort = () =>
    // If the response was sent, `completed` resolves just before the signal aborts.
    queueMicrotask(() => {
      if (!delivered) early.abort(native.reason);
    });
  if (native.aborted) setTimeout(abort); // `completed` may be resolved already
  else native.addEventListener("abort", abort);
  return early.signal;
}
