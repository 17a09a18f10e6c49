/**
 * WebSockets whose messages a route declares.
 *
 * @module
 */
import { MAX_LENGTH, MAX_TIMER_MS, TIMEOUT_MS } from "./limits.ts";

/**
 * An open WebSocket, whose messages are JSON. A loop over it yields them until it is closed. At
 * most 16 777 216 characters of messages wait, each message counting 64 more: beyond that, it is
 * closed with 4008, and the loop throws a `RangeError`.
 */
export interface ClientSocket<Sent, Received> extends AsyncIterable<Received, void, undefined> {
  /**
   * Sends a message.
   *
   * @throws {Error} if the WebSocket is closed, so that no message is lost in silence
   * @throws {TypeError} if the message is not JSON
   */
  send(message: Sent): void;
  /** Closes it; the code is 1000, by default, or 3000 to 4999 (RFC 6455 §7.4.2). */
  close(code?: number, reason?: string): void;
  /**
   * Resolves when it is closed, whoever has closed it; with the code 1006 if the server does not
   * answer a close within 5 seconds.
   */
  readonly closed: Promise<CloseEvent>;
}

/** How a WebSocket is opened. */
export interface SocketOptions {
  /** Opens it. */
  readonly webSocket?: ((url: string) => WebSocket) | undefined;
  /** Aborts it: its loop then throws the reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long it may take to open, in milliseconds; default 30 000. */
  readonly timeoutMs?: number | undefined;
}

/** The options of a client, and those of a call, which take precedence. */
export interface ConnectOptions {
  readonly options: SocketOptions;
  readonly input: Omit<SocketOptions, "webSocket">;
}

/** The codes with which a loop ends without an error: those of a close that went well. */
const ENDS = [1000, 1005];

/** The code of a client that keeps too many messages: it may send no registered one. */
const TOO_MUCH = 4008;

/** What a message that waits counts beside its characters: an empty one takes memory, too. */
const MESSAGE_OVERHEAD = 64;

/** How long the server may take to answer a close, in milliseconds. */
const CLOSE_MS = 5_000;

/**
 * Opens a WebSocket.
 *
 * @throws {Error} if the server refuses it or is not reached, which platforms do not distinguish
 */
export async function connect(
  url: string,
  { options, input }: ConnectOptions,
): Promise<ClientSocket<unknown, unknown>> {
  const { webSocket = (url) => new WebSocket(url) } = options;
  const { signal = options.signal, timeoutMs = options.timeoutMs ?? TIMEOUT_MS } = input;
  signal?.throwIfAborted();
  const address = new URL(url, globalThis.location?.href); // of a page, `url` may be a path
  address.protocol = address.protocol.replace("http", "ws");
  const name = address.origin + address.pathname; // without a token in the query
  const socket = webSocket(address.href);
  const messages = new Messages(socket);
  const opened = Promise.withResolvers<void>();
  const abort = (reason: unknown) => {
    opened.reject(reason);
    messages.fail(reason);
  };
  const onAbort = () => abort(signal?.reason);
  const stop = () => signal?.removeEventListener("abort", onAbort);
  const timer = setTimeout(() => {
    const late = `Cannot connect to ${name}: not in ${timeoutMs} ms`;
    abort(new DOMException(late, "TimeoutError"));
  }, Math.min(timeoutMs, MAX_TIMER_MS));
  signal?.addEventListener("abort", onAbort);
  socket.addEventListener("open", () => opened.resolve());
  for (const type of ["error", "close"]) { // Node 22 has no close of one that is refused
    socket.addEventListener(type, () => {
      opened.reject(new Error(`Cannot connect to ${name}: it is refused, or not reached`));
    });
  }
  messages.closed.then(stop);
  try {
    await opened.promise;
    return messages;
  } catch (error) {
    stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The messages of a socket. */
class Messages implements ClientSocket<unknown, unknown> {
  readonly #socket: WebSocket;
  readonly #closed = Promise.withResolvers<CloseEvent>();
  #closeTimer: ReturnType<typeof setTimeout> | undefined;
  #received: string[] = [];
  /** Older ones than those received; the next is the last. */
  #next: string[] = [];
  #length = 0;
  /** How it was closed, and what its loop throws then. */
  #end: { readonly error?: unknown } | undefined;
  #change = Promise.withResolvers<void>();

  /** Keeps the messages of a socket until they are read. */
  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#receive(String(data)));
    // Deno reports 0 for a lost connection
    socket.addEventListener("close", (it) => this.#settle(it.code === 0 ? lost() : it));
  }

  get closed(): Promise<CloseEvent> {
    return this.#closed.promise;
  }

  send(message: unknown): void {
    if (this.#socket.readyState !== WebSocket.OPEN) {
      throw new Error("Cannot send the message: the WebSocket is closed");
    }
    const text = JSON.stringify(message);
    if (text === undefined) throw new TypeError("Cannot send the message: it is not JSON");
    this.#socket.send(text);
  }

  close(code?: number, reason?: string): void {
    this.#socket.close(code ?? 1000, reason); // throws if one is invalid
    this.#end ??= {};
    this.#wake();
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    this.#closeTimer ??= setTimeout(() => this.#giveUp(), CLOSE_MS); // Deno and Node would wait forever
  }

  /** Closes it, so that its loop throws an error after the messages before it. */
  fail(error: unknown, code?: number): void {
    this.#end ??= { error };
    this.close(code);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown, void, undefined> {
    try {
      for (;;) {
        if (this.#next.length === 0) this.#next = this.#received.splice(0).reverse();
        const text = this.#next.pop();
        if (text !== undefined) {
          this.#length -= text.length + MESSAGE_OVERHEAD;
          yield JSON.parse(text);
        } else if (this.#end) break;
        else await this.#change.promise;
      }
    } finally {
      this.close();
    }
    if (this.#end.error !== undefined) throw this.#end.error;
  }

  #receive(text: string): void {
    if (this.#end) return;
    this.#received.push(text);
    this.#length += text.length + MESSAGE_OVERHEAD;
    if (this.#length > MAX_LENGTH) {
      const more = `more than ${MAX_LENGTH} characters of messages wait`;
      this.fail(new RangeError(`Cannot receive messages: ${more}`), TOO_MUCH);
    }
    this.#wake();
  }

  #settle(event: CloseEvent): void {
    clearTimeout(this.#closeTimer);
    const { code, reason } = event;
    const why = `${code}${reason && ` ${reason}`}`;
    const error = new Error(`The WebSocket is closed: ${why}`, { cause: event });
    this.#end ??= ENDS.includes(code) ? {} : { error };
    this.#wake();
    this.#closed.resolve(event);
  }

  /** Ends the connection, where the platform can do that, without the answer to the close. */
  #giveUp(): void {
    (this.#socket as Terminable).terminate?.();
    this.#settle(lost());
  }

  #wake(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

/** A WebSocket of Bun or of `ws`. */
interface Terminable extends WebSocket {
  terminate?(): void;
}

/** Returns the event of a close without a close frame; Node 22 has no class for it. */
function lost(): CloseEvent {
  const parts = { code: 1006, reason: "", wasClean: false };
  return Object.assign(new Event("close"), parts) as CloseEvent;
}
