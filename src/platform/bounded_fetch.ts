/**
 * Requests to other servers: one each, within a time and a size, redirects not followed.
 *
 * @module
 */

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
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new FetchFailure(`no answer in ${timeoutMs} ms`)), timeoutMs);
  });
  async function answer(): Promise<Answer> {
    const response = await fetch(url.href, {
      ...init,
      redirect: "manual",
      signal: aborter.signal,
    });
    const text = await readText(response, maxBytes);
    return { status: response.status, headers: response.headers, text };
  }
  try {
    const answered = answer();
    answered.catch(() => {}); // it may fail after the time is over
    return await Promise.race([answered, expiry]);
  } catch (error) {
    if (error instanceof FetchFailure) throw error;
    throw new FetchFailure("the connection failed", { cause: withoutQuery(error, url) });
  } finally {
    clearTimeout(timer);
    aborter.abort(); // what is still under way; what has ended does not mind
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  if (!response.body) return "";
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      await reader.cancel();
      throw new FetchFailure(`the answer is over ${maxBytes} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Gives the platform's error, which may tell the URL, without the query of it. */
function withoutQuery(error: unknown, { search }: URL): unknown {
  if (search === "" || !(error instanceof Error)) return error;
  return new Error(error.message.replaceAll(search, ""));
}
