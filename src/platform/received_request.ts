/**
 * Copies of requests. Runtimes know the connection only of the request that they have received.
 *
 * @module
 */

const RECEIVED = Symbol("fw.received");

interface CopiedRequest extends Request {
  [RECEIVED]?: Request;
}

/** Marks a request as a copy of another one, and returns it. */
export function markCopy(copy: Request, original: Request): Request {
  (copy as CopiedRequest)[RECEIVED] = receivedRequest(original); // a private symbol
  return copy;
}

/** Returns the request that the server has received, of which a request may be a copy. */
export function receivedRequest(request: Request): Request {
  return (request as CopiedRequest)[RECEIVED] ?? request;
}
