/**
 * The delivery of webhooks to their endpoints.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { Row } from "../../db/model/row.ts";
import { RunEnding } from "../run_ending.ts";
import type { Events } from "../events/events.ts";
import type { Run } from "../run.ts";
import {
  type Delivery,
  type DisabledWebhookEndpoint,
  WebhookEndpointDisabled,
} from "./delivery.ts";
import { type Endpoints, FAILING_PRIORITY, priorityOf } from "./endpoints.ts";
import { keysOf, signaturesOf } from "./signature.ts";
import { post } from "./post.ts";
import type { WebhookEndpointModel } from "./webhook_tables.ts";
import type { CheckedWebhooksOptions } from "./webhooks_options.ts";

/** The parts of an application that deliveries use. */
export interface DelivererParts {
  /** The endpoints, and the log of attempts. */
  readonly endpoints: Endpoints;
  /** Publishes that an endpoint is disabled. */
  readonly events: Events;
}

/**
 * The attempt to send a webhook from which on a failure disables the endpoint, half an hour after
 * the first: it may have been idle since it has failed before.
 */
const DISABLING_ATTEMPT = 4;

/** Delivers webhooks, and disables endpoints that are gone or keep failing. */
export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #options: CheckedWebhooksOptions;

  /** Delivers to the endpoints of an application. */
  constructor(parts: DelivererParts, options: CheckedWebhooksOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /**
   * Attempts to deliver a webhook. While its endpoint fails, it comes after those to others, whose
   * workers it could otherwise occupy one after another.
   *
   * @throws {RunEnding} unless it is delivered
   */
  async deliver(delivery: Delivery, run: Run): Promise<void> {
    const { endpoints } = this.#parts;
    const row = await endpoints.rows.findUnique({ where: { id: delivery.endpointId } });
    if (!row?.enabled) throw new RunEnding({ state: "cancelled" });
    const priority = priorityOf(row);
    if (run.priority > priority) throw new RunEnding({ state: "released", priority });
    const { status, error, durationMs } = await this.#attempt(row, delivery, run);
    const now = endpoints.clock.date(); // the attempt has read it
    const { webhookId, type } = delivery;
    const attempt = { webhookId, type, attempt: run.attempt, status, error, durationMs };
    const before = new Date(now.getTime() - this.#options.keepMs);
    await endpoints.log(row.id, { ...attempt, endedAt: now }, before);
    if (error === null) return await this.#succeed(row.id);
    const isFailing = await this.#fail(row.id, now) && run.attempt >= DISABLING_ATTEMPT;
    if (status !== 410 && !isFailing) {
      throw new RunEnding({ state: "failed", error: new Error(error), priority: FAILING_PRIORITY });
    }
    await this.#disable(row, status === 410 ? "gone" : "failing");
    throw new RunEnding({ state: "dead", reason: `${error}, and its endpoint is disabled` });
  }

  async #attempt(
    row: Row<WebhookEndpointModel>,
    { webhookId, payload }: Delivery,
    { signal }: Run,
  ): ReturnType<typeof post> {
    const now = new Date(await this.#parts.endpoints.clock.read());
    const isOldValid = row.old_secret_until !== null && now < row.old_secret_until;
    const secrets = [row.secret, ...row.old_secret !== null && isOldValid ? [row.old_secret] : []];
    // receivers compare it with their clock, not with that of `DbOptions.now`
    const timestamp = String(Math.floor(Date.now() / 1000));
    const body = new TextEncoder().encode(payload);
    const signatures = await signaturesOf(
      { id: webhookId, timestamp, body },
      await keysOf(secrets),
    );
    const headers = {
      "content-type": "application/json",
      "content-length": String(body.byteLength),
      "user-agent": "fw-webhooks",
      "webhook-id": webhookId,
      "webhook-timestamp": timestamp,
      "webhook-signature": signatures.join(" "),
    };
    const url = new URL(row.url);
    return await post({ url, headers, body }, { ...this.#options, signal });
  }

  /** Stores that an endpoint does not fail, regardless of concurrent attempts. */
  async #succeed(id: string): Promise<void> {
    const { endpoints } = this.#parts;
    const where = { id, failing_since: { not: null } };
    await endpoints.rows.updateMany({ where, data: { failing_since: null } });
  }

  /** Stores since when an endpoint fails; returns whether it has failed for `disableAfterMs`. */
  async #fail(id: string, now: Date): Promise<boolean> {
    const { endpoints } = this.#parts;
    const where = { id, failing_since: null };
    if (await endpoints.rows.updateMany({ where, data: { failing_since: now } }) > 0) return false;
    const since = (await endpoints.rows.findUnique({ where: { id } }))?.failing_since ?? now;
    return now.getTime() - since.getTime() >= this.#options.disableAfterMs;
  }

  async #disable(
    { id, owner, url }: Row<WebhookEndpointModel>,
    reason: DisabledWebhookEndpoint["reason"],
  ): Promise<void> {
    const { endpoints, events } = this.#parts;
    await endpoints.connection.atomically(async () => {
      const where = { id, enabled: true };
      const data = { enabled: false, reason };
      if (await endpoints.rows.updateMany({ where, data }) === 0) return;
      await events.publish(WebhookEndpointDisabled, { endpointId: id, owner, url, reason });
      await endpoints.connection.afterCommit(() =>
        getLogger(["fw", "jobs"]).warn("Webhook endpoint {id} is disabled: {reason}", {
          id,
          reason,
        })
      );
    });
  }
}
