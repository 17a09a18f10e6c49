/**
 * The webhooks that an application sends.
 *
 * @module
 */
import { NotFoundException } from "../../core/http/http_exception.ts";
import { isUuid } from "../../db/model/field_kind.ts";
import type { AbstractClass } from "../../platform/class.ts";
import { checkNames, type Refuse, refusing } from "../../platform/option_names.ts";
import { databaseIn } from "../database.ts";
import { Events } from "../events/events.ts";
import type { Job } from "../job.ts";
import { isName, type JobHandler } from "../job_kind.ts";
import { Jobs } from "../jobs.ts";
import { checkWholeNumbers } from "../number_options.ts";
import { Deliverer } from "./deliverer.ts";
import { type Delivery, deliveryJob, payloadOf } from "./delivery.ts";
import { checkedUrl, checkTypes, unprocessable } from "./endpoint_checks.ts";
import {
  endpointOf,
  Endpoints,
  priorityOf,
  type WebhookAttempt,
  type WebhookEndpoint,
  type WebhooksDatabase,
} from "./endpoints.ts";
import { checkedSecret, createSecret } from "./secret.ts";
import { loadAddresses } from "./target.ts";
import type { CheckedWebhooksOptions } from "./webhooks_options.ts";

/** The class of a database with the tables of webhooks, as its key. */
export type WebhooksDatabaseKey = AbstractClass<WebhooksDatabase>;

/** The owner of the endpoints of an action. */
export interface WebhookOwner {
  /** The owner, such as the id of a tenant; `null`, the default, is for those without one. */
  readonly owner?: string | null;
}

/** An endpoint to add. */
export interface NewWebhookEndpoint extends WebhookOwner {
  /** Where webhooks are sent: an https URL of at most 2048 characters. */
  readonly url: string;
  /** The types of webhooks that it receives, at most 100; all by default. */
  readonly types?: readonly string[] | null;
  /** Its secret, `whsec_` and the base64 of 24 to 64 bytes; a new one by default. */
  readonly secret?: string;
}

/** A webhook to send to the endpoints of an owner. */
export interface NewWebhook extends WebhookOwner {
  /** Its data, as JSON. */
  readonly data: unknown;
  /** Its id; a new one by default. */
  readonly id?: string;
}

/** The parts of started webhooks. */
interface Started {
  readonly endpoints: Endpoints;
  readonly jobs: Jobs;
  readonly deliverer: Deliverer;
}

/** The id of no endpoint, for ids that are no UUID (RFC 9562 §5.9). */
const NIL = "00000000-0000-0000-0000-000000000000";

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
   * @throws {UnprocessableEntityException} 422, if its URL, a choice of its owner, is not https or
   * too long, or the owner has `maxEndpoints` already
   * @throws {TypeError} if an option is unknown or invalid
   */
  async add(
    endpoint: NewWebhookEndpoint,
  ): Promise<WebhookEndpoint & { readonly secret: string }> {
    const action = "add endpoint";
    const { endpoints, owner, refuse } = this.#begin(action, {
      options: endpoint,
      known: ["url", "types", "secret"],
    });
    const { types = null } = endpoint;
    const url = checkedUrl(endpoint.url, { ...this.#options, action });
    checkTypes(types, refuse);
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
        created_at: endpoints.clock.date(),
      },
    });
    // Counted after it, so that of many at once none is over the limit; for the last place,
    // several may be refused.
    const { maxEndpoints } = this.#options;
    if (await endpoints.rows.count({ where: { owner } }) > maxEndpoints) {
      await endpoints.rows.deleteMany({ where: { id: row.id } });
      throw unprocessable(action, `its owner has ${maxEndpoints} endpoints already`);
    }
    return { ...endpointOf(row), secret };
  }

  /**
   * Lists the endpoints of an owner, the oldest first.
   *
   * @throws {TypeError} if the owner is invalid, as it is in all methods
   */
  async list(options: WebhookOwner = {}): Promise<readonly WebhookEndpoint[]> {
    const { endpoints, owner } = this.#begin("list endpoints", { options });
    const rows = await endpoints.rows.findMany({
      where: { owner },
      orderBy: { created_at: "asc" },
    });
    return rows.map(endpointOf);
  }

  /** Enables an endpoint of an owner again; returns whether there is one of the id. */
  async enable(id: string, options: WebhookOwner = {}): Promise<boolean> {
    const { endpoints, named } = this.#begin("enable endpoint", { id, options });
    const data = { enabled: true, reason: null, failing_since: null };
    return await endpoints.rows.updateMany({ where: named, data }) > 0;
  }

  /**
   * Disables an endpoint of an owner: webhooks are no longer sent to it, including those that wait.
   * Returns whether there is one of the id.
   */
  async disable(id: string, options: WebhookOwner = {}): Promise<boolean> {
    const { endpoints, named } = this.#begin("disable endpoint", { id, options });
    const data = { enabled: false, reason: "manual" } as const;
    return await endpoints.rows.updateMany({ where: named, data }) > 0;
  }

  /** Removes an endpoint of an owner; returns whether there was one of the id. */
  async remove(id: string, options: WebhookOwner = {}): Promise<boolean> {
    const { endpoints, named } = this.#begin("remove endpoint", { id, options });
    return await endpoints.rows.deleteMany({ where: named }) > 0;
  }

  /**
   * Replaces the secret of an endpoint of an owner, and returns the new one. For `keepMs`
   * milliseconds, a day by default, webhooks are signed by the old one too. A second rotation ends
   * those by the secret before it.
   *
   * @throws {NotFoundException} 404, if the owner has no endpoint of the id
   * @throws {TypeError} if an option is unknown or invalid
   * @throws {RangeError} if `keepMs` is not a whole number of 0 or more
   */
  async rotateSecret(
    id: string,
    options: WebhookOwner & { readonly secret?: string; readonly keepMs?: number } = {},
  ): Promise<string> {
    const action = "rotate secret";
    const { endpoints, named: where } = this.#begin(action, {
      id,
      options,
      known: ["secret", "keepMs"],
    });
    const { secret, keepMs = ROTATION_MS } = options;
    checkWholeNumbers({ keepMs }, { least: 0, action });
    const next = secret === undefined ? createSecret() : checkedSecret(secret, action);
    const until = new Date(await endpoints.clock.read() + keepMs);
    await endpoints.connection.atomically(async () => {
      const row = await endpoints.rows.findFirst({ where, lock: "update" });
      if (!row) throw new NotFoundException(`Cannot ${action}: there is no endpoint of the id`);
      const data = { secret: next, old_secret: row.secret, old_secret_until: until };
      await endpoints.rows.updateMany({ where, data });
    });
    return next;
  }

  /**
   * Lists the last attempts to deliver to an endpoint of an owner, the last one first: at most
   * `take`, or none if the owner has no endpoint of the id.
   */
  async attempts(
    id: string,
    options: WebhookOwner & { readonly take?: number } = {},
  ): Promise<readonly WebhookAttempt[]> {
    const { endpoints, named } = this.#begin("list attempts", { id, options, known: ["take"] });
    if (!await endpoints.rows.exists({ where: named })) return [];
    return await endpoints.attempts(named.id, options.take ?? 100);
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
    const { endpoints, jobs, owner, refuse } = this.#begin(
      `send webhook ${JSON.stringify(type)}`,
      { options: webhook, known: ["data", "id"] },
    );
    const { data, id } = webhook;
    if (!isName(type)) refuse('a type has 1 to 100 letters, digits, ".", "_" and "-"');
    const webhookId = id ?? `msg_${crypto.randomUUID()}`;
    if (!/^[\w-]{1,100}$/.test(webhookId)) {
      refuse('an id has 1 to 100 letters, digits, "_" and "-"');
    }
    const payload = payloadOf({ type, timestamp: endpoints.clock.date(), data }, refuse);
    await endpoints.connection.atomically(async () => {
      const rows = await endpoints.rows.findMany({ where: { owner, enabled: true } });
      for (const row of rows) {
        const { types } = endpointOf(row);
        if (types && !types.includes(type)) continue;
        const delivery = { endpointId: row.id, webhookId, type, payload };
        await jobs.enqueue(this.#job, delivery, { priority: priorityOf(row) });
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

  /**
   * Checks the options of an action, and returns the owner of its endpoints. An owner that is
   * `undefined` is refused: most likely it is a claim that is missing. So is an object, as the
   * owner or the id: it would be a condition, which endpoints of others meet.
   */
  #begin(
    action: string,
    { id = "", options, known = [] }: {
      readonly id?: string;
      readonly options: WebhookOwner;
      readonly known?: readonly string[];
    },
  ): Started & {
    readonly owner: string | null;
    readonly named: { readonly id: string; readonly owner: string | null };
    readonly refuse: Refuse;
  } {
    const refuse = refusing(action);
    checkNames(options, { known: [...known, "owner"], refuse });
    const { owner = null } = options;
    if ("owner" in options && options.owner === undefined) {
      refuse("owner is undefined, and null is for endpoints without one");
    }
    if (owner !== null && typeof owner !== "string") refuse("owner is not a text");
    if (typeof id !== "string") refuse("the id is not a text");
    const named = { id: isUuid(id) ? id : NIL, owner };
    return { ...this.#require(action), owner, named, refuse };
  }

  #require(action: string): Started {
    if (this.#started) return this.#started;
    throw new TypeError(`Cannot ${action}: the application has not started`);
  }
}
