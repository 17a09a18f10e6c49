/** A load of many kinds of requests, which keeps caches, limiters and pools at their bounds. */
import { setTimeout as delay } from "node:timers/promises";
import { Random } from "../random.ts";
import { STATEMENTS } from "../server/statements.ts";
import { WireClient, type WireRequest } from "../wire_client.ts";

/** Options of a {@linkcode MixedLoad}. */
export interface MixedLoadOptions {
  readonly tokens: readonly string[];
  readonly seed: number;
  readonly clients: number;
  /** The pause of a client between its requests, in milliseconds. */
  readonly pauseMs: number;
}

type Kind = readonly [weight: number, status: number, plan: (turn: Turn) => WireRequest];

interface Turn {
  readonly random: Random;
  readonly key: string;
}

const KINDS: readonly Kind[] = [
  [20, 200, () => ({ target: "/api/orders" })],
  [
    2,
    201,
    ({ key, random }) => post("/api/orders", { key, article: 1 + random.below(16), quantity: 1 }),
  ],
  [20, 200, () => ({ target: "/api/v1/users?take=5" })],
  [2, 201, ({ key }) => post("/api/v1/users", { email: `${key}@example.com`, name: "Tom" })],
  [10, 404, () => ({ target: "/api/v1/users/999999999" })],
  [5, 422, () => post("/api/v1/users", { email: "nobody", name: 1 })],
  [40, 200, ({ random }) => ({ target: `/api/varied/${1 + random.below(STATEMENTS)}` })],
  [5, 200, () => ({ ...post("/api/slow/upload", "x".repeat(100_000)) })],
  [1, 200, () => ({ target: "/api/slow/lines" })],
  [5, 401, () => ({ target: "/api/orders", lines: ["Authorization: Bearer a.b.c"] })],
  [5, 404, ({ key }) => ({ target: `/${key}` })],
  [5, 204, () => ({ target: "/api/orders", method: "OPTIONS" })],
];

const DECK = KINDS.flatMap((kind) => Array<Kind>(kind[0]).fill(kind));

/** A running load. */
export class MixedLoad implements AsyncDisposable {
  /** The requests, and those that were answered as they should be. */
  readonly counts = { requests: 0, asExpected: 0, abandoned: 0 };
  /** The first answers that should have been others. */
  readonly wrong: string[] = [];
  readonly #options: MixedLoadOptions;
  readonly #clients: readonly Promise<void>[];
  #isRunning = true;

  /** Starts a load. */
  constructor(origin: string, options: MixedLoadOptions) {
    this.#options = options;
    this.#clients = Array.from(
      { length: options.clients },
      (_, client) => this.#repeat(origin, client),
    );
  }

  /** Ends the load after the requests under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#clients);
  }

  async #repeat(origin: string, client: number): Promise<void> {
    const { seed, pauseMs, tokens } = this.#options;
    const random = new Random(seed + client);
    using wire = new WireClient(origin);
    while (this.#isRunning) {
      const common = [
        `Authorization: Bearer ${random.pick(tokens)}`,
        `X-Forwarded-For: 10.${random.below(4)}.${random.below(256)}.${random.below(256)}`,
      ];
      if (random.below(100) === 0) await this.#abandon(wire, { random, lines: common });
      else if (random.below(200) === 0) await this.#talk(origin);
      else await this.#request(wire, { random, lines: common });
      await delay(pauseMs);
    }
  }

  async #request(
    wire: WireClient,
    { random, lines }: { readonly random: Random; readonly lines: readonly string[] },
  ): Promise<void> {
    const [, status, plan] = random.pick(DECK);
    const planned = plan({ random, key: crypto.randomUUID() });
    const own = planned.lines ?? [];
    const isIdentified = own.some((line) => line.startsWith("Authorization"));
    const sent = [...own, ...lines.slice(isIdentified ? 1 : 0)];
    const answer = await wire.send({ ...planned, lines: sent });
    this.#note(
      answer.status === status,
      () =>
        `${planned.method ?? "GET"} ${planned.target}: ${answer.status} in place of ${status} ${
          answer.error ?? answer.body.slice(0, 200)
        }`,
    );
  }

  /** Leaves while the answer is not there, or not complete. */
  async #abandon(
    wire: WireClient,
    { random, lines }: { readonly random: Random; readonly lines: readonly string[] },
  ): Promise<void> {
    const target = random.pick(["/api/slow/wait/500", "/api/slow/events", "/api/slow/lines"]);
    this.counts.abandoned += 1;
    await wire.abandon({ target, lines }, random.below(200)).catch(() => {});
  }

  /** Sends a message to a WebSocket and waits for its echo. */
  async #talk(origin: string): Promise<void> {
    const socket = new WebSocket(`${origin.replace("http", "ws")}/api/slow/echo`);
    const heard = await new Promise<unknown>((resolve) => {
      const tooLong = setTimeout(() => resolve("nothing"), 30_000);
      const end = (result: unknown) => {
        clearTimeout(tooLong);
        resolve(result);
      };
      socket.onopen = () => socket.send("hello");
      socket.onmessage = ({ data }) => end(data);
      socket.onerror = () => end("an error");
      socket.onclose = () => end("the end");
    });
    const closed = new Promise((resolve) => socket.onclose = resolve);
    if (socket.readyState !== WebSocket.CLOSED) {
      socket.close();
      await Promise.race([closed, delay(5_000)]);
    }
    this.#note(heard === "echo hello", () => `the WebSocket heard ${heard}`);
  }

  #note(isExpected: boolean, describe: () => string): void {
    this.counts.requests += 1;
    if (isExpected) this.counts.asExpected += 1;
    else if (this.wrong.length < 10) this.wrong.push(describe());
  }
}

function post(target: string, body: unknown): WireRequest {
  const lines = ["Content-Type: application/json"];
  return { method: "POST", target, lines, body: JSON.stringify(body) };
}
