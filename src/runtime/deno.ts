/**
 * Listening on Deno.
 *
 * @module
 */
import {
  type AdapterOptions,
  type Address,
  type FetchHandler,
  isAnswerable,
  type RuntimeServer,
} from "./adapter.ts";

/** Listens with `Deno.serve`, which closes WebSockets by itself when it stops. */
export function listenOnDeno(
  fetch: FetchHandler,
  address: Address,
  { tls }: AdapterOptions,
): RuntimeServer {
  const abort = new AbortController();
  const gaveUp = Promise.withResolvers<void>();
  let stopping = false;
  const handle = (request: Request, info: Deno.ServeHandlerInfo) => {
    if (!isAnswerable(request)) return new Response(null, { status: 400 });
    return fetch(abortingOnlyEarly(request, info), info);
  };
  const common = { signal: abort.signal, onListen() {} };
  const server = "path" in address
    ? Deno.serve(
      { ...common, path: address.path },
      (request, info) => handle(overHttp(request), info),
    )
    : Deno.serve({ ...common, ...address, ...tls }, handle);
  return {
    port: "port" in server.addr ? server.addr.port : 0,
    stop() {
      stopping = true;
      return Promise.race([server.shutdown(), gaveUp.promise]);
    },
    cut() {
      // Deno cannot cut what a graceful shutdown has left over: that ends with the process.
      if (stopping) gaveUp.resolve();
      else abort.abort();
      return stopping ? gaveUp.promise : server.finished;
    },
  };
}

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
function abortingOnlyEarly(request: Request, delivery: Delivery): Request {
  (request as TrackedRequest)[DELIVERY] = delivery; // which nobody else can see
  return Object.setPrototypeOf(request, TRACKED);
}

/** Gives a request that came over a Unix socket a URL of HTTP: Deno's begins with `http+unix:`. */
function overHttp(request: Request): Request {
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
