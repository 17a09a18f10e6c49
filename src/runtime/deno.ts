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
  BACKLOG,
  CONTROL,
  type FetchHandler,
  type FetchMiddleware,
  isAnswerable,
  type RuntimeServer,
} from "./adapter.ts";
import { callerContext } from "../platform/caller.ts";
import { whenReady } from "../platform/ready.ts";
import { headerOf } from "../platform/request_header.ts";
import {
  DENO_PARTS,
  headerListOf,
  isSentAtOnce,
  readArrivedBodies,
  readSingleHeaders,
} from "./deno_messages.ts";
import { abortOnlyEarly, setExchange } from "./deno_request.ts";
import { DenoServer } from "./deno_server.ts";
import { DenoUpgrades } from "./deno_upgrades.ts";
import { registerLightResponses } from "./light_responses.ts";

/** Listens with `Deno.serve`. */
export function listenOnDeno(
  fetch: FetchHandler,
  address: Address,
  { tls }: AdapterOptions,
): RuntimeServer {
  abortOnlyEarly();
  const upgrades = new DenoUpgrades();
  const middleware = denoMiddleware();
  return new DenoServer(({ signal, port, underWay }) => {
    const handle = (received: Request, info: Deno.ServeHandlerInfo) =>
      middleware(received, (request) => {
        const { method } = request;
        if (method === "GET" || method === "HEAD") return answer(request, info);
        if (!underWay.isTooLate(request)) return answerWithBody(request, info);
        return receiveFirst(request).then((whole) => answerWithBody(whole, info), tooLate);
      });
    const answer = (request: Request, info: Deno.ServeHandlerInfo) => {
      setExchange(request, { info, upgrades, underWay });
      upgrades.watch(request);
      const handled = fetch(request, info);
      return handled instanceof Promise ? underWay.track(handled) : handled;
    };
    const answerWithBody = (request: Request, info: Deno.ServeHandlerInfo) => {
      const response = answer(request, info);
      const isAnswered = !(response instanceof Promise) && isSentAtOnce(response);
      if (!isAnswered) underWay.receive(request, info); // otherwise nothing reads its body now
      return response;
    };
    const common = { signal, onListen() {} };
    if ("path" in address) return Deno.serve({ ...common, path: address.path }, handle);
    const tcp = { ...address, ...port && { port }, tcpBacklog: BACKLOG };
    return Deno.serve({ ...common, ...tcp, ...tls }, handle);
  }, () => upgrades.leave());
}

/**
 * Registers light responses and the header reader, and returns the middleware of `listen` and of
 * `deno serve`, which calls the exported `fetch` of an application.
 *
 * In Deno 2.9, a module that is loaded in a context of `AsyncLocalStorage` leaves the context to
 * the server: the next requests would begin in it, for example in a transaction of another request.
 * They begin in that of the database, if there is one.
 */
export function denoMiddleware(): FetchMiddleware {
  registerLightResponses(DENO_PARTS);
  readSingleHeaders();
  readArrivedBodies();
  const hasOnlyType = onlyTypeCheck();
  const checked = (response: Response) => hasOnlyType(response) ? response : sendable(response);
  const pass: FetchMiddleware = (received, answer) => {
    const request = overHttp(received);
    const { method, url } = request;
    if (!isAnswerable({ method, url, host: headerOf(request, "host") }) || isAmbiguous(url)) {
      return new Response(null, { status: 400 });
    }
    const response = whenReady(answer(request), checked);
    return method === "HEAD" ? answerHead(response, withEmptyStream) : response;
  };
  return (received, answer) => {
    const inContext = callerContext();
    return inContext ? inContext(pass, received, answer) : pass(received, answer);
  };
}

/**
 * A path with a segment that clients resolve before they send it (RFC 3986 §5.2.4), or with a
 * backslash. `URL` resolves the one and reads the other as a slash: the path of
 * `new URL(c.req.url)` would be another than that of the route.
 */
const AMBIGUOUS = /^[^?#]*(?:\\|\/(?:\.|%2e){1,2}(?:[/?#]|$))/i;

function isAmbiguous(url: string): boolean {
  const isCandidate = url.includes("/.") || url.includes("/%2") || url.includes("\\");
  return isCandidate && AMBIGUOUS.test(url);
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

/** Deno's numbers for the headers of a response that it has not read yet. */
const NO_HEADER = 1;
const ONLY_TYPE = 2;

/**
 * Returns a function that checks whether a response has no header, or only a valid content type, as
 * far as Deno still keeps them apart: once its headers are read, Deno sends it in a slower way.
 */
function onlyTypeCheck(): (response: Response) => boolean {
  const symbols = Object.getOwnPropertySymbols(new Response(""));
  const [kind, type] = ["serve fast header kind", "serve fast content type"].map((name) =>
    symbols.find(({ description }) => description === name)
  );
  if (!kind || !type) return () => false;
  const kindOf = (headers: HeadersInit) => Reflect.get(new Response("", { headers }), kind);
  if (
    kindOf({ "content-type": "text/plain" }) !== ONLY_TYPE ||
    kindOf({ "x-other": "1" }) === NO_HEADER
  ) {
    return () => false; // another version of Deno
  }
  let lastType = "";
  return (response) => {
    const headerKind: unknown = Reflect.get(response, kind);
    if (headerKind !== ONLY_TYPE) return headerKind === NO_HEADER; // others, or they were read
    const value: unknown = Reflect.get(response, type);
    if (value === lastType) return true;
    if (typeof value !== "string" || CONTROL.test(value)) return false;
    lastType = value;
    return true;
  };
}

/**
 * Returns the response, or one with the status 500 if a header of it has a control character: Deno
 * ends the process instead of sending it.
 */
function sendable(response: Response): Response {
  const invalid = headerListOf(response).find(([, value]) => CONTROL.test(value))?.[0];
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

/** The scheme of Deno's URLs of requests over a Unix socket. */
const UNIX = "http+unix:";

/** Sets an HTTP URL on a request over a Unix socket; returns others unchanged. */
function overHttp(request: Request): Request {
  if (!request.url.startsWith(UNIX)) return request;
  const path = request.url.slice(UNIX.length).replace(/^\/\/[^/]*/, "");
  const url = new URL(`http://localhost${path}`);
  const host = request.headers.get("host");
  if (host) url.host = host;
  return Object.defineProperty(request, "url", { configurable: true, value: url.href });
}
