/**
 * Streams of bytes with a size limit.
 *
 * @module
 */

/** A stream has more bytes than its limit allows. */
export class StreamTooLongError extends RangeError {
  /** The name of the class. */
  override readonly name = "StreamTooLongError";
}

/** Options of {@linkcode boundedStream}. */
export interface BoundedStreamOptions {
  /** Called before the stream fails because it is too long. */
  readonly onExceeded?: () => void;
  /** Settles like a read of the source, or rejects before. */
  readonly wait?: <T>(read: Promise<T>, bytesBefore: number) => Promise<T>;
}

/**
 * Returns a stream of the same bytes that fails with a {@linkcode StreamTooLongError} once it
 * exceeds `maxBytes`, which a function can return at each read, or fails like `wait`. In both cases
 * the source is cancelled.
 */
export function boundedStream(
  source: ReadableStream<Uint8Array>,
  maxBytes: number | (() => number),
  { onExceeded, wait = (read) => read }: BoundedStreamOptions = {},
): ReadableStream<Uint8Array<ArrayBuffer>> {
  // Nothing is locked or read for a reader that never comes.
  let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  let bytes = 0;
  return new ReadableStream({
    async pull(controller) {
      reader ??= source.getReader() as typeof reader & object;
      const { done, value } = await wait(reader.read(), bytes).catch((error) => {
        reader?.cancel().catch(() => {});
        throw error;
      });
      if (done) return controller.close();
      bytes += value.byteLength;
      const limit = typeof maxBytes === "function" ? maxBytes() : maxBytes;
      // a copy: Deno's parts of a byte each hold a buffer of 64 KiB
      if (bytes <= limit) return controller.enqueue(value.slice());
      onExceeded?.();
      controller.error(new StreamTooLongError(`The stream has more than ${limit} bytes`));
      await reader.cancel(); // so that the connection does not wait
    },
    cancel: (reason) => (reader ?? source).cancel(reason),
  }, { highWaterMark: 0 });
}

/**
 * Reads a whole stream of UTF-8 text.
 *
 * @throws {StreamTooLongError} if it has more than `maxBytes` bytes
 */
export async function readBounded(
  source: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<string> {
  const reader = boundedStream(source, maxBytes).getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
  }
}
