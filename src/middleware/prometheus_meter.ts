/**
 * Metrics of the application's own layers and providers, for Prometheus.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { Registry, RegistryContentType } from "prom-client";
import type { GaugeValues, Meter } from "../platform/telemetry/meter.ts";
import { withTimeLimit } from "../platform/time_limit.ts";

/** How long a gauge may take to be read, in milliseconds. */
const LIMIT_MS = 2000;

/** Creates metrics in registries of `prom-client`, which the caller has loaded. */
export function prometheusMeter(
  { Counter, Gauge, Histogram }: typeof import("prom-client"),
  registers: Registry<RegistryContentType>[],
): Meter {
  return {
    counter({ labels = [], ...options }) {
      const counter = new Counter({ ...options, labelNames: [...labels], registers });
      return (values) => counter.inc(values);
    },
    histogram({ labels = [], buckets, ...options }) {
      const bounds = [...buckets];
      const labelNames = [...labels];
      const histogram = new Histogram({ ...options, labelNames, buckets: bounds, registers });
      return (values, value) => histogram.observe(values, value);
    },
    gauge({ labels = [], values, ...options }) {
      const read = boundedRead(options.name, values);
      new Gauge({
        ...options,
        labelNames: [...labels],
        registers,
        async collect() {
          const found = await read();
          if (labels.length > 0) this.reset();
          else this.remove(); // a gauge without labels would be reset to 0
          for (const [of, value] of found) this.set(of, value);
        },
      });
    },
  };
}

/** Returns what reads a gauge within the limit, once at a time; it has no values if that fails. */
function boundedRead(
  gauge: string,
  values: () => GaugeValues | Promise<GaugeValues>,
): () => Promise<GaugeValues> {
  let reading: Promise<GaugeValues> | undefined;
  return async () => {
    reading ??= (async () => await values())().finally(() => reading = undefined);
    try {
      return await withTimeLimit(reading, LIMIT_MS);
    } catch (error) {
      getLogger(["fw", "metrics"]).warn("Gauge {gauge} cannot be read: {error}", { gauge, error });
      return [];
    }
  };
}
