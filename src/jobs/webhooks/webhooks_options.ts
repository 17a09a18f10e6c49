/**
 * The options of the webhooks that an application sends.
 *
 * @module
 */
import { checkNames, type Refuse, refusing } from "../../platform/option_names.ts";
import { checkTimeLimits, checkWholeNumbers } from "../number_options.ts";
import { dnsResolve, type ResolveHost, systemResolve } from "./target.ts";

/** Options of `WebhooksModule.forRoot`. */
export interface WebhooksOptions {
  /** How long an attempt may take, in milliseconds; default 20 000. */
  readonly timeoutMs?: number;
  /** How many webhooks are sent at a time, in all processes together; no limit by default. */
  readonly globalConcurrency?: number;
  /**
   * The time in milliseconds after which an endpoint is disabled whose attempts have all failed;
   * default a week.
   */
  readonly disableAfterMs?: number;
  /** How long the log of attempts is kept, in milliseconds; default 30 days. */
  readonly keepMs?: number;
  /** The most endpoints of an owner: a webhook is one job for each of them; default 20. */
  readonly maxEndpoints?: number;
  /**
   * Whether endpoints may have http URLs and addresses that are not public, for development and
   * tests; default `false`.
   */
  readonly allowLocal?: boolean;
  /**
   * Resolves the names of hosts to addresses; by DNS by default, or as the system does if local
   * ones are allowed.
   */
  readonly resolve?: ResolveHost;
}

/** The options with their defaults. */
export type CheckedWebhooksOptions =
  & Required<Omit<WebhooksOptions, "globalConcurrency">>
  & Pick<WebhooksOptions, "globalConcurrency">;

const DAY_MS = 86_400_000;

/**
 * Returns the options with their defaults.
 *
 * @throws {TypeError} if one is unknown or invalid
 * @throws {RangeError} if one is out of range
 */
export function checkedWebhooksOptions(options: WebhooksOptions): CheckedWebhooksOptions {
  const action = "use webhooks";
  const refuse: Refuse = refusing(action);
  const known = [
    "timeoutMs",
    "globalConcurrency",
    "disableAfterMs",
    "keepMs",
    "maxEndpoints",
    "allowLocal",
    "resolve",
  ];
  checkNames(options, { known, refuse });
  const {
    timeoutMs = 20_000,
    disableAfterMs = 7 * DAY_MS,
    keepMs = 30 * DAY_MS,
    maxEndpoints = 20,
    allowLocal = false,
    resolve = allowLocal ? systemResolve : (host: string) => dnsResolve(host),
    ...others
  } = options;
  if (typeof allowLocal !== "boolean") refuse("allowLocal is not a boolean");
  if (typeof resolve !== "function") refuse("resolve is not a function");
  checkTimeLimits({ timeoutMs }, action);
  const { globalConcurrency } = others;
  checkWholeNumbers({ globalConcurrency, maxEndpoints }, { least: 1, action });
  checkWholeNumbers({ disableAfterMs, keepMs }, { least: 0, action });
  return { timeoutMs, disableAfterMs, keepMs, maxEndpoints, allowLocal, resolve, ...others };
}
