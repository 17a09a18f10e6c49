/**
 * Reading one header of a request, for which most runtimes create the `Headers` of all. The reader
 * depends on the runtime alone, so the adapter of the runtime sets one for the whole process.
 *
 * @module
 */

/** Reads a header of a request; several fields of the name are joined by `, `. */
export type HeaderReader = (request: Request, name: string) => string | null;

let read: HeaderReader | undefined;

/** Sets how the runtime reads one header. */
export function setHeaderReader(reader: HeaderReader): void {
  read = reader;
}

/** Returns a header of a request, or `null`; the name is in lower case. */
export function headerOf(request: Request, name: string): string | null {
  return read ? read(request, name) : request.headers.get(name);
}
