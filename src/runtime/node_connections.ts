/**
 * The connections of a Node server, and its WebSockets.
 *
 * @module
 */
import type { WebSocketServerLike } from "@hono/node-server";
import type { EventEmitter } from "node:events";
import type { Server } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import { GOING_AWAY } from "./adapter.ts";

/**
 * Counts the unanswered requests of each connection, so that `server.close()` interrupts no
 * response. Node's `closeIdleConnections`, which it calls, destroys connections whose response is
 * written but not completely sent, and misses those whose response ends later.
 */
export class NodeConnections {
  readonly #unanswered = new Map<Socket, number>();
  /** The connections in a TLS handshake, by their addresses. */
  readonly #handshakes = new Map<string, Socket>();

  /** Tracks a server that does not listen yet, and replaces its `closeIdleConnections`. */
  watch(server: Server | HttpsServer): void {
    const isTls = "setSecureContext" in server;
    server.on("connection", (socket: Socket) => {
      this.#open(socket);
      if (isTls) this.#shakeHands(socket);
    });
    server.on("secureConnection", (socket: Socket) => {
      // Later requests belong to this socket, which wraps the first.
      const key = ends(socket);
      const wrapped = this.#handshakes.get(key);
      if (wrapped) this.#unanswered.delete(wrapped);
      this.#handshakes.delete(key);
      this.#open(socket);
    });
    server.on("request", ({ socket }, response) => {
      this.begin(socket);
      response.once("close", () => {
        this.#add(socket, -1);
        if (!server.listening) this.#closeIdle([socket]);
      });
    });
    server.closeIdleConnections = () => this.#closeIdle(this.#unanswered.keys());
  }

  /**
   * Counts a request of a connection. That of an upgrade never ends, so its connection
   * is never idle.
   */
  begin(socket: Socket): void {
    this.#add(socket, 1);
  }

  /** Closes every connection. */
  destroy(): void {
    for (const socket of this.#unanswered.keys()) socket.destroy();
  }

  #open(socket: Socket): void {
    this.#unanswered.set(socket, 0);
    socket.once("close", () => this.#unanswered.delete(socket));
  }

  #shakeHands(socket: Socket): void {
    const key = ends(socket);
    this.#handshakes.set(key, socket);
    socket.once("close", () => this.#handshakes.delete(key));
  }

  #closeIdle(sockets: Iterable<Socket>): void {
    for (const socket of sockets) if (this.#unanswered.get(socket) === 0) socket.destroySoon();
  }

  #add(socket: Socket, requests: 1 | -1): void {
    const before = this.#unanswered.get(socket);
    if (before !== undefined) this.#unanswered.set(socket, before + requests);
  }
}

/** Returns a key that is unique among the TCP connections of a server. */
function ends({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}

/** The largest WebSocket message in bytes, as on Bun. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** The part of the server of `ws` that is used here; the package has no types. */
interface WebSocketServer extends WebSocketServerLike {
  readonly clients: Iterable<{ close(code: number, reason: string): void }>;
}

/** A WebSocket server, of which `load()` loads all but the listeners before the first upgrade. */
export interface NodeWebSockets extends WebSocketServer {
  /** Loads `ws`: many applications have no WebSocket. */
  load(): Promise<void>;
  /** Closes every WebSocket with {@linkcode GOING_AWAY}. */
  leave(): void;
}

/** Creates a WebSocket server from `EventEmitter`, without loading `ws`. */
export function nodeWebSockets(Emitter: typeof EventEmitter): NodeWebSockets {
  return new class extends Emitter {
    readonly options = { noServer: true };
    #server: WebSocketServer | undefined;
    #loaded: Promise<void> | undefined;

    get clients() {
      return this.#server?.clients ?? new Set();
    }

    load() {
      return this.#loaded ??= this.#load();
    }

    handleUpgrade(...args: Parameters<WebSocketServerLike["handleUpgrade"]>) {
      this.#server?.handleUpgrade(...args);
    }

    close() {
      this.#server?.close();
    }

    leave() {
      for (const client of this.clients) client.close(...GOING_AWAY);
    }

    async #load() {
      const { WebSocketServer } = await import("ws");
      const server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
      server.on("headers", (...args: unknown[]) => this.emit("headers", ...args));
      this.#server = server;
    }
  }();
}
