/** A real server of a key set on loopback, whose answers a test can switch. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

/** An answer in place of the keys. */
export type Reply = (response: ServerResponse) => void;

export class JwksServer implements AsyncDisposable {
  /** What it publishes. */
  keys: readonly unknown[];
  /** The answer in place of the keys. */
  reply: Reply | undefined;
  readonly #server: Server;
  #requestCount = 0;
  #held: Promise<void> | undefined;

  private constructor(keys: readonly unknown[]) {
    this.keys = keys;
    this.#server = createServer((_, response) => void this.#answer(response));
  }

  static async start(...keys: readonly unknown[]): Promise<JwksServer> {
    const server = new JwksServer(keys);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/jwks`;
  }

  get requestCount(): number {
    return this.#requestCount;
  }

  /** Delays answers until the returned function is called; they have the keys of the time of the request. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return () => {
      this.#held = undefined;
      resolve();
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.on("connection", (late) => late.destroy());
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(response: ServerResponse): Promise<void> {
    this.#requestCount++;
    const reply = this.reply ?? text(JSON.stringify({ keys: this.keys }));
    response.on("error", () => {});
    await this.#held;
    reply(response);
  }
}

export function text(body: string, { status = 200, type = "application/json" } = {}): Reply {
  return (response) => {
    response.writeHead(status, { "content-type": type, connection: "close" }).end(body);
  };
}

export function redirect(location: string, status = 302): Reply {
  return (response) => void response.writeHead(status, { location, connection: "close" }).end();
}

/** Sends the head of an answer and no more; or not even that. */
export function hang({ after = undefined as string | undefined } = {}): Reply {
  return (response) => {
    if (after !== undefined) response.writeHead(200).write(after);
  };
}

/** Sends a few bytes now and then until the client disconnects. */
export function drip(): Reply {
  return (response) => {
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer)).writeHead(200);
  };
}

/** Ends the connection in the middle of an answer, or before it. */
export function breakOff({ after = undefined as string | undefined } = {}): Reply {
  return (response) => {
    if (after === undefined) return void response.destroy();
    response.writeHead(200, { "content-length": after.length * 2 });
    response.write(after, () => response.destroy());
  };
}

/** Sends until the client disconnects. */
export function endless(chunk = " ".repeat(64 * 1024)): Reply {
  return (response) => {
    const send = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.writeHead(200).on("drain", send);
    send();
  };
}

/** Sends a small body that is large when decompressed. */
export function gzipBomb(megabytes: number): Reply {
  const packed = gzipSync(new Uint8Array(megabytes * 1024 * 1024));
  return (response) => {
    response.writeHead(200, { "content-encoding": "gzip", connection: "close" }).end(packed);
  };
}
