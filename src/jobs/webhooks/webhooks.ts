/**
 * The webhooks that an application sends.
 *
 * @module
 */
import { UnprocessableEntityException } from "../../core/http/http_exception.ts";
import type { AbstractClass } from "../../platform/class.ts";
import { checkNames, type Refuse, refusing } from "../../platform/option_names.ts";
import { databaseIn } from "../database.ts";
import { Events } from "../events/events.ts";
import type { Job } from "../job.ts";
import { isName, type JobHandler } from "../job_kind.ts";
import { Jobs } from "../jobs.ts";
import { checkWholeNumbers } from "../number_options.ts";
import { Deliverer } from "./deliverer.ts";
import { type Delivery, deliveryJob } from "./delivery.ts";
import {
  endpointOf,
  Endpoints,
  type WebhookAttempt,
  type WebhookEndpoint,
  type WebhooksDatabase,
} from "./endpoints.ts";
import { checkedSecret, createSecret } from "./secret.ts";
import { loadAddresses, TargetError, targetUrl } from "./target.ts";
import type { CheckedWebhooksOptions } from "./webhooks_options.ts";

/** The class of a database with the tables of webhooks, as its key. */
export type WebhooksDatabaseKey = AbstractClass<WebhooksDatabase>;

/** An endpoint to add. */
export interface NewWebhookEndpoint {
  /** Where webhooks are sent: an https URL. */
  readonly url: string;
  /** Its owner, such as the id of a tenant; none by default. */
  readonly owner?: string | null;
  /** The types of webhooks that it receives; all by default. */
  readonly types?: readonly string[] | null;
  /** Its secret, `whsec_` and the base64 of 24 to 64 bytes; a new one by default. */
  readonly secret?: string;
}

/** A webhook to send. */
export interface NewWebhook {
  /** Its data, as JSON. */
  readonly data: unknown;
  /** The owner whose endpoints receive it; by default, those without an owner do. */
  readonly owner?: string | null;
  /** Its id; a new one by default. */
  readonly id?: string;
}

/** The parts of started webhooks. */
interface Started {
  readonly endpoints: Endpoints;
  readonly jobs: Jobs;
  readonly deliverer: Deliverer;
}

/** The longest body, in UTF-16 units; Standard Webhooks recommends less than 20 000. */
const MAX_PAYLOAD = 262_144;
/** How long an old secret signs by default, in milliseconds: a day. */
const ROTATION_MS = 86_400_000;

/**
 * Sends the webhooks of an application and manages their endpoints; provided by `WebhooksModule`.
 * It is available once the start hooks run.
 */
export class Webhooks {
  readonly #key: WebhooksDatabaseKey;
  readonly #options: CheckedWebhooksOptions;
  readonly #job: Job<Delivery, Delivery>;
  /** Delivers a webhook to an endpoint; workers find it. */
  readonly deliver: JobHandler;
  #started: Started | undefined;

  /** Creates the webhooks of a database; use `WebhooksModule`. */
  constructor(key: WebhooksDatabaseKey, options: CheckedWebhooksOptions) {
    this.#key = key;
    this.#options = options;
    this.#job = deliveryJob(options);
    this.deliver = this.#job.handle(({ body }, run) =>
      this.#require("deliver webhook").deliverer.deliver(body, run)
    );
  }

  /**
   * Adds an endpoint; returns it with its secret, by which its owner verifies webhooks.
   *
   * @throws {UnprocessableEntityException} 422, if its URL, a choice of its owner, is not https
   * @throws {TypeError} if an option is unknown or invalid
   */
  async add(
    endpoint: NewWebhookEndpoint,
  ): Promise<WebhookEndpoint & { readonly secret: string }> {
    const action = "add endpoint";
    const refuse = refusing(action);
    checkNames(endpoint, { known: ["url", "owner", "types", "secret"], refuse });
    const { owner = null, types = null } = endpoint;
    const { endpoints } = this.#require(action);
    const url = this.#checkedUrl(endpoint.url, action);
    if (types !== null && !Array.isArray(types)) refuse("types is not an array");
    const wrong = types?.find((type) => !isName(type));
    if (wrong !== undefined) refuse(`${JSON.stringify(wrong)} is not a type of webhooks`);
    const secret = endpoint.secret === undefined
      ? createSecret()
      : checkedSecret(endpoint.secret, action);
    const row = await endpoints.rows.create({
      data: {
        id: crypto.randomUUID(),
        owner,
        url,
        types: types && [...types],
        secret,
        old_secret: null,
        old_secret_until: null,
        enabled: true,
        reason: null,
        failing_since: null,
        created_at: endpoints.date(),
      },
    });
    return { ...endpointOf(row), secret };
  }

  /** Lists the endpoints of an owner, by default those without one; the oldest first. */
  async list(
    { owner = null }: { readonly owner?: string | null } = {},
  ): Promise<readonly WebhookEndpoint[]> {
    const { endpoints } = this.#require("list endpoints");
    const rows = await endpoints.rows.findMany({
      where: { owner },
      orderBy: { created_at: "asc" },
    });
    return rows.map(endpointOf);
  }

  /** Enables an endpoint again; returns whether there is one of the id. */
  async enable(id: string): Promise<boolean> {
    const { endpoints } = this.#require("enable endpoint");
    const data = { enabled: true, reason: null, failing_since: null };
    return await endpoints.rows.updateMany({ where: { id }, data }) > 0;
  }

  /**
   * Disables an endpoint: webhooks are no longer sent to it, including those that wait. Returns
   * whether there is one of the id.
   */
  async disable(id: string): Promise<boolean> {
    const { endpoints } = this.#require("disable endpoint");
    const data = { enabled: false, reason: "manual" } as const;
    return await endpoints.rows.updateMany({ where: { id }, data }) > 0;
  }

  /** Removes an endpoint; returns whether there was one of the id. */
  async remove(id: string): Promise<boolean> {
    const { endpoints } = this.#require("remove endpoint");
    return await endpoints.rows.deleteMany({ where: { id } }) > 0;
  }

  /**
   * Replaces the secret of an endpoint, and returns the new one. For `keepMs` milliseconds, a day
   * by default, webhooks are signed by the old one too. A second rotation ends those by the
   * secret before it.
   *
   * @throws {TypeError} if there is no endpoint of the id, or an option is unknown or invalid
   * @throws {RangeError} if `keepMs` is not a whole number of 0 or more
   */
  async rotateSecret(
    id: string,
    options: { readonly secret?: string; readonly keepMs?: number } = {},
  ): Promise<string> {
    const action = "rotate secret";
    checkNames(options, { known: ["secret", "keepMs"], refuse: refusing(action) });
    const { secret, keepMs = ROTATION_MS } = options;
    checkWholeNumbers({ keepMs }, { least: 0, action });
    const { endpoints } = this.#require(action);
    const next = secret === undefined ? createSecret() : checkedSecret(secret, action);
    const until = new Date(endpoints.connection.now() + keepMs);
    await endpoints.connection.atomically(async () => {
      const row = await endpoints.rows.findUnique({ where: { id }, lock: "update" });
      if (!row) throw new TypeError(`Cannot ${action}: there is no endpoint of the id`);
      const data = { secret: next, old_secret: row.secret, old_secret_until: until };
      await endpoints.rows.updateMany({ where: { id }, data });
    });
    return next;
  }

  /** Lists the last attempts to deliver to an endpoint, the last one first: at most `take`. */
  async attempts(
    id: string,
    { take = 100 }: { readonly take?: number } = {},
  ): Promise<readonly WebhookAttempt[]> {
    return await this.#require("list attempts").endpoints.attempts(id, take);
  }

  /**
   * Sends a webhook to the endpoints of an owner that receive its type: enqueues a job for each,
   * inside the transaction of the caller if there is one. Its body is
   * `{ type, timestamp, data }`. Returns its id, the `webhook-id` of each attempt.
   *
   * @throws {TypeError} if the type is invalid, an option is unknown or invalid, or the data is not
   * JSON or longer than 256 KiB
   * @throws {DbError} if a job cannot be stored
   */
  async send(type: string, webhook: NewWebhook): Promise<string> {
    const refuse = refusing(`send webhook ${JSON.stringify(type)}`);
    checkNames(webhook, { known: ["data", "owner", "id"], refuse });
    const { data, owner = null, id } = webhook;
    if (!isName(type)) refuse('a type has 1 to 100 letters, digits, ".", "_" and "-"');
    const { endpoints, jobs } = this.#require("send webhook");
    const webhookId = id ?? `msg_${crypto.randomUUID()}`;
    if (!/^[\w-]{1,100}$/.test(webhookId)) {
      refuse('an id has 1 to 100 letters, digits, "_" and "-"');
    }
    const payload = payloadOf({ type, timestamp: endpoints.date(), data }, refuse);
    await endpoints.connection.atomically(async () => {
      const rows = await endpoints.rows.findMany({ where: { owner, enabled: true } });
      for (const row of rows) {
        const { types } = endpointOf(row);
        if (types && !types.includes(type)) continue;
        await jobs.enqueue(this.#job, { endpointId: row.id, webhookId, type, payload });
      }
    });
    return webhookId;
  }

  /**
   * Finds the database and the jobs among the instances of the application.
   *
   * @throws {TypeError} if one is missing, the database lacks the tables, or a package is not
   * installed
   */
  async onModuleInit(instances: readonly object[] = []): Promise<void> {
    const db = databaseIn(instances, { key: this.#key, action: "use webhooks" });
    const jobs = instances.find((it) => it instanceof Jobs);
    const events = instances.find((it) => it instanceof Events);
    if (!jobs || !events) {
      throw new TypeError(
        "Cannot use webhooks: no module provides Jobs; import JobsModule.forRoot",
      );
    }
    await loadAddresses();
    const endpoints = new Endpoints(db);
    const deliverer = new Deliverer({ endpoints, events }, this.#options);
    this.#started = { endpoints, jobs, deliverer };
  }

  #checkedUrl(url: string, action: string): string {
    try {
      return targetUrl(url, this.#options).href;
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
      throw new UnprocessableEntityException(`Cannot ${action}: ${error.message}`);
    }
  }

  #require(action: string): Started {
    if (this.#started) return this.#started;
    throw new TypeError(`Cannot ${action}: the application has not started`);
  }
}

/** Returns the body of a webhook. */
function payloadOf(body: object, refuse: Refuse): string {
  let payload: string;
  try {
    payload = JSON.stringify(body);
  } catch {
    return refuse("its data is not JSON");
  }
  if (payload.length > MAX_PAYLOAD) refuse(`its body is longer than ${MAX_PAYLOAD} characters`);
  return payload;
}
