/**
 * Requests to other servers: one each, within a time and a size, redirects not followed.
 *
 * @module
 */
import { readBounded, StreamTooLongError } from "./bounded_stream.ts";
import { within } from "./time_limit.ts";

/** The platform's `fetch`, or what takes its place. */
export type Fetch = typeof fetch;

/** The bounds of a request. */
export interface BoundedFetchOptions {
  /** What sends it. */
  readonly fetch: Fetch;
  /** How long it may take in milliseconds, the body of the answer included. */
  readonly timeoutMs: number;
  /** The largest body in bytes. */
  readonly maxBytes: number;
}

/** What a server answered. */
export interface Answer {
  /** Its status; that of a redirect is 3xx. */
  readonly status: number;
  /** Its headers. */
  readonly headers: Headers;
  /** Its body, decoded as UTF-8. */
  readonly text: string;
}

/** Why there is no answer. The message is a reason: "no answer in 5000 ms". It never escapes. */
export class FetchFailure extends Error {
  /** The name of the class. */
  override readonly name = "FetchFailure";
}

/**
 * Sends a request and reads the whole answer.
 *
 * @throws {FetchFailure} if there is none within the bounds
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

/** Gives the platform's error, which may tell the URL, without the query of it. */
function withoutQuery(error: unknown, { search }: URL): unknown {
  if (search === "" || !(error instanceof Error)) return error;
  return new Error(error.message.replaceAll(search, ""));
}
