/**
 * Work that goes on after its request is answered, on runtimes that have no execution context.
 *
 * @module
 */
import { getLogger, type Logger } from "@logtape/logtape";
import type { ExecutionContext } from "hono";
import { within } from "../platform/time_limit.ts";

/**
 * The execution context of every request of a server: `c.executionCtx.waitUntil(work)` means the same
 * as on an edge runtime. What fails is logged.
 */
export class Background implements ExecutionContext {
  /** Of Workers alone: there are none here. */
  readonly props: object = {};
  readonly #work = new Set<Promise<void>>();

  /** Lets work go on though its request is answered; it is waited for before the application stops. */
  readonly waitUntil = (work: Promise<unknown>): void => {
    const noted = Promise.resolve(work).then(() => {}, (error) => {
      logger().error("Background work failed: {error}", { error });
    }).finally(() => this.#work.delete(noted));
    this.#work.add(noted);
  };

  /** Does nothing: there is no server behind this one. */
  passThroughOnException(): void {}

  /** Waits until no work is left, but no longer than so many milliseconds. */
  async end(limitMs: number): Promise<void> {
    if (await within(this.#allDone(), limitMs)) return;
    logger().warn("Background work is left undone: {count}", { count: this.#work.size });
  }

  async #allDone(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }
}

function logger(): Logger {
  return getLogger(["fw", "runtime"]);
}
