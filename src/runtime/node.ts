/**
 * Listening on Node.
 *
 * @module
 */
import type { WebSocketServerLike } from "@hono/node-server";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type AdapterOptions,
  type Address,
  type FetchHandler,
  GOING_AWAY,
  type RuntimeServer,
} from "./adapter.ts";
import { NodeConnections } from "./node_connections.ts";
import { refusingWhole } from "./node_upgrade.ts";
import { checkFolder } from "./unix_socket.ts";

/**
 * Longer than the 60 s for which load balancers keep an idle connection, so that they close it
 * first.
 */
const KEEP_ALIVE_MS = 75_000;

/** How long a connection may be silent before TCP asks whether its peer is still there. */
const TCP_PROBE_MS = 30_000;

/** The largest WebSocket message in bytes, as on Bun. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** As much of the server of `ws` as is used here; that package comes without types. */
interface WebSocketServer extends WebSocketServerLike {
  readonly clients: Iterable<{ close(code: number, reason: string): void }>;
}

/** Listens with `node:http` or `node:https`, `@hono/node-server` and `ws`. */
export async function listenOnNode(
  fetch: FetchHandler,
  address: Address,
  { tls }: AdapterOptions,
): Promise<RuntimeServer> {
  const [{ createAdaptorServer }, ws, { createServer }] = await Promise.all([
    import("@hono/node-server"),
    import("ws"),
    tls ? import("node:https") : import("node:http"),
  ]);
  const webSockets: WebSocketServer = new ws.WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
  });
  const connections = new NodeConnections();
  const serverOptions = {
    ...tls,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAlive: true,
    keepAliveInitialDelay: TCP_PROBE_MS,
    // Other upgrades, such as the `h2c` that Java's client offers, are ignored (RFC 9110 §7.8).
    shouldUpgradeCallback(request: IncomingMessage): boolean {
      const upgrades = isWebSocket(request);
      if (upgrades) connections.begin(request.socket);
      return upgrades;
    },
  };
  // It is what `createServer` makes: `https.Server` has all that `http.Server` has.
  const server = createAdaptorServer({
    fetch: refusingWhole(fetch),
    hostname: "localhost",
    createServer,
    serverOptions,
    websocket: { server: webSockets },
  }) as Server;
  connections.watch(server);
  webSockets.on("connection", (client) => {
    if (!server.listening) client.close(...GOING_AWAY);
  });
  const closed = new Promise<void>((resolve) => server.once("close", resolve));
  await listening(server, address).catch(async (error) => {
    if ("path" in address) await checkFolder(address.path); // Node calls a missing one forbidden
    throw error;
  });
  return {
    port: "path" in address ? 0 : (server.address() as AddressInfo).port,
    stop() {
      server.close();
      for (const client of webSockets.clients) client.close(...GOING_AWAY);
      return closed;
    },
    cut() {
      server.close();
      connections.destroy();
      return closed;
    },
  };
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

function listening(server: Server, address: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    const where = "path" in address
      ? { path: address.path }
      : { port: address.port, host: address.hostname };
    server.listen(where, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
