/**
 * Health checks.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { Handler } from "hono";
import type { PluginHost } from "../core/module/plugin.ts";
import { withTimeLimit } from "../platform/time_limit.ts";
import { outlivesRequests, type WaitUntil, waitUntilOf } from "../platform/wait_until.ts";

/**
 * Checks one dependency of the application. The dependency is down if the indicator returns
 * `false`, throws, or exceeds the time limit; the signal is aborted then.
 */
export type HealthIndicator = (signal: AbortSignal) => unknown;

/** Options of `app.enableHealthCheck()`. */
export interface HealthCheckOptions {
  /** The indicators by their names in the response; none by default. */
  readonly indicators?: Readonly<Record<string, HealthIndicator>>;
  /** The time limit of an indicator in milliseconds: positive and below 2^31; 5000 by default. */
  readonly timeoutMs?: number;
}

const NO_STORE = { "Cache-Control": "no-store" };

/**
 * Creates a handler that answers 200 with `{"status":"ok"}`, or 503 with the status `"error"` if an
 * indicator is down, with `"draining"` while the application is closing. `checks` lists each
 * indicator as `"up"` or `"down"`; the reason is logged (category `fw`, `health`) and not sent. An
 * indicator runs at most once at a time, but on edge runtimes: concurrent probes share its result,
 * and one that hangs is not started again.
 */
export function healthCheck(
  { indicators = {}, timeoutMs = 5000 }: HealthCheckOptions,
  application: PluginHost,
): Handler {
  const probes = Object.entries(indicators).map(([name, indicator]) => ({
    name,
    isUp: singleFlight({ name, indicator, timeoutMs }),
  }));

  return async function healthCheck(c) {
    if (application.isDraining) return c.json({ status: "draining" }, 503, NO_STORE);
    if (probes.length === 0) return c.json({ status: "ok" }, 200, NO_STORE);
    const checks = await Promise.all(
      probes.map(async ({ name, isUp }) => ({
        name,
        status: await isUp(waitUntilOf(c)) ? "up" : "down",
      })),
    );
    const isOk = checks.every(({ status }) => status === "up");
    return c.json(
      {
        status: isOk ? "ok" : "error",
        checks: Object.fromEntries(checks.map(({ name, status }) => [name, { status }])),
      },
      isOk ? 200 : 503,
      NO_STORE,
    );
  };
}

/** A check of one indicator. */
interface IndicatorCheck {
  readonly name: string;
  readonly indicator: HealthIndicator;
  readonly timeoutMs: number;
}

/**
 * Shares one result among all callers until the indicator has ended, even if that is
 * after the limit. On an edge runtime, requests share no promise.
 */
function singleFlight(
  { name, indicator, timeoutMs }: IndicatorCheck,
): (waitUntil: WaitUntil) => Promise<boolean> {
  const logger = getLogger(["fw", "health"]);
  let verdict: Promise<boolean> | undefined;

  function start(waitUntil: WaitUntil): Promise<boolean> {
    const controller = new AbortController();
    const run = (async () => await indicator(controller.signal))();
    const clear = () => {
      verdict = undefined;
    };
    waitUntil(run.then(clear, clear)); // it may run longer than the response waits
    return judge(run, controller);
  }

  async function judge(run: Promise<unknown>, controller: AbortController): Promise<boolean> {
    try {
      if (await withTimeLimit(run, timeoutMs) !== false) return true;
      logger.warn("Health indicator {indicator} is down", { indicator: name });
    } catch (error) {
      controller.abort(error);
      logger.warn("Health indicator {indicator} is down: {error}", { indicator: name, error });
    }
    return false;
  }

  return (waitUntil) => outlivesRequests() ? verdict ??= start(waitUntil) : start(waitUntil);
}
