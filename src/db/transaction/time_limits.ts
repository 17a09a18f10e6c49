/**
 * Limits in time of operations and transactions.
 *
 * @module
 */
import type { DbFailure } from "../errors.ts";
import { isTimeLimit } from "../../platform/time_limit.ts";

/** Limits in time of an operation or a transaction. */
export interface TimeLimits {
  /**
   * How long it may take as a whole, in milliseconds. Then it fails with `StatementTimeout`, and
   * its statement is cancelled.
   */
  readonly timeoutMs?: number | undefined;
  /** Aborts it: it fails with `StatementTimeout`; the signal's reason is the last of its causes. */
  readonly signal?: AbortSignal | undefined;
}

/** The names of the limits among the options of an operation. */
export const LIMIT_OPTIONS: readonly string[] = ["timeoutMs", "signal"];

/** The limits of a caller's statements. */
export interface LimitScope {
  /** Aborted when the caller's operation or transaction has reached its limits. */
  readonly signal?: AbortSignal | undefined;
  /** Whether statements may take as long as they need, as those of migrations. */
  readonly isUnlimited?: boolean;
}

/** A statement that was ended before its time; its cause is why. */
export class Interruption extends Error {
  /** Its meaning. */
  readonly failure: DbFailure;

  /** Creates the error for the reason of an aborted signal. */
  constructor(reason: unknown) {
    const isTimeout = reason instanceof Error && reason.name === "TimeoutError";
    super(isTimeout ? "the statement took too long" : "the statement was aborted", {
      cause: reason,
    });
    this.failure = isTimeout
      ? { code: "StatementTimeout" }
      : { code: "StatementTimeout", reason: "it was aborted" };
  }
}

/** A signal that is aborted when limits are reached, or an outer signal is aborted. */
export class Limit {
  readonly #controller = new AbortController();
  readonly #signals: readonly AbortSignal[];
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #expire: () => void;
  #endsAtMs = Infinity;
  readonly #abort = ({ target }: Event) =>
    this.#controller.abort((target as AbortSignal | null)?.reason);

  /**
   * Begins to measure; `end` must be called.
   *
   * @throws {RangeError} if `timeoutMs` is not a number, positive and below 2^31
   * @throws {TypeError} if `signal` is not an `AbortSignal`
   */
  constructor({ timeoutMs, signal }: TimeLimits, outer: AbortSignal | undefined) {
    checkTimeLimit(timeoutMs);
    if (signal !== undefined && !(signal instanceof AbortSignal)) {
      throw new TypeError("Cannot limit operation: signal is not an AbortSignal");
    }
    this.#signals = [signal, outer].filter((it) => it !== undefined);
    for (const each of this.#signals) {
      if (each.aborted) this.#controller.abort(each.reason);
      each.addEventListener("abort", this.#abort);
    }
    this.#expire = () => this.#controller.abort(timeoutReason(timeoutMs!));
    if (timeoutMs !== undefined && timeoutMs !== Infinity) {
      this.#endsAtMs = performance.now() + timeoutMs;
      this.#timer = setTimeout(this.#expire, timeoutMs);
    }
  }

  /** Aborted when a limit is reached. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts the signal if the time is over; the timer may be late. */
  check(): void {
    if (performance.now() >= this.#endsAtMs) this.#expire();
  }

  /** Aborts the signal. */
  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Stops measuring. */
  end(): void {
    clearTimeout(this.#timer);
    for (const each of this.#signals) each.removeEventListener("abort", this.#abort);
  }
}

/**
 * Checks a limit in milliseconds; `Infinity` is no limit.
 *
 * @throws {RangeError} if it is not a number, positive and below 2^31
 */
export function checkTimeLimit(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || timeoutMs === Infinity) return;
  if (typeof timeoutMs === "number" && isTimeLimit(timeoutMs)) return;
  throw new RangeError(`Cannot limit operation: ${timeoutMs} ms is not a time limit`);
}

/** Returns the reason of a signal that is aborted after a time. */
export function timeoutReason(timeoutMs: number): DOMException {
  return new DOMException(`It took longer than ${timeoutMs} ms`, "TimeoutError");
}

/** Settles like the promise, or rejects with an `Interruption` when the signal is aborted. */
export async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!signal) return await promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(new Interruption(signal.reason));
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
