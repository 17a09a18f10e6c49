/**
 * Listens on Bun.
 *
 * @module
 */
import type { websocket as Websocket } from "hono/bun";
import {
  type AdapterOptions,
  type Address,
  answerHead,
  type FetchHandler,
  type FetchMiddleware,
  GOING_AWAY,
  isAnswerable,
  type RuntimeServer,
  SKIPPED,
  type TlsOptions,
} from "./adapter.ts";
import { whenReady } from "../platform/ready.ts";
import { markCopy } from "../platform/received_request.ts";
import { within } from "../platform/time_limit.ts";

/** The largest idle timeout of Bun in seconds; its default of 10 would interrupt slow handlers. */
const IDLE_TIMEOUT_S = 255;

/**
 * How long a response waits for the next part of a body that no handler has read, in milliseconds:
 * its client may wait for the response.
 */
const PAUSE_MS = 1_000;

/** The status of a response to a body that does not arrive in time. */
const TOO_SLOW = 408;

type Socket = Parameters<typeof Websocket.open>[0];

interface Server {
  requestIP(request: Request): { readonly address: string } | null;
}

/** The part of Bun that is used here; the package does not depend on its types. */
interface Bun {
  serve(options: {
    readonly hostname?: string;
    readonly port?: number;
    readonly unix?: string;
    readonly tls?: TlsOptions;
    readonly idleTimeout: number;
    readonly development: boolean;
    readonly reusePort: boolean;
    readonly fetch: (request: Request, server: Server) => ReturnType<FetchHandler>;
    readonly websocket: typeof Websocket;
  }): { readonly port?: number; stop(closeActiveConnections?: boolean): Promise<void> };
}

/** Listens with `Bun.serve`. */
export function listenOnBun(
  fetch: FetchHandler,
  address: Address,
  { tls }: AdapterOptions,
): RuntimeServer {
  const middleware = bunMiddleware(tls ? "https" : "http");
  const sockets = new Set<Socket>();
  let stopping = false;
  let events: typeof Websocket | undefined;
  const loadEvents = async () => { // by the first upgrade: many applications have no WebSocket
    ({ websocket: events } = await import("hono/bun"));
  };
  const handle = (received: Request, server: Server): Response | Promise<Response> =>
    middleware(received, (request) => {
      const env = new Bindings(server, received);
      return !events && request.headers.has("upgrade")
        ? loadEvents().then(() => fetch(request, env))
        : fetch(request, env);
    });
  const { Bun } = globalThis as unknown as { readonly Bun: Bun };
  const server = Bun.serve({
    ...("path" in address ? { unix: address.path } : address),
    ...tls && { tls },
    idleTimeout: IDLE_TIMEOUT_S,
    // In development, Bun responds to failures with a page that shows the code; without
    // `reusePort: false` it then shares a port that is in use.
    development: false,
    reusePort: false,
    fetch: handle,
    websocket: {
      open(socket) {
        sockets.add(socket);
        events?.open(socket);
        if (stopping) socket.close(...GOING_AWAY);
      },
      message: (socket, message) => events?.message(socket, message),
      close(socket, code, reason) {
        sockets.delete(socket);
        events?.close(socket, code, reason);
      },
    },
  });
  return {
    port: server.port ?? 0,
    stop() {
      stopping = true;
      for (const socket of sockets) socket.close(...GOING_AWAY);
      return server.stop();
    },
    cut: () => server.stop(true),
  };
}

/** The bindings of a request: an object literal with a getter would be slower. */
class Bindings {
  /** Read by Hono's helpers. */
  readonly server: Server;
  readonly #received: Request;

  constructor(server: Server, received: Request) {
    this.server = server;
    this.#received = received;
  }

  get remoteAddr() {
    return { hostname: this.server.requestIP(this.#received)?.address };
  }
}

/** Returns the middleware of `listen` and of the exported `fetch` of an application. */
export function bunMiddleware(scheme: "http" | "https"): FetchMiddleware {
  return (received, answer) => {
    const { method, url, headers } = received;
    if (!isAnswerable({ method, url, host: headers.get("host") })) {
      return new Response(null, { status: 400 });
    }
    const rest = headers.has("transfer-encoding") ? separateReader(received) : undefined;
    const response = url.startsWith("/")
      // without a host, Bun passes only the path
      ? answer(markCopy(new Request(`${scheme}://localhost${url}`, received), received))
      : answer(received);
    if (method === "HEAD") return answerHead(response, withEncoding);
    return method === "GET"
      ? response
      : whenReady(response, (response) => answerAfterBody(response, received, rest));
  };
}

/** A source of the reader of a body; of none if it is locked. */
type Rest = () => ReadableStreamDefaultReader<Uint8Array> | undefined;

/**
 * Separates a body in chunks from its reader: Bun discards a body that is cancelled, such as one
 * over its limit, so that the rest could not be read.
 */
function separateReader(request: Request): Rest {
  const source = request.body;
  let reader: ReturnType<Rest>;
  const rest = () => reader ??= source?.locked ? undefined : source?.getReader();
  const body = source && new ReadableStream({
    async pull(controller) {
      const { done, value } = await rest()!.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  }, { highWaterMark: 0 });
  Object.defineProperty(request, "body", { value: body });
  return rest;
}

/**
 * Sends the last response of a connection when the rest of its request has arrived, up to
 * {@linkcode SKIPPED}: Bun resets a connection that it closes before.
 */
function answerAfterBody(
  response: Response,
  request: Request,
  rest: Rest | undefined,
): Response | Promise<Response> {
  if (!rest && (request.bodyUsed || request.body?.locked !== false)) return response; // it is read
  const isAfterBody = (isLast(response) || isLast(request)) && response.status !== TOO_SLOW;
  const reader = isAfterBody ? rest ? rest() : request.body?.getReader() : undefined;
  return reader ? skip(reader).then(() => response) : response;
}

function isLast({ headers }: Request | Response): boolean {
  return /\bclose\b/i.test(headers.get("connection") ?? "");
}

async function skip(reader: NonNullable<ReturnType<Rest>>): Promise<void> {
  const endMs = performance.now() + SKIPPED.ms;
  let bytes = 0;
  while (bytes <= SKIPPED.bytes && performance.now() < endMs) {
    const reading = reader.read().catch(() => ({ done: true, value: undefined }));
    if (!await within(reading, PAUSE_MS)) return;
    const { done, value } = await reading;
    if (done) return;
    bytes += value?.byteLength ?? 0;
  }
}

/** Bun sends no length with a transfer encoding (RFC 9112 §6.1 allows one in response to HEAD). */
function withEncoding(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set("transfer-encoding", "chunked");
  return new Response(null, { status: response.status, statusText: response.statusText, headers });
}
