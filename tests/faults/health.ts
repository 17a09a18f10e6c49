/** Watches what an application reports about its health. */
import { setTimeout as delay } from "node:timers/promises";
import type { Interval } from "./judge.ts";

/** What an application must report while it is broken; `any` if its users would not notice. */
export type ExpectedHealth = "up" | "down" | "any";

const EVERY_MS = 100;
const DEADLINE_MS = 10_000;

/** Asks for the health of an application, again and again. */
export class HealthWatch implements AsyncDisposable {
  readonly #answers: { readonly status: number; readonly sentAt: number; answeredAt: number }[] =
    [];
  readonly #asking: Promise<void>;
  #isRunning = true;

  /** Starts to ask; `origin` is read for each request. */
  constructor(origin: () => string) {
    this.#asking = this.#ask(origin);
  }

  /** Returns what was not as it must be around a fault: it is up before and after. */
  judge(expected: ExpectedHealth, { from, to }: Interval): readonly string[] {
    const during = this.#answers.filter(({ sentAt, answeredAt }) =>
      answeredAt >= from && sentAt <= to
    );
    const isDown = during.some(({ status }) => status === 503);
    const others = this.#answers.find(({ status }) => status !== 200 && status !== 503);
    const last = this.#answers.at(-1)?.status;
    return [
      ...others ? [`GET /health: ${others.status || "no answer"}`] : [],
      ...expected === "down" && !isDown ? ["health does not report the fault"] : [],
      ...expected === "up" && isDown ? ["health is 503, although it must be up"] : [],
      ...this.#answers.some(({ status, answeredAt }) => status !== 200 && answeredAt < from)
        ? ["health was not up before the fault"]
        : [],
      ...last === 200 ? [] : [`health is ${last} after the fault`],
    ];
  }

  /** Waits until it is up again. */
  async isUp(withinMs: number): Promise<void> {
    const sinceMs = performance.now();
    while (performance.now() - sinceMs < withinMs) {
      const last = this.#answers.at(-1);
      if (last && last.sentAt > sinceMs && last.status === 200) return;
      await delay(20);
    }
  }

  /** Stops after the request under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isRunning = false;
    await this.#asking;
  }

  async #ask(origin: () => string): Promise<void> {
    while (this.#isRunning) {
      const sentAt = performance.now();
      let status = 0;
      try {
        const signal = AbortSignal.timeout(DEADLINE_MS);
        const response = await fetch(`${origin()}/health`, { signal });
        await response.body?.cancel();
        ({ status } = response);
      } catch {
        // no answer
      }
      this.#answers.push({ status, sentAt, answeredAt: performance.now() });
      await delay(EVERY_MS);
    }
  }
}
