/**
 * Log lines that are printed together: to print one takes longer than to answer a small request.
 *
 * @module
 */

/** The longest time that a line waits, in milliseconds. */
const DELAY_MS = 20;

/** The largest number of lines that wait. */
const MAX_LINES = 256;

/** Deno's events before the process ends; it emits no `exit` then. */
const LAST_EVENTS = ["unload", "error", "unhandledrejection"] as const;

/** Prints lines: at once, or together while it {@linkcode hold}s them. */
export class LogBatch {
  readonly #print: (lines: string) => void;
  readonly #lines: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #holders = 0;

  /** Creates a batch that prints at once. */
  constructor(print: (lines: string) => void) {
    this.#print = print;
  }

  /** Prints a line, or keeps it for up to 20 ms. */
  add(line: string): void {
    this.#lines.push(line);
    if (this.#holders === 0 || this.#lines.length >= MAX_LINES) this.flush();
    else this.#timer ??= setTimeout(this.flush, DELAY_MS);
  }

  /** Prints the waiting lines. It is bound, as listeners need it. */
  readonly flush = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = this.#lines.splice(0);
    if (lines.length > 0) this.#print(lines.join("\n"));
  };

  /**
   * Batches lines until the returned function is called. The exit of the process prints those that
   * wait.
   */
  hold(): () => void {
    if (this.#holders++ === 0) this.#watchEnd();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      if (--this.#holders === 0) this.#unwatchEnd();
      this.flush();
    };
  }

  #watchEnd(): void {
    globalThis.process?.on("exit", this.flush);
    for (const event of LAST_EVENTS) globalThis.addEventListener?.(event, this.flush);
  }

  #unwatchEnd(): void {
    globalThis.process?.off("exit", this.flush);
    for (const event of LAST_EVENTS) globalThis.removeEventListener?.(event, this.flush);
  }
}
