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
  type TlsOptions,
} from "./adapter.ts";
import { whenReady } from "../platform/ready.ts";
import { markCopy } from "../platform/received_request.ts";
import { answerAfterBody, separateReader } from "./unread_body.ts";

/** The largest idle timeout of Bun in seconds; its default of 10 would interrupt slow handlers. */
const IDLE_TIMEOUT_S = 255;

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

/** Bun sends no length with a transfer encoding (RFC 9112 §6.1 allows one in response to HEAD). */
function withEncoding(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set("transfer-encoding", "chunked");
  return new Response(null, { status: response.status, statusText: response.statusText, headers });
}
