/**
 * The tables of webhooks, as models of the data layer.
 *
 * @module
 */
import { field } from "../../db/model/field_factory.ts";
import type { Field } from "../../db/model/field.ts";
import { type Model, model } from "../../db/model/model.ts";

/** The name of the table of endpoints. */
export const ENDPOINT_TABLE = "fw_webhook_endpoints";

/** The name of the table of attempts. */
export const ATTEMPT_TABLE = "fw_webhook_attempts";

/** The fields of {@linkcode WebhookEndpointModel}. */
// A type: an interface would not be assignable to `Fields`.
export type WebhookEndpointFields = {
  /** The id, a UUID. */
  readonly id: Field<"uuid", "primaryKey">;
  /** Its owner, such as the id of a tenant. */
  readonly owner: Field<"text", "nullable">;
  /** Where webhooks are sent. */
  readonly url: Field<"text">;
  /** The types of webhooks that it receives; `null` is all. */
  readonly types: Field<"json", "nullable">;
  /** The secret that signs. */
  readonly secret: Field<"text">;
  /** The previous secret, which signs too. */
  readonly old_secret: Field<"text", "nullable">;
  /** When the previous secret stops signing. */
  readonly old_secret_until: Field<"timestamp", "nullable">;
  /** Whether webhooks are sent to it. */
  readonly enabled: Field<"boolean">;
  /** Why it is disabled. */
  readonly reason: Field<"enum", "nullable", never, "manual|gone|failing">;
  /** The first failed attempt after the last one that succeeded. */
  readonly failing_since: Field<"timestamp", "nullable">;
  /** When it was added. */
  readonly created_at: Field<"timestamp">;
};

/** The options of {@linkcode WebhookEndpointModel}. */
export interface WebhookEndpointModelOptions {
  /** The index: the endpoints of an owner. */
  readonly index: readonly [readonly ["owner"]];
}

/** The model of endpoints. */
export type WebhookEndpointModel = Model<
  "fw_webhook_endpoints",
  WebhookEndpointFields,
  WebhookEndpointModelOptions
>;

/** The fields of {@linkcode WebhookAttemptModel}. */
// A type: an interface would not be assignable to `Fields`.
export type WebhookAttemptFields = {
  /** The number of the attempt, in the order of insertion. */
  readonly seq: Field<"integer", "primaryKey">;
  /** The endpoint. */
  readonly endpoint_id: Field<"uuid">;
  /** The id of the webhook. */
  readonly webhook_id: Field<"text">;
  /** Its type. */
  readonly type: Field<"text">;
  /** The number of the attempt to deliver it, from 1. */
  readonly attempt: Field<"integer">;
  /** The status of the response; `null` without one. */
  readonly status: Field<"integer", "nullable">;
  /** How long it took, in milliseconds. */
  readonly duration_ms: Field<"integer">;
  /** Why it has failed; `null` if it has not. */
  readonly error: Field<"text", "nullable">;
  /** When it ended. */
  readonly created_at: Field<"timestamp">;
};

/** The options of {@linkcode WebhookAttemptModel}. */
export interface WebhookAttemptModelOptions {
  /** The indexes: the attempts of an endpoint, and those to remove. */
  readonly index: readonly [readonly ["endpoint_id", "seq"], readonly ["created_at"]];
}

/** The model of attempts. */
export type WebhookAttemptModel = Model<
  "fw_webhook_attempts",
  WebhookAttemptFields,
  WebhookAttemptModelOptions
>;

const fwWebhookEndpoint: WebhookEndpointModel = model(ENDPOINT_TABLE, {
  id: field.uuid().primaryKey(),
  owner: field.text().nullable(),
  url: field.text(),
  types: field.json().nullable(),
  secret: field.text(),
  old_secret: field.text().nullable(),
  old_secret_until: field.timestamp().nullable(),
  enabled: field.boolean(),
  reason: field.enum(["manual", "gone", "failing"]).nullable(),
  failing_since: field.timestamp().nullable(),
  created_at: field.timestamp(),
}, { index: [["owner"]] });

const fwWebhookAttempt: WebhookAttemptModel = model(ATTEMPT_TABLE, {
  seq: field.integer().primaryKey(),
  endpoint_id: field.uuid(),
  webhook_id: field.text(),
  type: field.text(),
  attempt: field.integer(),
  status: field.integer().nullable(),
  duration_ms: field.integer(),
  error: field.text().nullable(),
  created_at: field.timestamp(),
}, { index: [["endpoint_id", "seq"], ["created_at"]] });

/**
 * The models of the tables of webhooks. Add them to those of the service, beside `jobTables`:
 * `createTables` creates them for tests, and `fw db diff` writes their migration. The secrets of
 * endpoints are stored in plain text, because they sign.
 *
 * @example
 * ```ts
 * import { DbService } from "@fw/fw/db";
 * import { jobTables, webhookTables } from "@fw/fw/jobs";
 *
 * class Db extends DbService.with({ ...jobTables, ...webhookTables }) {}
 * ```
 */
export const webhookTables: {
  readonly fwWebhookEndpoint: WebhookEndpointModel;
  readonly fwWebhookAttempt: WebhookAttemptModel;
} = { fwWebhookEndpoint, fwWebhookAttempt };
