/**
 * An HTTP/1.1 client that sends what it is told: paths and headers that `fetch` would change or
 * refuse. One request after the other on a connection that is kept alive.
 */
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A request as it is written on the wire; strings are latin1. */
export interface WireRequest {
  readonly method?: string;
  /** The request target, unchanged. */
  readonly target: string;
  /** Header lines besides `Host` and `Content-Length`, for example `Accept: text/html`. */
  readonly lines?: readonly string[];
  /** A body in UTF-8. */
  readonly body?: string | undefined;
}

/** An answer. */
export interface WireAnswer {
  /** The status; 0 if the connection was closed or the deadline passed without an answer. */
  readonly status: number;
  /** Headers by their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Why there is no answer. */
  readonly error?: string;
}

/** A client on one connection, which it opens again if the server has closed it. */
export class WireClient implements Disposable {
  readonly #host: string;
  readonly #port: number;
  readonly #deadlineMs: number;
  #socket: Socket | undefined;
  #received = "";
  #isClosed = true;
  #wake = () => {};

  /** Creates a client, not yet connected. */
  constructor(origin: string, { deadlineMs = 30_000 } = {}) {
    const { hostname, port } = new URL(origin);
    this.#host = hostname;
    this.#port = Number(port);
    this.#deadlineMs = deadlineMs;
  }

  /** Sends a request and waits for its answer; never throws. */
  async send({ method = "GET", target, lines = [], body }: WireRequest): Promise<WireAnswer> {
    try {
      if (this.#isClosed) await this.#connect();
      const bytes = Buffer.from(body ?? "");
      const head = [
        `${method} ${target} HTTP/1.1`,
        `Host: ${this.#host}:${this.#port}`,
        ...lines,
        ...body === undefined ? [] : [`Content-Length: ${bytes.length}`],
      ];
      this.#received = "";
      this.#socket?.write(Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"));
      if (bytes.length > 0) this.#socket?.write(bytes);
      return await this.#answer(method);
    } catch (error) {
      this.close();
      return { status: 0, headers: new Map(), body: "", error: String(error) };
    }
  }

  /** Writes a request, and closes the connection after a time, whether it was answered or not. */
  async abandon({ method = "GET", target, lines = [] }: WireRequest, afterMs: number) {
    if (this.#isClosed) await this.#connect();
    const head = [`${method} ${target} HTTP/1.1`, `Host: ${this.#host}`, ...lines];
    this.#socket?.write(Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"));
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    this.close();
  }

  /** Closes the connection. */
  close(): void {
    this.#isClosed = true;
    this.#socket?.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #connect(): Promise<void> {
    const socket = connect({ port: this.#port, host: this.#host, noDelay: true });
    this.#socket = socket;
    await once(socket, "connect");
    this.#isClosed = false;
    this.#received = "";
    socket.setEncoding("latin1").on("data", (chunk) => {
      if (socket !== this.#socket) return;
      this.#received += chunk;
      this.#wake();
    });
    socket.on("error", () => {});
    for (const event of ["end", "close"]) {
      socket.on(event, () => {
        if (socket !== this.#socket) return;
        this.#isClosed = true;
        socket.destroy();
        this.#wake();
      });
    }
  }

  async #answer(method: string): Promise<WireAnswer> {
    const deadline = performance.now() + this.#deadlineMs;
    for (;;) {
      const answer = parseAnswer(this.#received, { method, isClosed: this.#isClosed });
      if (answer) {
        if (answer.headers.get("connection")?.toLowerCase() === "close") this.close();
        return answer;
      }
      const leftMs = deadline - performance.now();
      if (this.#isClosed) throw new Error("the connection was closed without an answer");
      if (leftMs <= 0) throw new Error(`no answer in ${this.#deadlineMs} ms`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, leftMs);
      await promise;
      clearTimeout(timer);
    }
  }
}

/** Parses the first final answer of a text in latin1; `undefined` if it is not complete. */
export function parseAnswer(
  text: string,
  { method, isClosed }: { readonly method: string; readonly isClosed: boolean },
): WireAnswer | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [line = "", ...fields] = text.slice(0, end).split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(line)?.[1] ?? NaN);
  const rest = text.slice(end + 4);
  if (status >= 100 && status < 200) return parseAnswer(rest, { method, isClosed });
  const headers = new Map(fields.map((field) => {
    const [, name = "", value = ""] = /^([^:]*):\s*(.*?)\s*$/.exec(field) ?? [];
    return [name.toLowerCase(), value] as const;
  }));
  const body = bodyOf(rest, { method, status, headers, isClosed });
  return body === undefined
    ? undefined
    : { status, headers, body: Buffer.from(body, "latin1").toString() };
}

function bodyOf(
  rest: string,
  { method, status, headers, isClosed }: {
    readonly method: string;
    readonly status: number;
    readonly headers: ReadonlyMap<string, string>;
    readonly isClosed: boolean;
  },
): string | undefined {
  if (method === "HEAD" || status === 204 || status === 304) return "";
  if (headers.get("transfer-encoding")?.toLowerCase() === "chunked") return chunksOf(rest);
  const length = headers.get("content-length");
  if (length === undefined) return isClosed ? rest : undefined;
  return rest.length >= Number(length) ? rest.slice(0, Number(length)) : undefined;
}

function chunksOf(text: string): string | undefined {
  let body = "";
  for (let at = 0;;) {
    const end = text.indexOf("\r\n", at);
    if (end < 0) return undefined;
    const size = Number.parseInt(text.slice(at, end), 16);
    const next = end + 2 + size + 2;
    if (Number.isNaN(size) || text.length < next) return undefined;
    if (size === 0) return body;
    body += text.slice(end + 2, end + 2 + size);
    at = next;
  }
}
