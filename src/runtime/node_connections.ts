/**
 * What the connections of a Node server are doing.
 *
 * @module
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Counts the requests that each connection has yet to answer, so that `server.close()` breaks no
 * response off. Node's own `closeIdleConnections`, which it calls, destroys a connection whose
 * response is written but not all sent, and misses one whose response ends later.
 */
export class NodeConnections {
  readonly #unanswered = new Map<Socket, number>();

  /** Follows a server from before it listens, and takes over its `closeIdleConnections`. */
  watch(server: Server): void {
    server.on("connection", (socket: Socket) => {
      this.#unanswered.set(socket, 0);
      socket.once("close", () => this.#unanswered.delete(socket));
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

  #closeIdle(sockets: Iterable<Socket>): void {
    for (const socket of sockets) if (this.#unanswered.get(socket) === 0) socket.destroySoon();
  }

  #add(socket: Socket, requests: 1 | -1): void {
    const before = this.#unanswered.get(socket);
    if (before !== undefined) this.#unanswered.set(socket, before + requests);
  }
}
