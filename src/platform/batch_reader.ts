/**
 * Reads a stream of bytes in batches: a client can send a body in parts of a byte each, and whoever
 * reads them one by one spends more time on a part than the runtime.
 *
 * @module
 */

/** Bytes with a buffer of their own. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** Settles like a read of a stream, or rejects before; `bytesBefore` were read before it. */
export type WaitForRead = <T>(read: Promise<T>, bytesBefore: number) => Promise<T>;

/** A part of a stream, or its end. */
type Part = ReadableStreamReadResult<Bytes>;

/** The part of the readers of streams that is used here. */
interface PartReader {
  read(): Promise<Part>;
  cancel(reason?: unknown): Promise<void>;
}

/** A part larger than this is not joined with others, in bytes. */
const SMALL_BYTES = 4096;

/** The most bytes of several parts that are joined, and of a part on Deno. */
const BATCH_BYTES = 65_536;

/** Reads the parts of a stream; small ones that have arrived together are one. */
export class BatchReader {
  readonly #reader: PartReader;
  readonly #wait: WaitForRead;
  /** The part after those that were read. */
  #next: Promise<Part> | undefined;
  #batch: Bytes | undefined;
  #bytes = 0;

  /** Locks the stream. `wait` waits for the first of the parts that arrive together. */
  constructor(source: ReadableStream<Uint8Array>, wait: WaitForRead) {
    this.#reader = readerOf(source);
    this.#wait = wait;
  }

  /** Resolves to a copy of the next bytes, or `undefined` at the end of the stream. */
  async read(): Promise<Bytes | undefined> {
    const { done, value } = await this.#wait(this.#begin(), this.#bytes);
    this.#next = undefined;
    if (done) return undefined;
    // workerd, where a proxy has joined them, may have no `setImmediate`
    const isJoined = value.byteLength <= SMALL_BYTES && "setImmediate" in globalThis;
    const bytes = isJoined ? await this.#joined(value) : value.slice();
    this.#bytes += bytes.byteLength;
    return bytes;
  }

  /** Cancels the stream. */
  cancel(reason?: unknown): Promise<void> {
    return this.#reader.cancel(reason);
  }

  /** Joins a part with those that arrive in the same turn of the event loop. */
  async #joined(first: Bytes): Promise<Bytes> {
    const batch = this.#batch ??= new Uint8Array(BATCH_BYTES);
    batch.set(first);
    let length = first.byteLength;
    const { promise: over, resolve } = Promise.withResolvers<undefined>();
    const turn = setImmediate(() => resolve(undefined));
    while (true) {
      const part = await Promise.race([this.#begin(), over]).catch(() => {}); // `read` will fail
      if (!part || part.done || part.value.byteLength > BATCH_BYTES - length) break;
      this.#next = undefined;
      batch.set(part.value, length);
      length += part.value.byteLength;
    }
    clearImmediate(turn);
    return batch.slice(0, length);
  }

  #begin(): Promise<Part> {
    return this.#next ??= this.#reader.read();
  }
}

/**
 * Returns a reader of a stream. On Deno, each part of a byte would have a buffer of 64 KiB: all
 * parts of a stream of bytes are read into one buffer, so that each is valid until the next read.
 */
function readerOf(source: ReadableStream<Uint8Array>): PartReader {
  const stream = source as ReadableStream<Bytes>;
  const reader = "Deno" in globalThis ? byteReader(stream) : undefined;
  if (!reader) return stream.getReader();
  let buffer = new ArrayBuffer(BATCH_BYTES);
  return {
    cancel: (reason) => reader.cancel(reason),
    read: () =>
      reader.read(new Uint8Array(buffer)).then((result) => {
        if (result.value) ({ buffer } = result.value);
        return result as Part;
      }),
  };
}

function byteReader(stream: ReadableStream<Bytes>): ReadableStreamBYOBReader | undefined {
  try {
    return stream.getReader({ mode: "byob" });
  } catch {
    return undefined; // it is not a stream of bytes, or is locked
  }
}
