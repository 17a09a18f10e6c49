/**
 * Streams of bytes with a size limit.
 *
 * @module
 */

import { BatchReader, type Bytes, type WaitForRead } from "./batch_reader.ts";

/** A stream has more bytes than its limit allows. */
export class StreamTooLongError extends RangeError {
  /** The name of the class. */
  override readonly name = "StreamTooLongError";
}

/** Options of {@linkcode boundedStream}. */
export interface BoundedStreamOptions {
  /** Called before the stream fails because it is too long. */
  readonly onExceeded?: () => void;
  /** Waits for a part of the source that has not arrived. */
  readonly wait?: WaitForRead;
}

/**
 * Returns a stream of the same bytes that fails with a {@linkcode StreamTooLongError} once it
 * exceeds `maxBytes`, which a function can return at each read, or fails like `wait`. In both cases
 * the source is cancelled. Parts that have arrived together are one.
 */
export function boundedStream(
  source: ReadableStream<Uint8Array>,
  maxBytes: number | (() => number),
  { onExceeded, wait = (read) => read }: BoundedStreamOptions = {},
): ReadableStream<Bytes> {
  // Nothing is locked or read for a reader that never comes.
  let reader: BatchReader | undefined;
  let bytes = 0;
  return new ReadableStream({
    async pull(controller) {
      reader ??= new BatchReader(source, wait);
      const batch = await reader.read().catch((error) => {
        reader?.cancel().catch(() => {});
        throw error;
      });
      if (!batch) return controller.close();
      bytes += batch.byteLength;
      const limit = typeof maxBytes === "function" ? maxBytes() : maxBytes;
      if (bytes <= limit) return controller.enqueue(batch);
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
