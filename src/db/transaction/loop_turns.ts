/**
 * The turns of the event loop.
 *
 * @module
 */

/** How long the event loop is held up before a turn is requested, and again until it is awaited. */
const HELD_MS = 5;
/** After as many statements within this time, the clock is read again: it takes 0.2 µs. */
const BATCH = 7;
const QUICK_MS = 1;

/**
 * Lets the event loop turn between statements that run inside the process. Promises that settle at
 * once keep it from turning: no timer, signal or request would have its time during a loop of
 * statements that are awaited.
 */
export class LoopTurns {
  readonly #onTurn: () => void;
  #turnedAtMs = performance.now();
  #checkedAtMs = 0;
  #unchecked = 0;
  #requestedAtMs = 0;
  #turn: Promise<void> | undefined;

  /** Begins to observe; `onTurn` is called at each turn that was requested. */
  constructor(onTurn: () => void) {
    this.#onTurn = onTurn;
  }

  /**
   * Returns the next turn, which a statement must wait for, if the event loop has not turned for 5
   * to 10 ms. The first statement after a while only requests it.
   */
  next(): Promise<void> | undefined {
    if (this.#unchecked-- > 0) return;
    const nowMs = performance.now();
    this.#unchecked = nowMs - this.#checkedAtMs < QUICK_MS ? BATCH : 0;
    this.#checkedAtMs = nowMs;
    if (nowMs - this.#turnedAtMs < HELD_MS) return;
    this.#turn ??= this.#request(nowMs);
    return nowMs - this.#requestedAtMs < HELD_MS ? undefined : this.#turn;
  }

  async #request(nowMs: number): Promise<void> {
    this.#requestedAtMs = nowMs;
    // On Node, timers that follow each other would keep it from reading sockets.
    await new Promise<void>((resolve) => (globalThis.setImmediate ?? setTimeout)(resolve));
    this.#turnedAtMs = performance.now();
    this.#turn = undefined;
    this.#onTurn();
  }
}
