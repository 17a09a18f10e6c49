/**
 * What a request of `Deno.serve` lacks to be like those of other runtimes. Properties are put on the
 * request itself: a copy could not be upgraded to a WebSocket.
 *
 * @module
 */

/** As much of Deno's `ServeHandlerInfo` as is used here. */
interface Delivery {
  /** Settles once the response is sent, or has failed. */
  readonly completed: Promise<void>;
}

const DELIVERY = Symbol("fw.delivery");
const SIGNAL = Symbol("fw.signal");

/** A request with what its signal is made of. */
interface TrackedRequest extends Request {
  [DELIVERY]?: Delivery;
  [SIGNAL]?: AbortSignal;
}

/** What stands between a request and its class: one accessor for all of them. */
const TRACKED: object = Object.create(Request.prototype, {
  signal: {
    configurable: true,
    get(this: TrackedRequest): AbortSignal {
      const native = nativeSignal(this);
      const delivery = this[DELIVERY];
      return this[SIGNAL] ??= delivery ? earlySignal(native, delivery) : native;
    },
  },
});

/**
 * Makes the signal of a request abort if the client leaves before it has its response, not after
 * that, as Deno has it without `--unstable-no-legacy-abort`. The end of a stream looks to Deno as if
 * the client had left: there the signal still aborts once all is sent.
 */
export function abortingOnlyEarly(request: Request, delivery: Delivery): Request {
  (request as TrackedRequest)[DELIVERY] = delivery; // which nobody else can see
  return Object.setPrototypeOf(request, TRACKED);
}

/** Gives a request that came over a Unix socket a URL of HTTP: Deno's begins with `http+unix:`. */
export function overHttp(request: Request): Request {
  const url = new URL(request.url.replace(/^http\+unix:\/\/[^/]*/, "http://localhost"));
  const host = request.headers.get("host");
  if (host) url.host = host;
  return Object.defineProperty(request, "url", { configurable: true, value: url.href });
}

function nativeSignal(request: Request): AbortSignal {
  return Reflect.get(Request.prototype, "signal", request);
}

function earlySignal(native: AbortSignal, { completed }: Delivery): AbortSignal {
  const early = new AbortController();
  let delivered = false;
  completed.then(() => delivered = true, () => {});
  native.addEventListener("abort", () => {
    // Where the response is sent, `completed` has been resolved just before the signal aborts.
    queueMicrotask(() => {
      if (!delivered) early.abort(native.reason);
    });
  });
  return early.signal;
}
