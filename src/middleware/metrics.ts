/**
 * Metrics of requests for Prometheus.
 *
 * @module
 */
import type { Handler, MiddlewareHandler } from "hono";
import { matchedRoute } from "../core/http/matched_route.ts";
import type { OnMetrics } from "../core/module/lifecycle.ts";
import type { PoolOwner, PoolUsage } from "../platform/pool_usage.ts";
import { outlivesRequests } from "../platform/wait_until.ts";
import { hooked } from "../core/module/request_hooks.ts";
import { knownMethod, statusOf } from "./request_labels.ts";

/** The used part of a registry of `prom-client`, in either of its text formats. */
export interface MetricsRegistry {
  /** The media type of its text. */
  readonly contentType: string;
  /** Returns its metrics as text. */
  metrics(): Promise<string>;
  /** Adds a metric; throws if there is one of the same name. */
  registerMetric(metric: never): void;
}

/** Options of `app.enableMetrics()`. */
export interface MetricsOptions {
  /** The registry, to which the application can add metrics; a new one by default. */
  readonly registry?: MetricsRegistry;
  /** The databases of whose connections there are metrics, such as `[app.get(Db)]`. */
  readonly pools?: readonly PoolOwner[];
}

/** The middleware, handler and registry of an application's metrics. */
export interface Metrics {
  /** Counts and times each request. */
  readonly middleware: MiddlewareHandler;
  /** Answers with the text of the registry. */
  readonly handler: Handler;
  /** The registry. */
  readonly registry: MetricsRegistry;
}

/**
 * Loads `prom-client` and creates `http_requests_total{method,route,status}`, the histogram
 * `http_request_duration_seconds{method,route}` and the gauge `http_requests_in_flight`. The number
 * of label values is bounded: `route` is the pattern of a route or `unmatched`, and `method` a
 * common one or `_OTHER`.
 *
 * Of pools of connections, the gauges have the names and the attributes of the semantic conventions
 * of OpenTelemetry, as Prometheus spells them: `db_client_connection_count` by pool and state,
 * `db_client_connection_pending_requests` and `db_client_connection_max`. Instances of the
 * application that have the hook `onMetrics` add their own.
 *
 * @throws {TypeError} if `prom-client` is not installed
 * @throws {Error} if the registry already has a metric of one of these names
 */
export async function createMetrics(
  { registry, pools = [] }: MetricsOptions = {},
  instances: readonly object[] = [],
): Promise<Metrics> {
  // bundlers accept a missing package only if its import is caught here
  const prometheus = await import("prom-client").catch(notInstalled);
  const { Counter, Gauge, Histogram, Registry } = prometheus;
  const target = registry ?? new Registry();
  const registers = [target as InstanceType<typeof Registry>]; // of which `prom-client` uses this
  const requests = new Counter({
    name: "http_requests_total",
    help: "HTTP requests answered",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "Seconds from the arrival of an HTTP request to its response, without its body",
    labelNames: ["method", "route"],
    registers,
  });
  let inFlight = 0;
  new Gauge({
    name: "http_requests_in_flight",
    help: "HTTP requests being answered",
    registers,
    collect() {
      this.set(inFlight);
    },
  });

  for (const [name, { help, values }] of Object.entries(pools.length > 0 ? POOL_GAUGES : {})) {
    new Gauge({
      name,
      help,
      labelNames: [POOL, STATE],
      registers,
      collect() {
        this.reset();
        // Pools of one name are added up.
        for (const usage of pools.flatMap((pool) => pool.poolUsages?.() ?? [pool.poolUsage()])) {
          for (const [state, value] of values(usage)) {
            if (value === undefined) continue;
            this.inc({ [POOL]: usage.name, ...state && { [STATE]: state } }, value);
          }
        }
      },
    });
  }

  const own = instances as readonly Partial<OnMetrics>[];
  if (own.some(({ onMetrics }) => onMetrics)) {
    const { prometheusMeter } = await import("./prometheus_meter.ts");
    const meter = prometheusMeter(prometheus, registers);
    for (const instance of own) instance.onMetrics?.(meter);
  }

  return {
    registry: target,
    middleware: hooked({
      before() {
        inFlight++;
        return performance.now();
      },
      after(c, startMs, failure) {
        const method = knownMethod(c.req.method);
        const route = matchedRoute(c)?.path ?? "unmatched";
        inFlight--;
        requests.inc({ method, route, status: statusOf(c, failure) });
        durations.observe({ method, route }, (performance.now() - startMs) / 1000);
      },
    }),
    async handler(c) {
      return c.body(await target.metrics(), 200, { "content-type": target.contentType });
    },
  };
}

const POOL = "db_client_connection_pool_name";
const STATE = "db_client_connection_state";

/** A gauge of pools: its values by state. */
interface PoolGauge {
  readonly help: string;
  readonly values: (usage: PoolUsage) => readonly [state: string, value: number | undefined][];
}

const POOL_GAUGES: Readonly<Record<string, PoolGauge>> = {
  db_client_connection_count: {
    help: "Connections of the pool by their state",
    values: ({ used, idle }) => [["used", used], ["idle", idle]],
  },
  db_client_connection_pending_requests: {
    help: "Operations that wait for a connection of the pool",
    values: ({ waiting }) => [["", waiting]],
  },
  db_client_connection_max: {
    help: "The maximum number of connections of the pool",
    values: ({ max }) => [["", max]],
  },
};

/** @throws {TypeError} that names the package; at the edge, the error of the bundle without it */
function notInstalled(cause: unknown): never {
  if (!outlivesRequests()) throw cause;
  throw new TypeError("Cannot serve metrics: npm install prom-client", { cause });
}
