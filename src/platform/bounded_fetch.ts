/**
 * Requests to other servers, limited in time and size, without following redirects.
 *
 * @module
 */
import { readBounded, StreamTooLongError } from "./bounded_stream.ts";
import { within } from "./time_limit.ts";

/** The type of `fetch`. */
export type Fetch = typeof fetch;

/** The limits of a request. */
export interface BoundedFetchOptions {
  /** The function that sends it. */
  readonly fetch: Fetch;
  /** The time limit in milliseconds, including the body of the response. */
  readonly timeoutMs: number;
  /** The size limit of the body in bytes. */
  readonly maxBytes: number;
}

/** The response of a server. */
export interface Answer {
  /** Its status; 3xx for a redirect. */
  readonly status: number;
  /** Its headers. */
  readonly headers: Headers;
  /** Its body, decoded as UTF-8. */
  readonly text: string;
}

/**
 * Why a request failed. The message is a reason, such as "no answer in 5000 ms".
 * Callers convert it.
 */
export class FetchFailure extends Error {
  /** The name of the class. */
  override readonly name = "FetchFailure";
}

/**
 * Sends a request and reads the whole response.
 *
 * @throws {FetchFailure} if it fails or exceeds a limit
 */
export async function boundedFetch(
  url: URL,
  init: RequestInit,
  { fetch, timeoutMs, maxBytes }: BoundedFetchOptions,
): Promise<Answer> {
  const aborter = new AbortController();
  async function answer(): Promise<Answer> {
    const response = await fetch(url.href, {
      ...init,
      redirect: "manual",
      signal: aborter.signal,
    });
    const text = response.body ? await readBounded(response.body, maxBytes) : "";
    return { status: response.status, headers: response.headers, text };
  }
  try {
    const answered = answer();
    if (await within(answered, timeoutMs)) return await answered;
  } catch (error) {
    if (error instanceof StreamTooLongError) {
      throw new FetchFailure(`the answer is over ${maxBytes} bytes`);
    }
    throw new FetchFailure("the connection failed", { cause: withoutQuery(error, url) });
  } finally {
    aborter.abort(); // it has no effect on a request that has ended
  }
  throw new FetchFailure(`no answer in ${timeoutMs} ms`);
}

/** Returns the error of the platform without the query of the URL, which it can contain. */
function withoutQuery(error: unknown, { search }: URL): unknown {
  if (search === "" || !(error instanceof Error)) return error;
  return new Error(error.message.replaceAll(search, ""));
}
