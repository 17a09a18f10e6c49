/**
 * Answering requests: from the first, for which the router is put together, on.
 *
 * @module
 */
import type { ExecutionContext, Hono } from "hono";

/** What an application answers with. */
export interface AnsweringOptions {
  /** The execution context of requests that come without one. */
  readonly background: ExecutionContext;
  /** Throws if the application cannot serve. */
  readonly check: () => void;
  /** Puts the router together. */
  readonly assemble: () => Promise<Hono>;
  /** Prepares the log, before the first request is answered. */
  readonly openLog: () => Promise<void>;
}

/** Answers the requests of one application. */
export class Answering {
  readonly #options: AnsweringOptions;
  #assembled: Promise<Hono> | undefined;
  #router: Hono | undefined;
  /** The router, once the log is open. */
  #served: Hono | undefined;

  /** Prepares to answer; nothing is put together yet. */
  constructor(options: AnsweringOptions) {
    this.#options = options;
  }

  /** Whether the router is there, or is being put together: nothing may be settled any more. */
  get hasBegun(): boolean {
    return this.#assembled !== undefined;
  }

  /** Answers a request; bound. */
  readonly fetch = (
    request: Request,
    env?: object,
    executionContext?: ExecutionContext,
  ): Response | Promise<Response> => {
    const context = executionContext ?? this.#options.background;
    const response = this.#served
      ? this.#served.fetch(request, env, context)
      : this.#fetchFirst(request, env, context);
    // where a client that goes away ends its request, others may wait for what that has begun
    if (response instanceof Promise) executionContext?.waitUntil(response);
    return response;
  };

  /** Gives the router, put together by the first who asks. One that fails is tried again. */
  async router(): Promise<Hono> {
    if (this.#router) return this.#router;
    this.#options.check();
    this.#assembled ??= this.#options.assemble();
    try {
      return this.#router = await this.#assembled;
    } catch (error) {
      this.#assembled = undefined; // so that what is wrong can be mended
      throw error;
    }
  }

  /** Waits until nothing is being put together. */
  async settled(): Promise<void> {
    await this.#assembled?.catch(() => {});
  }

  async #fetchFirst(
    request: Request,
    env: object | undefined,
    executionContext: ExecutionContext,
  ): Promise<Response> {
    await this.#options.openLog();
    this.#served = await this.router();
    return await this.#served.fetch(request, env, executionContext);
  }
}
