/**
 * A sleep that can be interrupted.
 *
 * @module
 */

/** A sleep of one caller at a time. */
export class WakeUp {
  #isWoken = false;
  #wake: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Ends the sleep, or the next one if nothing sleeps. */
  wake(): void {
    this.#isWoken = true;
    clearTimeout(this.#timer);
    this.#wake?.();
  }

  /** Sleeps for at most `ms` milliseconds. */
  async within(ms: number): Promise<void> {
    if (!this.#isWoken) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      this.#timer = setTimeout(resolve, ms);
      await promise;
      this.#wake = undefined;
    }
    this.#isWoken = false;
  }
}
