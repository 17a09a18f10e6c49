/**
 * Decides whether and when an attempt is repeated.
 *
 * @module
 */

/** Methods whose repetition has the same effect (RFC 9110 §9.2.2). */
const IDEMPOTENT = /^(GET|HEAD|OPTIONS|PUT|DELETE)$/;

/** Statuses of failures that can be temporary. */
const RETRYABLE: readonly number[] = [408, 429, 502, 503, 504];

/** The delay before the first repetition, in milliseconds; it doubles each time. */
const FIRST_DELAY_MS = 200;

/** The longest delay, in milliseconds. A response that asks for a longer one is returned. */
const MAX_DELAY_MS = 30_000;

/** What decides whether an attempt is repeated. */
export interface Attempt {
  readonly request: Request;
  /** The number of repetitions before. */
  readonly count: number;
  /** The response, unless the attempt failed. */
  readonly response?: Response;
}

/** Returns the delay before the next attempt in milliseconds; `undefined` for no other attempt. */
export function delayOf({ request, count, response }: Attempt): number | undefined {
  if (!IDEMPOTENT.test(request.method) && !request.headers.has("idempotency-key")) return undefined;
  if (response && !RETRYABLE.includes(response.status)) return undefined;
  const after = response?.headers.get("retry-after");
  if (after) {
    const delayMs = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now();
    if (delayMs > MAX_DELAY_MS) return undefined;
    if (delayMs >= 0) return delayMs;
  }
  return Math.min(FIRST_DELAY_MS * 2 ** count, MAX_DELAY_MS) * (0.5 + Math.random() / 2);
}

/** Waits, unless the signal aborts. */
export function wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, delayMs);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
