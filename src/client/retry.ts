/**
 * Decides whether and when an attempt is repeated.
 *
 * @module
 */

/** Methods whose repetition has the same effect (RFC 9110 §9.2.2). */
const IDEMPOTENT = /^(GET|HEAD|OPTIONS|PUT|DELETE)$/;

/**
 * Statuses of failures that can be temporary, before `Retry-After`: 409 has one if a request with
 * the same idempotency key runs.
 */
const RETRYABLE = /^(408|429|50[234]|409 \d)/;

/** The delay before the first repetition, in milliseconds; it doubles each time. */
const FIRST_DELAY_MS = 200;

/** The longest delay, in milliseconds. A response that asks for a longer one is returned. */
const MAX_DELAY_MS = 30_000;

/** What decides whether an attempt is repeated. */
export interface Attempt {
  readonly request: Request;
  /** The number of repetitions before. */
  readonly count: number;
  /** The largest number of repetitions. */
  readonly retry: number;
  /** Aborts the call. */
  readonly signal: AbortSignal | undefined;
  /** The response, unless the attempt failed. */
  readonly response?: Response;
}

/**
 * Checks whether an attempt is repeated, and waits until then; its response is cancelled. Rejects
 * with the reason of the signal if that aborts meanwhile.
 */
export async function repeat(attempt: Attempt): Promise<boolean> {
  const { count, retry, signal, response } = attempt;
  if (count >= retry || (!response && signal?.aborted)) return false;
  const delayMs = delayOf(attempt);
  if (delayMs === undefined) return false;
  await response?.body?.cancel();
  await wait(delayMs, signal);
  return true;
}

/** Returns the delay before the next attempt in milliseconds; `undefined` for no other attempt. */
function delayOf({ request, count, response }: Attempt): number | undefined {
  if (!IDEMPOTENT.test(request.method) && !request.headers.has("idempotency-key")) return undefined;
  const after = response?.headers.get("retry-after");
  if (response && !RETRYABLE.test(`${response.status} ${after}`)) return undefined;
  if (after) {
    const delayMs = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now();
    if (delayMs > MAX_DELAY_MS) return undefined;
    if (delayMs >= 0) return delayMs;
  }
  return Math.min(FIRST_DELAY_MS * 2 ** count, MAX_DELAY_MS) * (0.5 + Math.random() / 2);
}

/** Waits, unless the signal aborts. */
function wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
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
