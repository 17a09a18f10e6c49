/**
 * Answering requests: the first one assembles the router.
 *
 * @module
 */
import { getConfig, getLogger } from "@logtape/logtape";
import type { ExecutionContext, Hono } from "hono";
import { assemble } from "../core/module/assembly.ts";
import type { Kernel } from "../core/module/boot.ts";
import type { PluginHost } from "../core/module/plugin.ts";
import type { GlobalProtection } from "../core/route/route_protection.ts";
import { upgraded } from "../core/http/pending_upgrade.ts";
import { clearSentMark } from "../core/http/sendable.ts";
import { type PlacedRoute, placeRoutes } from "../core/route/route_table.ts";
import { whenReady } from "../platform/ready.ts";
import type { FetchHandler, FetchMiddleware } from "../runtime/adapter.ts";
import type { Background } from "../runtime/background.ts";
import { INITIAL_SETTINGS, type Settings } from "./settings.ts";

/**
 * Options of `app.request()`.
 *
 * @example
 * ```ts
 * import { controller, FwFactory, module, route } from "@fw/fw";
 * import * as v from "valibot";
 *
 * class EchoController extends controller() {
 *   echo = route.post("/echo", { body: v.object({ word: v.string() }) }, ({ body }) => body.word);
 * }
 * const app = await FwFactory.create(module({ controllers: [EchoController] }));
 * const response = await app.request("/echo", { json: { word: "hello" } });
 * console.assert(await response.json() === "hello");
 * ```
 */
export interface RequestOptions extends RequestInit {
  /** A value to send as a JSON body; the method is then POST by default. */
  readonly json?: unknown;
  /** The `c.env` that a server would set, such as `{ remoteAddr: { hostname } }`. */
  readonly env?: object;
}

/** What a warning is about: the second part of its log category. */
type WarningArea = "openapi" | "routing";

/** The parts of an application that {@linkcode Answering} uses. */
export interface AnsweringParts {
  /** The modules. */
  readonly kernel: Kernel;
  /** The execution context of requests that come without one. */
  readonly background: Background;
}

/** Answers the requests of one application. */
export class Answering implements PluginHost {
  readonly #kernel: Kernel;
  readonly #background: Background;
  #settings: Settings = INITIAL_SETTINGS;
  /** They are placed once: to sort them takes a fifth of the time of the document. */
  #placed: readonly PlacedRoute[] | undefined;
  #isDraining = false;
  #assembled: Promise<Hono> | undefined;
  #router: Hono | undefined;
  /** The router, once the log is open. */
  #served: Hono | undefined;
  /** The middleware of the runtime for exported applications. */
  #middleware: FetchMiddleware = passThrough;
  /** Warnings that wait for a log, by their area. */
  readonly #warnings = new Map<WarningArea, readonly string[]>();

  /** Prepares to answer; assembles nothing yet. */
  constructor({ kernel, background }: AnsweringParts) {
    this.#kernel = kernel;
    this.#background = background;
  }

  /** The settings of the application. */
  get settings(): Settings {
    return this.#settings;
  }

  /** Whether the application is closing. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** The routes at their full paths. */
  get routes(): readonly PlacedRoute[] {
    return this.#placed ??= placeRoutes(this.#kernel.routes, this.#settings);
  }

  /** The protection of all routes. */
  get protection(): GlobalProtection {
    const { global: { guards = [] }, requiresIdentity } = this.#settings;
    return { guards, requiresIdentity };
  }

  /**
   * Changes settings.
   *
   * @throws {TypeError} if the router is assembled, or is being assembled
   */
  configure(change: Partial<Settings>): void {
    if (this.#assembled) {
      throw new TypeError(
        "Cannot change the application: it is already serving; call builder methods before the " +
          "first request or listen()",
      );
    }
    this.#settings = { ...this.#settings, ...change };
    this.#placed = undefined;
  }

  /** Answers a request with the middleware of the runtime, and begins its upgrade. It is bound. */
  readonly fetch = (
    request: Request,
    env?: object,
    executionContext?: ExecutionContext,
  ): Response | Promise<Response> => {
    const route = (request: Request) =>
      whenReady(this.#route(request, env, executionContext), finish);
    const response = this.#served
      ? this.#middleware(request, route)
      : this.#open().then(() => this.#middleware(request, route));
    return keptIn(response, executionContext);
  };

  /** Answers a request; its upgrade may be pending, as `serve` begins it. It is bound. */
  readonly answer = (
    request: Request,
    env?: object,
    executionContext?: ExecutionContext,
  ): Response | Promise<Response> => {
    const response = this.#served
      ? this.#route(request, env, executionContext)
      : this.#open().then(() => this.#route(request, env, executionContext));
    return keptIn(response, executionContext);
  };

  /** Answers a request that is made without a server. */
  async request(path: string, { json, env, ...init }: RequestOptions): Promise<Response> {
    const router = await this.router();
    return clearSentMark(
      await router.request(path, requestInit(init, json), env, this.#background),
    );
  }

  /**
   * Returns the router, assembled by the first call. After a failure, the next call tries again.
   */
  async router(): Promise<Hono> {
    if (this.#router) return this.#router;
    this.#checkState();
    this.#assembled ??= this.#assemble();
    try {
      return this.#router = await this.#assembled;
    } catch (error) {
      this.#assembled = undefined; // so that the settings can be corrected
      throw error;
    }
  }

  /** Prints what is logged, unless the application has configured LogTape. */
  async openLog(): Promise<void> {
    const { logToConsole } = await import("../runtime/log/console_log.ts"); // loaded only to serve
    logToConsole();
    this.#logWarnings();
  }

  /** Logs the warnings of an area as soon as there is a log. */
  warn(area: WarningArea, warnings: readonly string[]): void {
    this.#warnings.set(area, warnings);
    this.#logWarnings();
  }

  /** Marks the application as closing: it does not assemble any more. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Waits until nothing is being assembled. */
  async settled(): Promise<void> {
    await this.#assembled?.catch(() => {});
  }

  #checkState(): void {
    if (this.#kernel.isPreview) throw new TypeError("Cannot serve: the application is a preview");
    if (this.#isDraining) throw new TypeError("Cannot serve: the application is closed");
  }

  async #assemble(): Promise<Hono> { // asynchronous: to place the routes can throw
    const { routes } = this;
    const router = await assemble(this.#kernel, { ...this.#settings, host: this, routes });
    if (this.#settings.plugins.some(({ middlewarePath }) => middlewarePath !== undefined)) {
      const { middlewareWarnings } = await import("../core/module/middleware_paths.ts");
      this.warn("routing", middlewareWarnings(router, { ...this.#settings, routes }));
    }
    return router;
  }

  #logWarnings(): void {
    if (getConfig() === null) return;
    for (const [area, warnings] of this.#warnings) {
      const logger = getLogger(["fw", area]);
      for (const warning of warnings) logger.warn("{warning}", { warning });
    }
    this.#warnings.clear();
  }

  #route(
    request: Request,
    env: object | undefined,
    executionContext: ExecutionContext | undefined,
  ): Response | Promise<Response> {
    return this.#served!.fetch(request, env, executionContext ?? this.#background); // it is open
  }

  /** Opens the log and the router, for the first requests. */
  async #open(): Promise<void> {
    if (!this.#router) this.#checkState();
    await this.openLog();
    this.#middleware = await runtimeMiddleware();
    this.#served = await this.router();
  }
}

/** Loads the middleware that `listen` uses too; Node calls no exported `fetch`. */
async function runtimeMiddleware(): Promise<FetchMiddleware> {
  if ("Deno" in globalThis) return (await import("../runtime/deno.ts")).denoMiddleware();
  if ("Bun" in globalThis) return (await import("../runtime/bun.ts")).bunMiddleware("http");
  return passThrough;
}

/** Keeps work alive: a client that leaves ends its request, while others may wait for its work. */
function keptIn(
  response: Response | Promise<Response>,
  executionContext: ExecutionContext | undefined,
): Response | Promise<Response> {
  if (response instanceof Promise) executionContext?.waitUntil(response);
  return response;
}

function passThrough(request: Request, answer: FetchHandler): Response | Promise<Response> {
  return answer(request);
}

/** Completes a response: begins its upgrade and clears its mark. */
function finish(response: Response): Response | Promise<Response> {
  return upgraded(clearSentMark(response));
}

function requestInit(init: RequestInit, json: unknown): RequestInit {
  if (json === undefined) return init;
  const headers = new Headers(init.headers);
  if (!headers.has("content-type")) headers.set("content-type", "application/json");
  return { method: "POST", ...init, headers, body: JSON.stringify(json) };
}
