/**
 * Jobs: work that is enqueued in a transaction of the database, and runs after its commit, at least
 * once.
 *
 * @example
 * ```ts
 * import { controller, inject, module, route } from "@fw/fw";
 * import { DbModule, DbOptions, DbService, field, model } from "@fw/fw/db";
 * import { job, jobTables, JobsModule } from "@fw/fw/jobs";
 * import { createTestApplication } from "@fw/fw/testing";
 * import * as v from "valibot";
 *
 * const Order = model("orders", { id: field.integer().primaryKey(), email: field.text() });
 * class Db extends DbService.with({ order: Order, ...jobTables }) {}
 *
 * const SendReceipt = job("send-receipt", { body: v.object({ orderId: v.number() }) });
 * const sent: number[] = [];
 *
 * class Receipts {
 *   send = SendReceipt.handle(({ body }) => sent.push(body.orderId));
 * }
 * class Orders extends controller("orders") {
 *   readonly #db = inject(Db);
 *   place = route.post("/", { body: v.object({ email: v.string() }) }, ({ body }) =>
 *     this.#db.transaction(async () => {
 *       const order = await this.#db.order.create({ data: body });
 *       await SendReceipt.enqueue({ orderId: order.id });
 *       return order;
 *     }));
 * }
 * const AppModule = module({
 *   imports: [
 *     DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:")),
 *     JobsModule.forRoot(Db),
 *   ],
 *   providers: [Receipts],
 *   controllers: [Orders],
 * });
 *
 * await using app = await createTestApplication(AppModule);
 * await app.get(Db).createTables();
 * await app.request("/orders", { json: { email: "ada@example.org" } });
 * await app.jobs.drain();
 * console.assert(sent.length === 1);
 * ```
 *
 * @module
 */
export type { AnySchema, SchemaInput, SchemaOutput } from "../core/schema/validation.ts";
export type { Backoff } from "./backoff.ts";
export type { JobsDatabase, JobsDatabaseKey } from "./database.ts";
export type { EnqueueOptions } from "./enqueue_options.ts";
export type {
  DueJob,
  JobFilter,
  JobInfo,
  JobState,
  PurgeFilter,
  TraceParent,
  WaitingKind,
} from "./engine.ts";
export { event, type EventOptions, type EventType, type HandleDurably } from "./events/event.ts";
export { EventHandler, type EventInput, type EventKind } from "./event_kind.ts";
export { Events, type EventsHost, type Published } from "./events/events.ts";
export { type Job, job, type JobOptions } from "./job.ts";
export type { IdempotencyOptions } from "./idempotency/idempotency_options.ts";
export {
  type IdempotencyKeyFields,
  type IdempotencyKeyModel,
  type IdempotencyKeyModelOptions,
  idempotencyTables,
} from "./idempotency/key_table.ts";
export { JobHandler, type JobInput, type JobKind, type JobSettings } from "./job_kind.ts";
export {
  type JobFields,
  type JobModel,
  type JobModelOptions,
  jobTables,
} from "./outbox/job_table.ts";
export { Jobs, type JobsHealthOptions } from "./jobs.ts";
export type { JobsOptions } from "./jobs_options.ts";
export { JobsModule } from "./module.ts";
export type { Run } from "./run.ts";
export type { RunOptions } from "./run_options.ts";
export {
  type HandleOccurrence,
  type Occurrence,
  Schedule,
  schedule,
  type ScheduleOptions,
} from "./schedules/schedule.ts";
export type { DeliveredJob, JobConsumer, JobQueue, JobRelay } from "./relay/relay.ts";
export type { RunOutcome } from "./worker/runs.ts";
export { type DisabledWebhookEndpoint, WebhookEndpointDisabled } from "./webhooks/delivery.ts";
export type { WebhookAttempt, WebhookEndpoint, WebhooksDatabase } from "./webhooks/endpoints.ts";
export type { ResolveHost } from "./webhooks/target.ts";
export { type ReceivedWebhook, webhook, type WebhookSecrets } from "./webhooks/received_webhook.ts";
export {
  type WebhookAttemptFields,
  type WebhookAttemptModel,
  type WebhookAttemptModelOptions,
  type WebhookEndpointFields,
  type WebhookEndpointModel,
  type WebhookEndpointModelOptions,
  webhookTables,
} from "./webhooks/webhook_tables.ts";
export {
  type NewWebhook,
  type NewWebhookEndpoint,
  type WebhookOwner,
  Webhooks,
  type WebhooksDatabaseKey,
} from "./webhooks/webhooks.ts";
export { WebhooksModule } from "./webhooks/module.ts";
export type { WebhooksOptions } from "./webhooks/webhooks_options.ts";
