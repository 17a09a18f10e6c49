/**
 * The connections of a Node server, and its WebSockets.
 *
 * @module
 */
import type { WebSocketServerLike } from "@hono/node-server";
import type { EventEmitter } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import { GOING_AWAY } from "./adapter.ts";
import { skipRest } from "./unread_body.ts";

/**
 * The most requests of a connection that are handled at a time: those that a client pipelines, or
 * whose responses it does not read.
 */
const MAX_AT_ONCE = 8;

/** The most requests of a connection that wait for their turn. */
const MAX_WAITING = 256;

/** The requests of a connection. */
interface Connection {
  /**
   * The responses that are not sent, of requests that wait too, and the socket of an upgrade: most
   * often one. A `Set` would be resized by each request.
   */
  readonly unanswered: (ServerResponse | Socket)[];
  /** Callbacks that handle the waiting requests, in order. */
  readonly waiting: (() => void)[];
  /** Whether the rest of the body of an answered request is skipped. */
  isSkipping: boolean;
}

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Counts the unanswered requests of each connection, so that `server.close()` interrupts no
 * response. Node's `closeIdleConnections`, which it calls, destroys connections whose response is
 * written but not completely sent, and misses those whose response ends later.
 */
export class NodeConnections {
  readonly #connections = new Map<Socket, Connection>();
  /** The connections in a TLS handshake, by their addresses. */
  readonly #handshakes = new Map<string, Socket>();

  /**
   * Tracks a server that does not listen yet, replaces its `closeIdleConnections`, and limits how
   * many requests of a connection its listener handles at a time.
   */
  watch(server: Server | HttpsServer): void {
    const [handle] = server.listeners("request") as RequestListener[]; // which types do not list
    if (handle) server.off("request", handle).on("request", this.#inTurn(server, handle));
    const isTls = "setSecureContext" in server;
    server.on("connection", (socket: Socket) => {
      this.#open(socket);
      if (isTls) this.#shakeHands(socket);
    });
    server.on("secureConnection", (socket: Socket) => {
      // Later requests belong to this socket, which wraps the first.
      const key = ends(socket);
      const wrapped = this.#handshakes.get(key);
      if (wrapped) this.#connections.delete(wrapped);
      this.#handshakes.delete(key);
      this.#open(socket);
    });
    server.closeIdleConnections = () => this.#closeIdle(this.#connections.keys());
  }

  /**
   * Counts the request of an upgrade. It never ends, so its connection is never idle. Returns
   * whether the connection can be upgraded: no earlier request waits for its response.
   */
  beginUpgrade(socket: Socket): boolean {
    const unanswered = this.#connections.get(socket)?.unanswered;
    if (unanswered && unanswered.length > 0) return false;
    unanswered?.push(socket);
    return true;
  }

  /** Closes every connection. */
  destroy(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  /**
   * Lets requests wait until the responses to earlier ones are sent: all responses at once would
   * use unbounded memory. A connection with too many is closed. It is not paused instead: a paused
   * one does not notice that its client has left.
   */
  #inTurn(server: Server | HttpsServer, listener: RequestListener): RequestListener {
    const closeAtStop = (socket: Socket) => {
      if (!server.listening) this.#closeIdle([socket]);
    };
    const end = (response: ServerResponse) => this.#end(response, closeAtStop);
    function onClose(this: ServerResponse): void { // of all: one of each would cost more
      end(this);
    }
    return (request, response) => {
      const { socket } = request;
      const connection = this.#connections.get(socket);
      const isFree = !connection || connection.unanswered.length < MAX_AT_ONCE;
      connection?.unanswered.push(response); // the listener may answer at once
      response.on("close", onClose);
      if (isFree) return listener(request, response);
      if (connection.waiting.length === MAX_WAITING) socket.destroy();
      else connection.waiting.push(() => listener(request, response));
    };
  }

  #open(socket: Socket): void {
    const unanswered: Connection["unanswered"] = [];
    const connection: Connection = { unanswered, waiting: [], isSkipping: false };
    this.#connections.set(socket, connection);
    const destroySoon = socket.destroySoon;
    // Node calls it after the last response, and `@hono/node-server` 500 ms after each one whose
    // body is not read: it would reset the connection, and the client could lose the response
    socket.destroySoon = () => {
      if (connection.isSkipping) return;
      const [first] = unanswered;
      if (first && "req" in first && !first.req.complete) socket.end();
      else destroySoon.call(socket);
    };
    socket.once("close", () => {
      this.#connections.delete(socket);
      // Node 22 closes only the first of pipelined responses, whose signals abort by it
      for (const response of unanswered) {
        if (response !== socket && !response.closed) response.emit("close");
      }
    });
  }

  #shakeHands(socket: Socket): void {
    const key = ends(socket);
    this.#handshakes.set(key, socket);
    socket.once("close", () => this.#handshakes.delete(key));
  }

  #closeIdle(sockets: Iterable<Socket>): void {
    for (const socket of sockets) {
      if (this.#connections.get(socket)?.unanswered.length === 0) socket.destroySoon();
    }
  }

  #end(response: ServerResponse, onIdle: (socket: Socket) => void): void {
    const { socket, complete } = response.req;
    const connection = this.#connections.get(socket);
    // Node 22 may close it twice
    if (!connection || !removed(connection.unanswered, response)) return;
    if (socket.destroyed) return;
    if (connection.waiting.length > 0) connection.waiting.shift()?.();
    if (complete) return onIdle(socket);
    connection.isSkipping = true;
    skipRest(response, () => {
      connection.isSkipping = false;
      if (socket.writableEnded) socket.destroy();
      else onIdle(socket);
    });
  }
}

/** Removes an item of a list, most often the only one; returns whether it was there. */
function removed<T>(list: T[], item: T): boolean {
  if (list.at(-1) === item) return list.pop() !== undefined;
  const index = list.indexOf(item);
  return index >= 0 && list.splice(index, 1).length > 0;
}

/** Returns a key that is unique among the TCP connections of a server. */
function ends({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}

/** The largest WebSocket message in bytes, as on Bun. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** The part of the server of `ws` that is used here; the package has no types. */
interface WebSocketServer extends WebSocketServerLike {
  readonly clients: Iterable<WebSocketClient>;
}

/** The part of a WebSocket of `ws` that is used here. */
interface WebSocketClient {
  close(code: number, reason: string): void;
  once(event: "close", listener: () => void): void;
}

/** A WebSocket server, of which `load()` loads all but the listeners before the first upgrade. */
export interface NodeWebSockets extends WebSocketServer {
  /** Loads `ws`: many applications have no WebSocket. */
  load(): Promise<void>;
  /** Closes every WebSocket with {@linkcode GOING_AWAY}. */
  leave(): void;
  /** Resolves when every WebSocket has reported its close, later than its connection does. */
  closed(): Promise<unknown>;
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

    closed() {
      const closing = (client: WebSocketClient) =>
        new Promise<void>((resolve) => client.once("close", resolve));
      return Promise.all(Array.from(this.clients, closing));
    }

    async #load() {
      const { WebSocketServer } = await import("ws");
      const server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
      server.on("headers", (...args: unknown[]) => this.emit("headers", ...args));
      this.#server = server;
    }
  }();
}
