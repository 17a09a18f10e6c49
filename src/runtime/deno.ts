/**
 * Listens on Deno.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import {
  type AdapterOptions,
  type Address,
  answerHead,
  type FetchHandler,
  isAnswerable,
  type RuntimeServer,
} from "./adapter.ts";
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

/** The controls that `Headers` takes, although no field value can have them (RFC 9110 §5.5). */
// deno-lint-ignore no-control-regex
const CONTROL = /[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/**
 * Returns the response, or one with the status 500 if a header of it has a control character: Deno
 * ends the process instead of sending it.
 */
function sendable(response: Response): Response {
  let invalid: string | undefined;
  response.headers.forEach((value, name) => {
    if (CONTROL.test(value)) invalid = name;
  });
  if (invalid === undefined) return response;
  getLogger(["fw", "runtime"]).error(
    "Cannot send a response: its header {name} has a control character",
    { name: invalid },
  );
  response.body?.cancel().catch(() => {}); // it is not read, and its source would not end
  return problem({ status: 500, title: "Internal Server Error" });
}

/** The response to a request whose body does not arrive before the server stops. */
function tooLate(): Response {
  return problem(
    { status: 503, title: "Service Unavailable", detail: "The server is stopping" },
    { connection: "close", "retry-after": "1" },
  );
}

/** Sets a body that has no length: Deno sends none for a stream. */
function withEmptyStream(response: Response): Response {
  return new Response(new ReadableStream({ start: (stream) => stream.close() }), response);
}

function problem(
  members: { readonly status: number; readonly title: string; readonly detail?: string },
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ type: "about:blank", ...members }, {
    status: members.status,
    headers: { "content-type": "application/problem+json", ...headers },
  });
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
