/**
 * The metrics of jobs.
 *
 * @module
 */
import type { Meter } from "../../platform/telemetry/meter.ts";

/** What the metrics read. */
export interface JobMetricsSource {
  /** The names of the kinds that this process handles. */
  readonly kinds: Iterable<string>;
  /** Returns how long the oldest job that is due has waited, in milliseconds. */
  readonly oldestMs: () => Promise<number>;
}

/** The bounds of the buckets of durations, in seconds. */
const BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900];

/** Counts jobs and their runs once the application has metrics. */
export class JobMetrics {
  readonly #running = new Map<string, number>();
  #enqueued: ReturnType<Meter["counter"]> | undefined;
  #runs: ReturnType<Meter["counter"]> | undefined;
  #durations: ReturnType<Meter["histogram"]> | undefined;

  /**
   * Creates `jobs_enqueued_total{job}`, `jobs_runs_total{job,outcome}`, the histogram
   * `jobs_run_duration_seconds{job}`, and the gauges `jobs_running{job}` and
   * `jobs_oldest_ready_seconds`. `job` is the name of a kind, which code declares.
   */
  publish(meter: Meter, { kinds, oldestMs }: JobMetricsSource): void {
    for (const kind of kinds) this.#count(kind, 0);
    this.#enqueued = meter.counter({
      name: "jobs_enqueued_total",
      help: "Jobs that this process has enqueued and committed",
      labels: ["job"],
    });
    this.#runs = meter.counter({
      name: "jobs_runs_total",
      help: "Runs of jobs that have ended in this process",
      labels: ["job", "outcome"],
    });
    this.#durations = meter.histogram({
      name: "jobs_run_duration_seconds",
      help: "Seconds from the start of a run to its stored end",
      labels: ["job"],
      buckets: BUCKETS,
    });
    meter.gauge({
      name: "jobs_running",
      help: "Jobs that run in this process",
      labels: ["job"],
      values: () => Array.from(this.#running, ([job, count]) => [{ job }, count]),
    });
    meter.gauge({
      name: "jobs_oldest_ready_seconds",
      help: "Seconds that the oldest job that is due has waited, in all processes",
      values: async () => [[{}, await oldestMs() / 1000]],
    });
  }

  /** Counts a job that is enqueued. */
  enqueued(job: string): void {
    this.#enqueued?.({ job });
  }

  /** Counts a run; the returned function ends it, with its outcome. */
  begin(job: string): (outcome: string) => void {
    const startMs = performance.now();
    this.#count(job, 1);
    return (outcome) => {
      this.#count(job, -1);
      this.#runs?.({ job, outcome });
      this.#durations?.({ job }, (performance.now() - startMs) / 1000);
    };
  }

  #count(job: string, by: number): void {
    this.#running.set(job, (this.#running.get(job) ?? 0) + by);
  }
}
