/**
 * Work that continues after the response, on runtimes without an execution context.
 *
 * @module
 */
import { getLogger, type Logger } from "@logtape/logtape";
import type { ExecutionContext } from "hono";
import { type Caller, callerTracker } from "../platform/caller.ts";
import { within } from "../platform/time_limit.ts";

/** The caller of background work: the application, which never disconnects. */
const APPLICATION: Caller = { req: { raw: {} }, finalized: false };

/**
 * The execution context of every request of a server: `c.executionCtx.waitUntil(work)` works as on
 * an edge runtime. Failures are logged.
 */
export class Background implements ExecutionContext {
  /** Used only by Workers; empty here. */
  readonly props: object = {};
  readonly #work = new Set<Promise<void>>();

  /**
   * Keeps work running after its response, or if its client leaves; the application waits for it
   * before it stops.
   */
  readonly waitUntil = (work: Promise<unknown>): void => {
    const noted = Promise.resolve(work).then(() => {}, (error) => {
      logger().error("Background work failed: {error}", { error });
    }).finally(() => this.#work.delete(noted));
    this.#work.add(noted);
    void callerTracker()?.(APPLICATION, () => noted);
  };

  /** Does nothing: there is no origin server. */
  passThroughOnException(): void {}

  /** Waits until all work is done, for at most `limitMs` milliseconds. */
  async end(limitMs: number): Promise<void> {
    if (await within(this.#allDone(), limitMs)) return;
    logger().warn("Background work was not finished: {count}", { count: this.#work.size });
  }

  async #allDone(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }
}

function logger(): Logger {
  return getLogger(["fw", "runtime"]);
}
