/**
 * Reading the whole body of a request. A small one has often arrived with its head, and some
 * runtimes have it at once: each promise would cost a turn of the microtask queue. The reader
 * depends on the runtime alone, so the adapter of the runtime sets one for the whole process.
 *
 * @module
 */

/** Reads the whole body of a request: at once if it has arrived and the runtime shows that. */
export type BytesReader = (request: Request) => ArrayBuffer | Uint8Array | Promise<ArrayBuffer>;

let read: BytesReader = (request) => request.arrayBuffer();

/** Sets how the runtime reads a body. */
export function setBytesReader(reader: BytesReader): void {
  read = reader;
}

/** Returns the body of a request, which counts as read, or a promise of it. */
export function readBytes(request: Request): ReturnType<BytesReader> {
  return read(request);
}
