/** A steady load of reads and writes, which remembers each answer and each acknowledged write. */
import { setTimeout as delay } from "node:timers/promises";
import { ARTICLES } from "./server/orders_db.ts";

/** An answer, or its absence. */
export interface Answer {
  readonly what: string;
  /** The status; 0 without a response. */
  readonly status: number;
  /** Whether it is a problem document. */
  readonly isProblem: boolean;
  /** When the request was sent and answered, in milliseconds of `performance.now()`. */
  readonly sentAt: number;
  readonly answeredAt: number;
  /** What went wrong without a response; the body of an unexpected one. */
  readonly detail: string;
}

type Headers = Readonly<Record<string, string>>;

/** Options of a {@linkcode Load}. */
export interface LoadOptions {
  /** How many clients send one request after the other; default 8. */
  readonly clients?: number;
  /** The pause of a client between its requests, in milliseconds; default 5. */
  readonly pauseMs?: number;
  /** When a request without an answer is given up, in milliseconds; default 15 000. */
  readonly deadlineMs?: number;
  /** Headers of each request, for example a token; a function returns those of the next one. */
  readonly headers?: Headers | (() => Headers);
}

/** The path of the orders, and that of the example's users. */
const ORDERS = "/api/orders";
const USERS = "/api/v1/users";

/** A running load. */
export class Load implements AsyncDisposable {
  readonly answers: Answer[] = [];
  /** The keys of the orders that were acknowledged with 201. */
  readonly acknowledged = new Set<string>();
  /** The addresses of the users that were acknowledged with 201. */
  readonly acknowledgedUsers = new Set<string>();
  readonly #origin: () => string;
  readonly #options: Required<LoadOptions>;
  readonly #clients: readonly Promise<void>[];
  #isRunning = true;

  /** Starts a load; `origin` is read for each request. */
  constructor(
    origin: () => string,
    { clients = 8, pauseMs = 5, deadlineMs = 15_000, headers = {} }: LoadOptions = {},
  ) {
    this.#origin = origin;
    this.#options = { clients, pauseMs, deadlineMs, headers };
    this.#clients = Array.from({ length: clients }, (_, client) => this.#repeat(client));
  }

  /** Ends the load after the requests under way. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#clients);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Waits until `count` more requests have succeeded; resolves to when the first of them was answered. */
  async succeeded(count: number, { withinMs = 30_000 } = {}): Promise<number> {
    const sinceMs = performance.now();
    for (;;) {
      const since = this.answers.filter(({ sentAt, status }) =>
        sentAt >= sinceMs && status >= 200 && status < 300
      );
      const [first] = since;
      if (first && since.length >= count) return first.answeredAt;
      if (performance.now() - sinceMs > withinMs) {
        throw new Error(`${since.length} of ${count} requests succeeded in ${withinMs} ms`);
      }
      await delay(5);
    }
  }

  /** Waits until a request has been answered with 503, or with another error of the server. */
  async refused({ withinMs = 30_000 } = {}): Promise<void> {
    const sinceMs = performance.now();
    while (!this.answers.some(({ sentAt, status }) => sentAt >= sinceMs && status >= 500)) {
      if (performance.now() - sinceMs > withinMs) {
        throw new Error(`no request was refused in ${withinMs} ms`);
      }
      await delay(5);
    }
  }

  /**
   * Waits until an order is placed; resolves to when. It sends one every `everyMs`, whether the
   * others are answered or not, so that none that waits for its deadline holds up the next.
   */
  async firstSuccess({ everyMs = 50, withinMs = 30_000 } = {}): Promise<number> {
    const sinceMs = performance.now();
    const sent: Promise<void>[] = [];
    const { promise, resolve } = Promise.withResolvers<number>();
    let first: number | undefined;
    for (let turn = 0; first === undefined; turn++) {
      if (performance.now() - sinceMs > withinMs) {
        await Promise.all(sent);
        throw new Error(`no order was placed in ${withinMs} ms`);
      }
      const order = this.#placeOrder(turn).then(({ status, answeredAt }) => {
        if (status === 201) resolve(first ??= answeredAt);
      });
      sent.push(order);
      await Promise.race([promise, delay(everyMs)]);
    }
    await Promise.all(sent);
    return first;
  }

  async #repeat(client: number): Promise<void> {
    for (let turn = client; this.#isRunning; turn++) {
      await this.#send(turn);
      await delay(this.#options.pauseMs);
    }
  }

  /** Half of the requests write. */
  #send(turn: number): Promise<Answer> {
    switch (turn % 4) {
      case 0:
        return this.#request(`GET ${ORDERS}`);
      case 1: {
        const email = `${crypto.randomUUID()}@example.com`;
        return this.#request(`POST ${USERS}`, {
          body: { email, name: "Tom" },
          onCreated: () => this.acknowledgedUsers.add(email),
        });
      }
      case 2:
        return this.#request(`GET ${USERS}?take=20`);
      default:
        return this.#placeOrder(turn);
    }
  }

  #placeOrder(turn: number): Promise<Answer> {
    const key = crypto.randomUUID();
    return this.#request(`POST ${ORDERS}`, {
      body: { key, article: 1 + turn % ARTICLES, quantity: 1 + turn % 10 },
      onCreated: () => this.acknowledged.add(key),
    });
  }

  async #request(
    what: string,
    { body, onCreated }: { readonly body?: object; readonly onCreated?: () => void } = {},
  ): Promise<Answer> {
    const [method = "", path = ""] = what.split(" ");
    const { headers } = this.#options;
    const sentAt = performance.now();
    const answer = { what, status: 0, isProblem: false, sentAt, detail: "" };
    try {
      const response = await fetch(this.#origin() + path, {
        method,
        headers: {
          ...typeof headers === "function" ? headers() : headers,
          ...body && { "content-type": "application/json" },
        },
        signal: AbortSignal.timeout(this.#options.deadlineMs),
        ...body && { body: JSON.stringify(body) },
      });
      const text = await response.text();
      answer.status = response.status;
      answer.isProblem = response.headers.get("content-type") === "application/problem+json";
      if (!response.ok) answer.detail = text.slice(0, 300);
      if (response.status === 201) onCreated?.();
    } catch (error) {
      answer.detail = describeFailure(error);
    }
    const answered = { ...answer, answeredAt: performance.now() };
    this.answers.push(answered);
    return answered;
  }
}

/** Describes why a request has no answer; `fetch` has the reason in the cause. */
export function describeFailure(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? `: ${error.cause}` : "";
  return `${error}${cause}`;
}
