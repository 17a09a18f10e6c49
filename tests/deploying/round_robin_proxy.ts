/**
 * A small round-robin proxy that skips unhealthy instances and forwards the address of the client.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

const PROBE_EVERY_MS = 50;

export class RoundRobinProxy implements AsyncDisposable {
  /** The ports of the instances. */
  ports: readonly number[] = [];
  readonly #server = createServer((received, response) => void this.#forward(received, response));
  readonly #agent = new Agent({ keepAlive: true });
  readonly #out = new Set<number>();
  readonly #ending = new AbortController();
  #probing: Promise<void> = Promise.resolve();
  #turn = 0;

  static async start(): Promise<RoundRobinProxy> {
    const proxy = new RoundRobinProxy();
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    proxy.#probing = proxy.#probe();
    return proxy;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#probing;
    this.#agent.destroy();
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Checks the health of every instance periodically. */
  async #probe(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      await Promise.all(this.ports.map(async (port) => {
        const response = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
        await response?.body?.cancel();
        if (response?.ok) this.#out.delete(port);
        else this.#out.add(port);
      }));
      await delay(PROBE_EVERY_MS);
    }
  }

  async #forward(received: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(received);
    for (let attempt = 0; attempt < this.ports.length; attempt++) {
      const port = this.#next();
      const isAnswered = await this.#send(port, { received, body, response });
      if (isAnswered) return;
      this.#out.add(port);
    }
    response.writeHead(502).end();
  }

  #next(): number {
    const well = this.ports.filter((port) => !this.#out.has(port));
    const ports = well.length > 0 ? well : this.ports;
    return ports[this.#turn++ % ports.length] ?? 0;
  }

  /** Returns whether the client has a response: false if the instance accepts no connection. */
  #send(
    port: number,
    { received, body, response }: {
      readonly received: IncomingMessage;
      readonly body: Uint8Array;
      readonly response: ServerResponse;
    },
  ): Promise<boolean> {
    const { method, url: path, socket } = received;
    const before = received.headers["x-forwarded-for"];
    const forwarded = [before, socket.remoteAddress].flat().filter(Boolean).join(", ");
    const { connection: _, ...rest } = received.headers;
    const headers = { ...rest, "x-forwarded-for": forwarded };
    return new Promise((resolve) => {
      const sent = request({ host: "127.0.0.1", port, path, method, headers, agent: this.#agent });
      sent.on("response", async (answer) => {
        const { connection: _, "transfer-encoding": _chunked, ...fields } = answer.headers;
        const content = await buffer(answer).catch(() => undefined);
        if (content) response.writeHead(answer.statusCode ?? 502, fields).end(content);
        else response.writeHead(502, { "x-proxy": "cut short" }).end();
        resolve(true);
      });
      sent.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "ECONNREFUSED") return resolve(false);
        response.writeHead(502, { "x-proxy": String(error.code ?? error.message) }).end();
        resolve(true);
      });
      sent.end(body);
    });
  }
}
