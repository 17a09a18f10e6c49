/**
 * The typed client.
 *
 * @module
 */
import type { Problem } from "../core/http/problem.ts";
import type { AnyApi, CallMethod, PathsOf, RouteAt } from "./api.ts";
import type {
  AnswerOf,
  CallArguments,
  CallOptions,
  ConnectArguments,
  DataOf,
  EventOf,
  EventPath,
  Failure,
  SocketOf,
  SocketPath,
  Success,
} from "./call.ts";
import { MAX_TIMER_MS, TIMEOUT_MS } from "./limits.ts";
import { isJson, ProblemError, problemOf } from "./problem_error.ts";
import { bodyOf, headersOf, type Input, pathOf } from "./request.ts";
import { wholeText } from "./texts.ts";

/** Sends a request, or passes it on to what sends it. */
export type Send = (request: Request) => Promise<Response>;

/** Options of {@linkcode createClient}. */
export interface ClientOptions extends Pick<CallOptions, "signal"> {
  /** What sends requests; default the global `fetch`. */
  readonly fetch?: (request: Request) => Response | Promise<Response>;
  /** Headers of every request, or a function that returns them, for example with a token. */
  readonly headers?: HeadersInit | (() => HeadersInit | Promise<HeadersInit>);
  /**
   * The time limit of an attempt in milliseconds: of the whole answer, or of the head of a stream;
   * default 30 000. It aborts the request; `headers()`, interceptors and a `fetch` that ignores the
   * signal are not limited.
   */
  readonly timeoutMs?: number;
  /**
   * How many times a call is repeated that failed to reach the server, had no answer within
   * `timeoutMs`, or was answered with 408, 429, 502, 503 or 504, or 409 with `Retry-After` in
   * seconds; default 0. `POST` and `PATCH` are repeated only with an `Idempotency-Key`.
   * The delay doubles from 200 ms up to 30 s, with jitter; `Retry-After` takes precedence.
   */
  readonly retry?: number;
  /** Wraps every attempt; the first is outermost. */
  readonly interceptors?: readonly ((request: Request, next: Send) => Promise<Response>)[];
  /**
   * What opens WebSockets, for subprotocols, or on a server for headers; default the global
   * `WebSocket`.
   */
  readonly webSocket?: (url: string) => WebSocket;
  /** Whether cookies are sent to other origins; default that of `fetch`. */
  readonly credentials?: RequestCredentials;
  /**
   * What becomes of a redirect. By default, the call fails. `manual` returns it as an answer, which
   * a browser hides. `follow` sends the headers of the call, and with 307 and 308 its body, to any
   * origin; runtimes leave out `Authorization` and `Cookie` only.
   */
  readonly redirect?: "manual" | "follow";
}

/** Calls of one method. */
export interface Calls<Api, Method extends CallMethod, Paths extends string> {
  /**
   * Calls a route and returns the data of its answer.
   *
   * @throws {ProblemError} if the status is 400 or more
   * @throws {SyntaxError} if the body of a JSON answer is not JSON
   * @throws {RangeError} if the answer has more than 16 777 216 characters
   * @throws {TypeError} if the answer is a redirect
   */
  <P extends Paths>(
    path: P,
    ...input: CallArguments<P, RouteAt<Api, `${Method} ${P}`>>
  ): Promise<DataOf<RouteAt<Api, `${Method} ${P}`>>>;
  /**
   * Calls a route and returns its answer: data, a problem, or the 304 of a route with `etag`.
   *
   * @throws {SyntaxError} if the body of a JSON answer is not JSON
   */
  safe<P extends Paths>(
    path: P,
    ...input: CallArguments<P, RouteAt<Api, `${Method} ${P}`>>
  ): Promise<AnswerOf<RouteAt<Api, `${Method} ${P}`>>>;
  /**
   * Calls a route and returns its response, whose body is not read: a file, or a stream.
   *
   * @throws {ProblemError} if the status is 400 or more
   */
  response<P extends Paths>(
    path: P,
    ...input: CallArguments<P, RouteAt<Api, `${Method} ${P}`>>
  ): Promise<Response>;
  /**
   * Calls a route that sends events, and yields them; leaving the loop aborts the call. It does
   * not reconnect.
   *
   * @throws {ProblemError} if the status is 400 or more
   * @throws {RangeError} if an event has more than 16 777 216 characters
   * @throws {TypeError} if the answer is not an event stream
   */
  events<P extends Paths>(
    path: P & EventPath<P, RouteAt<Api, `${Method} ${P}`>>,
    ...input: CallArguments<P, RouteAt<Api, `${Method} ${P}`>>
  ): AsyncIterable<EventOf<RouteAt<Api, `${Method} ${P}`>>>;
}

/** Opens WebSockets. */
export interface Connect<Api, Paths extends string> {
  /**
   * Opens the WebSocket of a route that declares its messages. No headers are sent, as browsers
   * send none; they send the cookies of its host.
   *
   * @throws {Error} if it is refused, or the server is not reached
   */
  <P extends Paths>(
    path: P & SocketPath<P, RouteAt<Api, `GET ${P}`>>,
    ...input: ConnectArguments<P, RouteAt<Api, `GET ${P}`>>
  ): Promise<SocketOf<RouteAt<Api, `GET ${P}`>>>;
}

/** A client of an API: a function for each method. */
export interface Client<Api extends AnyApi> {
  /** Opens WebSockets of `GET` routes. */
  readonly connect: Connect<Api, PathsOf<Api, "GET">>;
  /** Calls `GET` routes. */
  readonly get: Calls<Api, "GET", PathsOf<Api, "GET">>;
  /** Calls `POST` routes. */
  readonly post: Calls<Api, "POST", PathsOf<Api, "POST">>;
  /** Calls `PUT` routes. */
  readonly put: Calls<Api, "PUT", PathsOf<Api, "PUT">>;
  /** Calls `PATCH` routes. */
  readonly patch: Calls<Api, "PATCH", PathsOf<Api, "PATCH">>;
  /** Calls `DELETE` routes. */
  readonly delete: Calls<Api, "DELETE", PathsOf<Api, "DELETE">>;
  /** Calls `OPTIONS` routes. */
  readonly options: Calls<Api, "OPTIONS", PathsOf<Api, "OPTIONS">>;
  /** Calls `HEAD` routes. */
  readonly head: Calls<Api, "HEAD", PathsOf<Api, "HEAD">>;
}

/**
 * Creates a client of the API of an application, whose calls are typed by its routes. `base` is the
 * URL before the paths, with the global prefix of the application. One without a server
 * is created with `fetch: app.fetch`, which ignores the signal: a call then ends when its route
 * answers.
 *
 * @example
 * ```ts
 * import { controller, FwFactory, module, route } from "@fw/fw";
 * import { type ApiOf, createClient } from "@fw/fw/client";
 * import * as v from "valibot";
 *
 * const Cat = v.object({ name: v.string(), age: v.number() });
 * class CatsController extends controller("cats", { version: "v1" }) {
 *   create = route.post("/", { body: Cat, response: Cat, status: 201 }, ({ body }) => body);
 * }
 * const AppModule = module({ controllers: [CatsController] });
 * const app = (await FwFactory.create(AppModule)).enableUriVersioning();
 *
 * const api = createClient<ApiOf<typeof AppModule>>("http://localhost", { fetch: app.fetch });
 * const { name } = await api.post("/v1/cats", { body: { name: "Tom", age: 3 } });
 * console.assert(name === "Tom");
 * ```
 *
 * @throws {TypeError} (from a call) if a parameter of the path is empty, `.` or `..`; if the answer
 * is a redirect; or if `fetch` fails
 */
export function createClient<Api extends AnyApi>(
  base: string | URL,
  options: ClientOptions = {},
): Client<Api> {
  const start = String(base).replace(/\/$/, "");
  return Object.fromEntries([ // typed by the routes of the API
    ...["get", "post", "put", "patch", "delete", "options", "head"].map(
      (name) => [name, callsOf(name.toUpperCase(), { start, options })],
    ),
    ["connect", async (path: string, input: Input & CallOptions = {}) => {
      const { connect } = await import("./socket.ts"); // most clients open none
      return connect(start + pathOf(`GET ${path}`, input), { options, input });
    }],
  ]);
}

/** What all calls of a client have. */
interface Common {
  readonly start: string;
  readonly options: ClientOptions;
}

/** Reads the answer to a call. */
type Read<T> = (response: Response, call: string) => Promise<T>;

function callsOf(method: string, { start, options }: Common): object {
  const send = sendOf(options);
  const calling =
    <T>(read: Read<T>) => async (path: string, input: Input & CallOptions = {}): Promise<T> => {
      const {
        signal = options.signal,
        timeoutMs = options.timeoutMs ?? TIMEOUT_MS,
        retry = options.retry ?? 0,
      } = input;
      const { redirect } = options;
      const call = `${method} ${path}`;
      const url = start + pathOf(call, input);
      const [body, mediaType] = bodyOf(input);
      // before the first attempt: a repetition must not need the network for its code
      const repeat = retry ? (await import("./retry.ts")).repeat : () => false;
      for (let count = 0;; count++) {
        const ended = new AbortController();
        const timer = setTimeout(() => {
          ended.abort(
            new DOMException(`Cannot ${call}: no answer in ${timeoutMs} ms`, "TimeoutError"),
          );
        }, Math.min(timeoutMs, MAX_TIMER_MS));
        try {
          const { headers = {} } = options;
          const request = new Request(url, {
            method,
            headers: headersOf(
              typeof headers === "function" ? await headers() : headers,
              { "content-type": mediaType, ...input.headers },
            ),
            body,
            ...options.credentials && { credentials: options.credentials },
            redirect: redirect ?? "manual", // Workers know no "error"
            signal: AbortSignal.any([ended.signal, signal ?? ended.signal]),
          });
          const attempt = { request, count, retry, signal };
          let response: Response;
          try {
            response = await send(request);
          } catch (error) {
            if (await repeat(attempt)) continue;
            throw error;
          }
          if (await repeat({ ...attempt, response })) continue;
          if (redirect || !REDIRECT.test(response.type + response.status)) {
            return await read(response, call);
          }
          await response.body?.cancel();
          throw new TypeError(`Cannot ${call}: the answer is a redirect`);
        } finally {
          clearTimeout(timer);
        }
      }
    };
  const response = calling(successful);
  return Object.assign(calling(dataOf), {
    safe: calling(answerOf),
    response,
    async *events(path: string, input?: Input) {
      const { eventsOf } = await import("./events.ts"); // most clients read none
      yield* eventsOf(await response(path, input));
    },
  });
}

function sendOf(
  { fetch = (request) => globalThis.fetch(request), interceptors = [] }: ClientOptions,
): Send {
  return interceptors.reduceRight<Send>(
    (next, intercept) => (request) => intercept(request, next),
    async (request) => await fetch(request),
  );
}

/** A redirect (https://fetch.spec.whatwg.org/#redirect-status), or one that a browser hides. */
const REDIRECT = /opaqueredirect|30[12378]/;

async function answerOf(
  response: Response,
  call: string,
): Promise<Success<number, unknown> | Failure<Problem>> {
  const { status } = response;
  const text = await wholeText(response, call);
  if (status >= 400) return { problem: problemOf(response, text), response };
  const data = text === "" ? undefined : isJson(response) ? JSON.parse(text) : text;
  return { status, data, response };
}

async function dataOf(response: Response, call: string): Promise<unknown> {
  const answer = await answerOf(response, call);
  if (answer.problem) throw new ProblemError(call, answer);
  return answer.data;
}

async function successful(response: Response, call: string): Promise<Response> {
  if (response.status >= 400) await dataOf(response, call); // throws
  return response;
}
