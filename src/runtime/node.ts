/**
 * Listens on Node.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type AdapterOptions,
  type Address,
  BACKLOG,
  type FetchHandler,
  GOING_AWAY,
  isAnswerable,
  type RuntimeServer,
} from "./adapter.ts";
import { cancellableBody } from "../core/http/cancellable_body.ts";
import { rawPath } from "../core/http/raw_path.ts";
import { lightResponses } from "../platform/light_responses.ts";
import {
  NODE_PARTS,
  plainTextCheck,
  registerLightResponses,
  separateHeaders,
} from "./light_responses.ts";
import { NodeConnections, nodeWebSockets } from "./node_connections.ts";
import { strictResponse } from "./node_response.ts";
import { ignoreOutputErrors } from "./node_output.ts";
import { answerUpgrade } from "./node_upgrade.ts";
import { checkFolder } from "./unix_socket.ts";
import type { AnsweredResponse } from "./unread_body.ts";

/**
 * Longer than the 60 s after which load balancers close an idle connection, so that they close it
 * first.
 */
const KEEP_ALIVE_MS = 75_000;

/**
 * How long the head of a request may take, in milliseconds. That of a body is limited where it is
 * read, at a rate: Node's limit of a whole request would end a long upload.
 */
const HEAD_MS = 60_000;

/** The idle time after which TCP probes a connection, in milliseconds. */
const TCP_PROBE_MS = 30_000;

/** Listens with `node:http` or `node:https`, `@hono/node-server` and `ws`. */
export async function listenOnNode(
  fetch: FetchHandler,
  address: Address,
  { tls, maxConnections }: AdapterOptions,
): Promise<RuntimeServer> {
  const [{ createAdaptorServer }, { EventEmitter }, { createServer }, http] = await Promise.all([
    import("@hono/node-server"),
    import("node:events"),
    tls ? import("node:https") : import("node:http"),
    import("node:http"),
  ]);
  ignoreOutputErrors();
  const webSockets = nodeWebSockets(EventEmitter);
  const connections = new NodeConnections();
  const serverOptions = {
    ...tls,
    ServerResponse: strictResponse(http.ServerResponse),
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEAD_MS,
    requestTimeout: 0,
    keepAlive: true,
    keepAliveInitialDelay: TCP_PROBE_MS,
    // Other upgrades, such as `h2c` from Java's client, are ignored (RFC 9110 §7.8).
    shouldUpgradeCallback(request: IncomingMessage): boolean {
      return isWebSocket(request) && connections.beginUpgrade(request.socket);
    },
  };
  // It is the server of `createServer`: `https.Server` has all members of `http.Server`.
  const server = createAdaptorServer({
    fetch: refusingWhole(fetch, () => webSockets.load()),
    hostname: "localhost",
    createServer,
    serverOptions,
    websocket: { server: webSockets },
  }) as Server;
  registerLightResponses(NODE_PARTS); // of the global class, which was replaced just now
  separateHeaders(NODE_PARTS);
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  connections.watch(server);
  webSockets.on("connection", (client) => {
    if (!server.listening) client.close(...GOING_AWAY);
  });
  const closed = new Promise<void>((resolve) => server.once("close", resolve))
    .then(async () => void await webSockets.closed());
  await listening(server, address).catch(async (error) => {
    // Node reports a missing folder as EACCES
    if ("path" in address) await checkFolder(address.path);
    throw error;
  });
  return {
    port: "path" in address ? 0 : (server.address() as AddressInfo).port,
    stop() {
      server.close();
      webSockets.leave();
      return closed;
    },
    cut() {
      server.close();
      connections.destroy();
      return closed;
    },
  };
}

/** `@hono/node-server` takes any other method of an upgrade for GET. */
function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket";
}

function listening(server: Server, address: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    const where = "path" in address
      ? { path: address.path }
      : { port: address.port, host: address.hostname };
    server.listen({ ...where, backlog: BACKLOG }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** The bindings of `@hono/node-server`; an upgrade request has no `outgoing`. */
interface NodeEnv {
  readonly incoming: IncomingMessage;
  readonly outgoing?: AnsweredResponse;
}

/** Node keeps the first of several `Host` fields, which are invalid (RFC 9112 §3.2). */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts > 1;
}

/**
 * Checks whether a request asks for a WebSocket. Node passes it on as an ordinary request if
 * `beginUpgrade()` refused it because earlier requests are not answered.
 */
function isLateUpgrade(request: IncomingMessage): boolean {
  return isWebSocket(request) && /\bupgrade\b/i.test(request.headers.connection ?? "");
}

/**
 * Refuses requests with two hosts and late upgrades, and loads what completes upgrades before the
 * first of them is handled.
 */
function refusingWhole(fetch: FetchHandler, loadUpgrades: () => Promise<void>): FetchHandler {
  let isPlainText: ((response: Response) => boolean) | undefined;
  return (request, env) => {
    // `@hono/node-server` calls handlers with these bindings.
    const { incoming, outgoing } = env as NodeEnv;
    const { method, url = "", headers: { host } } = incoming;
    const isLate = outgoing !== undefined && isLateUpgrade(incoming);
    if (isLate || hasTwoHosts(incoming) || !isAnswerable({ method, url, host })) {
      return new Response(null, { status: 400, headers: { connection: "close" } });
    }
    if (outgoing !== undefined) {
      if (method !== "GET") outgoing.received = request;
      const response = fetch(request, env);
      if (response instanceof Promise) {
        return response.then((response) => closeOnFailure(response, { request, outgoing }));
      }
      // `@hono/node-server` catches errors of sending only after a promise
      isPlainText ??= plainTextCheck(); // of the global class, which is replaced before
      return method === "GET" && isPlainText(response) && !outgoing.headersSent
        ? response
        : Promise.resolve(closeOnFailure(response, { request, outgoing }));
    }
    return loadUpgrades().then(() =>
      answerUpgrade(incoming, (signal) => fetch(new Request(request, { signal }), env))
    );
  };
}

/** A request, and its response of Node. */
interface Exchange {
  readonly request: Request;
  readonly outgoing: ServerResponse;
}

/**
 * Makes a response close its connection if its stream fails, as on the other runtimes:
 * `@hono/node-server` would send the message of the error if the head was not sent.
 */
function closeOnFailure(response: Response, { request, outgoing }: Exchange): Response {
  const source = lightResponses()?.hasParts(response) ? null : cancellableBody(response);
  if (!source) return response;
  const fail = (error: unknown) =>
    getLogger(["fw", "http"]).error("{method} {path} failed while it was sent: {error}", {
      method: request.method,
      path: rawPath(request.url),
      error,
    });
  if (source.locked) {
    fail(new TypeError("Cannot send the response: its body is locked"));
    return new Response(null, { status: 500 });
  }
  const reader = source.getReader();
  const body = new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        if (outgoing.destroyed) return; // its client has left
        fail(error);
        outgoing.destroy();
        controller.close();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
  return Object.defineProperty(response, "body", { value: body });
}
