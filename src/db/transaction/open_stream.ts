/**
 * The open stream of a connection.
 *
 * @module
 */

/** The chunks of a stream. */
type Chunks<T> = Pick<AsyncIterator<T>, "next" | "return">;

/** An error of the caller's use of a connection, not of a statement. */
export class Refusal extends TypeError {}

/** Returns the error of what comes after the end of its transaction. */
export function hasEnded(action: string): Refusal {
  return new Refusal(`Cannot ${action}: its transaction has ended, which did not await it`);
}

/**
 * The stream that a connection has open, if it has one. Until it is read to its end, or its reader
 * has left its loop, the server does not answer other statements.
 */
export class OpenStream {
  #chunks: Chunks<unknown> | undefined;

  /** Yields the chunks of a stream, which `close` ends. */
  async *read<T>(chunks: Chunks<T>): AsyncIterableIterator<T> {
    this.#chunks = chunks;
    try {
      for (;;) {
        const { done, value } = await chunks.next();
        if (this.#chunks !== chunks) throw hasEnded("read stream");
        if (done) return;
        yield value;
      }
    } finally {
      if (this.#chunks === chunks) await this.close();
    }
  }

  /**
   * Fails while a stream is open.
   *
   * @throws {TypeError} if one is open
   */
  check(action: string): void {
    if (this.#chunks) throw new Refusal(`Cannot ${action}: a stream of its transaction is open`);
  }

  /** Closes the stream; its reader fails. */
  async close(): Promise<void> {
    const chunks = this.#chunks;
    this.#chunks = undefined;
    await chunks?.return?.();
  }
}
