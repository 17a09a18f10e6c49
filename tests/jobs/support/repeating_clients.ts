/** Clients of an idempotent route, whose server may be killed. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";

/** How clients call a route. */
interface RepeatingOptions {
  /** The route. */
  readonly url: string;
  /** How many call it at the same time. */
  readonly clients: number;
  /** Returns the body of a request by its number; by default, it has none. */
  readonly body?: (number: number) => object;
}

/** Sends requests until it is stopped; one that is not answered is repeated with its key. */
export class RepeatingClients<Id> {
  /** The ids in the answers by the numbers of requests, from 1: each has a key of its own. */
  readonly ids = new Map<number, Id>();
  /** How many attempts had no answer. */
  lost = 0;
  #isStopped = false;
  readonly #options: RepeatingOptions;
  readonly #running: Promise<unknown>;

  constructor(options: RepeatingOptions) {
    this.#options = options;
    const clients = Array.from({ length: options.clients }, (_, i) => this.#run(i + 1));
    this.#running = Promise.all(clients);
  }

  /** Sends no more requests, and waits for those that were begun. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(first: number): Promise<void> {
    for (let number = first; !this.#isStopped; number += this.#options.clients) {
      const key = crypto.randomUUID();
      let id: Id | undefined;
      while (id === undefined) id = await this.#attempt(number, key);
      this.ids.set(number, id);
    }
  }

  async #attempt(number: number, key: string): Promise<Id | undefined> {
    const { url, body } = this.#options;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "idempotency-key": key, ...body && { "content-type": "application/json" } },
        ...body && { body: JSON.stringify(body(number)) },
      });
      const answer = await response.json();
      if (response.status === 201) return answer.id;
      assert.ok(response.status === 409 || response.status >= 500, JSON.stringify(answer));
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      this.lost++; // the process was killed, or does not serve yet
    }
    await delay(10);
    return undefined;
  }
}
