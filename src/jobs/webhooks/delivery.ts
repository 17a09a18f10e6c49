/**
 * The jobs that deliver webhooks, and the event of an endpoint that is disabled.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Refuse } from "../../platform/option_names.ts";
import { event, type EventType } from "../events/event.ts";
import { type Job, job } from "../job.ts";

/** A webhook to deliver to an endpoint. */
export interface Delivery {
  /** The endpoint. */
  readonly endpointId: string;
  /** The id of the webhook: the same in each attempt. */
  readonly webhookId: string;
  /** Its type. */
  readonly type: string;
  /** Its body, as it is signed. */
  readonly payload: string;
}

/** An endpoint that was disabled because of its responses. */
export interface DisabledWebhookEndpoint {
  /** The endpoint. */
  readonly endpointId: string;
  /** Its owner. */
  readonly owner: string | null;
  /** Its URL. */
  readonly url: string;
  /** `gone`: it has answered 410. `failing`: all attempts have failed for `disableAfterMs`. */
  readonly reason: "gone" | "failing";
}

/**
 * Published when an endpoint is disabled because of its responses, in the same transaction: a
 * handler can notify its owner.
 */
export const WebhookEndpointDisabled: EventType<DisabledWebhookEndpoint, DisabledWebhookEndpoint> =
  event(
    "fw.webhook-endpoint-disabled",
    { body: ownSchema<DisabledWebhookEndpoint>() },
  );

/** The longest body, in UTF-16 units; Standard Webhooks recommends less than 20 000. */
const MAX_PAYLOAD = 262_144;

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The waits after failed attempts (Standard Webhooks, Deliverability and reliability). */
const WAITS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];

/** Declares the job that delivers a webhook: ten attempts in three days. */
export function deliveryJob(
  { timeoutMs, globalConcurrency }: {
    readonly timeoutMs: number;
    readonly globalConcurrency?: number;
  },
): Job<Delivery, Delivery> {
  return job("fw.webhook", {
    body: ownSchema<Delivery>(),
    retries: WAITS_MS.length,
    backoff: (attempt) => WAITS_MS[attempt - 1]! * (1 + Math.random() / 10),
    timeoutMs: Math.min(timeoutMs + MINUTE_MS, 2 ** 31 - 1), // which includes its statements
    ...globalConcurrency !== undefined && { globalConcurrency },
  });
}

/** Returns the schema of a payload that only the framework creates: it accepts every value. */
function ownSchema<T>(): StandardSchemaV1<T, T> {
  return {
    "~standard": { version: 1, vendor: "fw", validate: (value) => ({ value: value as T }) },
  };
}

/** Returns the body of a webhook as text; refuses one that is not JSON, or too long. */
export function payloadOf(body: object, refuse: Refuse): string {
  let payload: string;
  try {
    payload = JSON.stringify(body);
  } catch {
    return refuse("its data is not JSON");
  }
  if (payload.length > MAX_PAYLOAD) refuse(`its body is longer than ${MAX_PAYLOAD} characters`);
  return payload;
}
