/**
 * What stands between a runtime's server and the application while the server stops.
 *
 * @module
 */
import type { FetchHandler } from "./adapter.ts";

/** Passes requests to a handler; while draining, its responses tell the clients to leave. */
export class DrainGate {
  readonly #handler: FetchHandler;
  #draining = false;
  #held: PromiseWithResolvers<void> | undefined;

  /** Creates an open gate before a handler. */
  constructor(handler: FetchHandler) {
    this.#handler = handler;
  }

  /** Answers a request; bound to the gate. */
  readonly fetch: FetchHandler = (request, env) => {
    if (this.#held) return this.#held.promise.then(() => this.fetch(request, env));
    const response = this.#handler(request, env);
    return response instanceof Promise
      ? response.then((response) => this.#finish(response))
      : this.#finish(response);
  };

  /** From now on, every response carries `Connection: close`: those of requests in flight too. */
  drain(): void {
    this.#draining = true;
  }

  /** Keeps the requests that arrive from now on waiting. */
  hold(): void {
    this.#held ??= Promise.withResolvers();
  }

  /** Lets the waiting requests through. */
  release(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  #finish(response: Response): Response {
    return this.#draining ? lastOfConnection(response) : response;
  }
}

/** Closes the connection after a response (RFC 9112 §9.6). */
function lastOfConnection(response: Response): Response {
  if (response.status === 101) return response;
  try {
    response.headers.set("connection", "close");
    return response;
  } catch {
    // The headers of a response that `fetch` gave cannot be changed.
    return lastOfConnection(new Response(response.body, response));
  }
}
