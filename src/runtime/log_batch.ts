/**
 * Log lines that are printed together: to print one takes longer than to answer a small request.
 *
 * @module
 */
/** The part of `process` that is used here; an edge runtime may have none. */
interface Process {
  on(event: "exit", listener: () => void): void;
  off(event: "exit", listener: () => void): void;
}

const { process } = globalThis as { readonly process?: Process };

/** How long a line waits at most, in milliseconds, and how many wait. */
const DELAY_MS = 20;
const MOST = 256;

/** The events of Deno before it ends the process; `exit` is not emitted then. */
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
    if (this.#holders === 0 || this.#lines.length >= MOST) this.flush();
    else this.#timer ??= setTimeout(this.flush, DELAY_MS);
  }

  /** Prints the lines that wait. It is bound. */
  readonly flush = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = this.#lines.splice(0);
    if (lines.length > 0) this.#print(lines.join("\n"));
  };

  /**
   * Keeps lines to print them together, until the returned function is called. The end of the
   * process loses none, unless it is killed.
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
    process?.on("exit", this.flush);
    for (const event of LAST_EVENTS) globalThis.addEventListener?.(event, this.flush);
  }

  #unwatchEnd(): void {
    process?.off("exit", this.flush);
    for (const event of LAST_EVENTS) globalThis.removeEventListener?.(event, this.flush);
  }
}
