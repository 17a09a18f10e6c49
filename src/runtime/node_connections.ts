/**
 * What the connections of a Node server are doing.
 *
 * @module
 */
import type { Server } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";

/**
 * Counts the requests that each connection has yet to answer, so that `server.close()` breaks no
 * response off. Node's own `closeIdleConnections`, which it calls, destroys a connection whose
 * response is written but not all sent, and misses one whose response ends later.
 */
export class NodeConnections {
  readonly #unanswered = new Map<Socket, number>();
  /** The connections that have yet to agree on TLS, by their ends. */
  readonly #handshakes = new Map<string, Socket>();

  /** Follows a server from before it listens, and takes over its `closeIdleConnections`. */
  watch(server: Server | HttpsServer): void {
    const isTls = "setSecureContext" in server;
    server.on("connection", (socket: Socket) => {
      this.#open(socket);
      if (isTls) this.#shakeHands(socket);
    });
    server.on("secureConnection", (socket: Socket) => {
      // From now on, requests are of this socket, which wraps the first.
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
   * Notes one more request of a connection; without an end to it, an upgraded one never is idle.
   */
  begin(socket: Socket): void {
    this.#add(socket, 1);
  }

  /** Cuts every connection. */
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

/** What tells a TCP connection from all others that a server has. */
function ends({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
