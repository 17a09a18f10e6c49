/**
 * A connection to a server on which a test writes and reads bytes.
 *
 * @module
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { HttpServer } from "../../src/runtime/http_server.ts";
import { LOCALHOST } from "./certificate_fixture.ts";

const MAX_WAIT_MS = 60_000;

/** The head of a request to upgrade a connection to a WebSocket. */
export const UPGRADE: readonly string[] = [
  "GET /socket HTTP/1.1",
  "Host: x",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

/** A connection over TCP, TLS or a Unix socket, depending on the URL of the server. */
export class RawClient implements Disposable {
  /** The received bytes as latin1, without those that `take()` removed. */
  received = "";
  /** Whether the server has closed the connection. */
  isClosed = false;
  /** Whether it was reset. */
  isReset = false;
  /** The underlying socket. */
  readonly socket: Socket;
  #wake = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding("latin1").on("data", (chunk) => {
      this.received += chunk;
      this.#wake();
    });
    socket.on("error", ({ code }: NodeJS.ErrnoException) => this.isReset = code === "ECONNRESET");
    for (const event of ["end", "close"]) {
      socket.on(event, () => {
        this.isClosed = true;
        this.#wake();
      });
    }
  }

  /** Connects to a server. */
  static async connect({ url, port }: Pick<HttpServer, "url" | "port">): Promise<RawClient> {
    const { protocol, pathname } = new URL(url);
    const host = "127.0.0.1";
    switch (protocol) {
      case "unix:":
        return await connected(connect({ path: decodeURI(pathname) }), "connect");
      case "https:": {
        const options = { port, host, servername: "localhost", ca: LOCALHOST.cert };
        return await connected(connectTls(options), "secureConnect");
      }
      default:
        return await connected(connect({ port, host, noDelay: true }), "connect");
    }

    async function connected(socket: Socket, event: string): Promise<RawClient> {
      await once(socket, event);
      return new RawClient(socket);
    }
  }

  /** Sends lines that end with CRLF, then an empty line, then a body. */
  send(lines: readonly string[], body = ""): void {
    this.socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
  }

  /** Waits until the received text matches; returns the match. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = performance.now() + MAX_WAIT_MS;
    for (;;) {
      const match = pattern.exec(this.received);
      if (match) return match;
      if (this.isClosed || performance.now() > deadline) {
        const why = this.isClosed ? "the connection is closed" : "nothing more comes";
        throw new Error(`Cannot find ${pattern}, ${why}: ${this.received.slice(0, 2_000)}`);
      }
      await this.#more(deadline);
    }
  }

  /** Waits until the received text matches, removes it up to the end of the match, and returns the match. */
  async take(pattern: RegExp): Promise<RegExpExecArray> {
    const match = await this.until(pattern);
    this.received = this.received.slice(match.index + match[0].length);
    return match;
  }

  /** Waits until the server closes the connection; returns the received text. */
  async end(): Promise<string> {
    const deadline = performance.now() + MAX_WAIT_MS;
    while (!this.isClosed && performance.now() < deadline) await this.#more(deadline);
    if (!this.isClosed) throw new Error(`Cannot wait for the end: ${this.received}`);
    return this.received;
  }

  /** Closes the connection at once. */
  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  async #more(deadline: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, Math.max(0, deadline - performance.now()));
    await promise;
    clearTimeout(timer);
  }
}
