/**
 * Requests as they are sent.
 *
 * @module
 */
import type { Caller, Send } from "../part.ts";

/** A request that can be sent. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
}

/** Returns a request with the headers of a caller, which take precedence. */
export function requestBy(
  caller: Pick<Caller, "headers"> | undefined,
  request: SentRequest,
): SentRequest {
  return { ...request, headers: { ...request.headers, ...caller?.headers } };
}

/** Sends a request; a redirect is its answer. */
export async function sendRequest(send: Send, request: SentRequest): Promise<Response> {
  const { path, ...init } = request;
  return await send(path, { ...init, redirect: "manual" });
}
