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

/**
 * Returns a stream of the same bytes that fails with a {@linkcode StreamTooLongError} once it
 * exceeds `maxBytes`, which a function can return at each read. `onExceeded` is called before it
 * fails; the source is cancelled.
 */
export function boundedStream(
  source: ReadableStream<Uint8Array>,
  maxBytes: number | (() => number),
  { onExceeded = () => {} }: { readonly onExceeded?: () => void } = {},
): ReadableStream<Uint8Array<ArrayBuffer>> {
  // Nothing is locked or read for a reader that never comes.
  let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  let bytes = 0;
  return new ReadableStream({
    async pull(controller) {
      reader ??= source.getReader() as typeof reader & object;
      const { done, value } = await reader.read();
      if (done) return controller.close();
      bytes += value.byteLength;
      const limit = typeof maxBytes === "function" ? maxBytes() : maxBytes;
      if (bytes <= limit) return controller.enqueue(value);
      onExceeded();
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
