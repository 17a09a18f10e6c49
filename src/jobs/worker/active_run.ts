/**
 * A run of a job in this process.
 *
 * @module
 */
import type { ClaimedJob } from "../engine.ts";
import { withJobContext } from "../telemetry/job_context.ts";
import { inRunSpan } from "../telemetry/job_span.ts";
import type { JobHandler } from "../job_kind.ts";
import { readPayload } from "../payload.ts";
import type { Run } from "../run.ts";
import { within } from "../../platform/time_limit.ts";

/** Why a run is aborted: `crashed` if its process ends because of an error. */
export type AbortCause = "timeout" | "cancelled" | "stopped" | "crashed" | "lost";

/** How a run has ended; `invalid` is why its payload is invalid, so that no handler was called. */
export type RunResult =
  | { readonly isDone: true; readonly invalid: string | undefined }
  | { readonly isDone: false; readonly error: unknown; readonly cause: AbortCause | undefined };

/** How long a handler may take to end after its signal is aborted, in milliseconds. */
const GRACE_MS = 5000;

const MESSAGES: Readonly<Record<Exclude<AbortCause, "timeout">, string>> = {
  cancelled: "The job was cancelled",
  stopped: "The process stops",
  crashed: "The process ends because of an error",
  lost: "Another worker has taken the job over",
};

/** Options of an {@linkcode ActiveRun}. */
export interface ActiveRunOptions {
  /** The handler of the kind. */
  readonly handler: JobHandler;
  /** Stores the progress of the run. */
  readonly progress: Run["progress"];
  /** Runs a handler, whose own jobs and events belong to the application. */
  readonly inApplication: <T>(handle: () => T) => T;
}

/** A run of a claimed job, with its signal and its time limit. */
export class ActiveRun {
  /** The job, and the claim under which it runs. */
  readonly claimed: ClaimedJob;
  readonly #options: ActiveRunOptions;
  readonly #controller = new AbortController();
  #cause: AbortCause | undefined;
  #isSignalTaken = false;

  /** Prepares a run. */
  constructor(claimed: ClaimedJob, options: ActiveRunOptions) {
    this.claimed = claimed;
    this.#options = options;
  }

  /** Aborts the signal of the run, once. */
  abort(cause: AbortCause): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    const { handler: { job: { settings: { timeoutMs } } } } = this.#options;
    this.#controller.abort(
      cause === "timeout"
        ? new DOMException(`The run took longer than ${timeoutMs} ms`, "TimeoutError")
        : new DOMException(MESSAGES[cause], "AbortError"),
    );
  }

  /**
   * Reads the payload and runs the handler. If it has not ended 5 s after its signal is aborted,
   * the run ends without it: it may continue, but its result has no effect. Nor has that of a
   * handler that has taken the signal, as it may have stopped early.
   */
  async run(): Promise<RunResult> {
    const { handler: { job: { settings } } } = this.#options;
    const timer = setTimeout(() => this.abort("timeout"), settings.timeoutMs);
    const { signal } = this.#controller;
    const handling = this.#handle();
    try {
      await Promise.race([handling, aborted(signal)]);
      if (signal.aborted && !await within(handling, GRACE_MS)) throw signal.reason;
      const invalid = await handling;
      if (this.#isSignalTaken) signal.throwIfAborted();
      return { isDone: true, invalid };
    } catch (error) {
      return { isDone: false, error, cause: this.#cause };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns why the payload is invalid, or calls the handler. */
  async #handle(): Promise<string | undefined> {
    const { info } = this.claimed;
    const { signal } = this.#controller;
    const { handler: { job } } = this.#options;
    // a schema does not know the signal, so it gets no time to end
    const payload = await Promise.race([readPayload(info.body, job.schema), aborted(signal)]);
    if (!payload) throw signal.reason;
    if (payload.reason === undefined) await this.#call(payload.value);
    return payload.reason;
  }

  async #call(body: unknown): Promise<void> {
    const { handler, progress, inApplication } = this.#options;
    const { info } = this.claimed;
    const takeSignal = () => {
      this.#isSignalTaken = true;
      return this.#controller.signal;
    };
    const run: Run = {
      id: info.id,
      attempt: info.attempts,
      priority: info.priority,
      enqueuedAt: info.enqueuedAt,
      get signal() {
        return takeSignal();
      },
      progress,
    };
    await inRunSpan(info, async () => {
      await inApplication(() => withJobContext(info, () => handler.handle({ body }, run)));
    });
  }
}

/** Resolves when a signal is aborted. */
function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true })
  );
}
