/**
 * Metrics, as one layer counts and another one publishes them.
 *
 * @module
 */

/** The values of the labels of a metric, by their names; their number must be bounded. */
export type MetricLabels = Readonly<Record<string, string>>;

/** A metric. */
export interface MetricOptions {
  /** The name as Prometheus spells it, with the unit: `jobs_run_duration_seconds`. */
  readonly name: string;
  /** What it measures, in a sentence. */
  readonly help: string;
  /** The names of its labels; none by default. */
  readonly labels?: readonly string[];
}

/** The values of a gauge; an empty list if they are unknown. */
export type GaugeValues = readonly (readonly [labels: MetricLabels, value: number])[];

/** Creates the metrics of an application. */
export interface Meter {
  /** Creates a counter, and returns what increments it by one. */
  counter(options: MetricOptions): (labels: MetricLabels) => void;

  /** Creates a histogram of buckets up to these values, and returns what observes a value. */
  histogram(
    options: MetricOptions & { readonly buckets: readonly number[] },
  ): (labels: MetricLabels, value: number) => void;

  /**
   * Creates a gauge whose values are read at each scrape. If that fails, or takes longer than 2 s,
   * it has none until the next one.
   */
  gauge(
    options: MetricOptions & { readonly values: () => GaugeValues | Promise<GaugeValues> },
  ): void;
}
