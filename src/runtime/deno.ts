/**
 * Listens on Deno.
 *
 * @module
 */
import {
  type AdapterOptions,
  type Address,
  answerHead,
  type FetchHandler,
  isAnswerable,
  type RuntimeServer,
} from "./adapter.ts";
import { sendable, tooLate, withEmptyStream } from "./deno_responses.ts";
import { DenoServer } from "./deno_server.ts";
import { DenoUpgrades } from "./deno_upgrades.ts";

/** Listens with `Deno.serve`, which closes WebSockets by itself when it stops. */
export function listenOnDeno(
  fetch: FetchHandler,
  address: Address,
  { tls }: AdapterOptions,
): RuntimeServer {
  const upgrades = new DenoUpgrades();
  return new DenoServer(({ signal, port, underWay }) => {
    const answer = (request: Request, info: Deno.ServeHandlerInfo) => {
      upgrades.attach(request, underWay);
      const handled = fetch(abortingOnlyEarly(request, info), info);
      const checked = handled instanceof Promise ? handled.then(sendable) : sendable(handled);
      const response = underWay.track(checked, { request, info });
      return request.method === "HEAD" ? answerHead(response, withEmptyStream) : response;
    };
    const handle = (request: Request, info: Deno.ServeHandlerInfo) => {
      if (!isAnswerable(request)) return new Response(null, { status: 400 });
      if (!underWay.isTooLate(request)) return answer(request, info);
      return receiveFirst(request).then((whole) => answer(whole, info), tooLate);
    };
    const common = { signal, onListen() {} };
    return "path" in address
      ? Deno.serve(
        { ...common, path: address.path },
        (request, info) => handle(overHttp(request), info),
      )
      : Deno.serve({ ...common, ...address, ...port && { port }, ...tls }, handle);
  });
}

/** The longest late body in bytes. */
const LATE_BYTES = 64 * 1024;

/** Receives the body of a request before it is handled; rejects if the server stops before that. */
async function receiveFirst(request: Request): Promise<Request> {
  const { url, method, headers, signal } = request;
  const length = Number(headers.get("content-length") ?? Infinity);
  if (length > LATE_BYTES) throw new RangeError(`Cannot receive ${length} bytes: it is too late`);
  return new Request(url, { method, headers, signal, body: await request.arrayBuffer() });
}

/** The part of Deno's `ServeHandlerInfo` that is used here. */
interface Delivery {
  /** Settles when the response has been sent or has failed. */
  readonly completed: Promise<void>;
}

const DELIVERY = Symbol("fw.delivery");
const SIGNAL = Symbol("fw.signal");

/** A request with the state of its signal. */
interface TrackedRequest extends Request {
  [DELIVERY]?: Delivery;
  [SIGNAL]?: AbortSignal;
}

/**
 * The prototype of requests, with one accessor for all of them. A copy of a request
 * cannot be upgraded.
 */
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
 * Makes the signal of a request abort only if the client disconnects before the response was sent.
 * Without `--unstable-no-legacy-abort`, Deno aborts it after every response. For Deno the end of a
 * stream is a disconnect: there the signal still aborts after the response.
 */
function abortingOnlyEarly(request: Request, delivery: Delivery): Request {
  (request as TrackedRequest)[DELIVERY] = delivery; // a private symbol
  return Object.setPrototypeOf(request, TRACKED);
}

/** Sets an HTTP URL on a request over a Unix socket: Deno's begins with `http+unix:`. */
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
  const abort = () =>
    // If the response was sent, `completed` resolves just before the signal aborts.
    queueMicrotask(() => {
      if (!delivered) early.abort(native.reason);
    });
  if (native.aborted) setTimeout(abort); // `completed` may be resolved already
  else native.addEventListener("abort", abort);
  return early.signal;
}
