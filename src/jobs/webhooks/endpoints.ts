/**
 * The endpoints of webhooks, and the log of attempts, in their tables.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { Row } from "../../db/model/row.ts";
import { Repository } from "../../db/repository.ts";
import type { Table } from "../../db/query/table.ts";
import { tableOf } from "../database.ts";
import { DatabaseClock } from "../database_clock.ts";
import {
  ATTEMPT_TABLE,
  ENDPOINT_TABLE,
  type WebhookAttemptModel,
  type WebhookEndpointModel,
} from "./webhook_tables.ts";

/** A database that has the tables: a `DbService` with the models `webhookTables`. */
export interface WebhooksDatabase {
  /** The endpoints. */
  readonly fwWebhookEndpoint: object;
  /** The log of attempts. */
  readonly fwWebhookAttempt: object;
  /** The tables of the models. */
  readonly "~tables": readonly unknown[];
  /** Returns the database without its replicas. */
  primary(): WebhooksDatabase;
}

/** An endpoint, without its secrets. */
export interface WebhookEndpoint {
  /** Its id, a UUID. */
  readonly id: string;
  /** Its owner, such as the id of a tenant; `null` without one. */
  readonly owner: string | null;
  /** Where webhooks are sent. */
  readonly url: string;
  /** The types of webhooks that it receives; `null` is all. */
  readonly types: readonly string[] | null;
  /** Whether webhooks are sent to it. */
  readonly isEnabled: boolean;
  /** Why it is disabled; `null` if it is not. */
  readonly reason: "manual" | "gone" | "failing" | null;
  /** The first failed attempt after the last one that succeeded; `null` without one. */
  readonly failingSince: Date | null;
  /** When it was added. */
  readonly createdAt: Date;
}

/** An attempt to deliver a webhook. */
export interface WebhookAttempt {
  /** The id of the webhook. */
  readonly webhookId: string;
  /** Its type. */
  readonly type: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** The status of the response; `null` without one. */
  readonly status: number | null;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /** Why it has failed; `null` if it has not. */
  readonly error: string | null;
  /** When it ended. */
  readonly endedAt: Date;
}

/** The priority of webhooks to endpoints that fail: they come after all other jobs. */
export const FAILING_PRIORITY = -1;

/** The largest number of attempts that are removed at a time. */
const PURGED_ROWS = 1000;
/** The time between searches for old attempts in milliseconds, unless many are left. */
const PURGE_EVERY_MS = 60_000;

/** The retries of a removal that deadlocks with those of others. */
const RETRIES = 5;

/** Reads and writes the tables of webhooks. */
export class Endpoints {
  /** The endpoints. */
  readonly rows: Repository<WebhookEndpointModel>;
  /** The connection of the tables. */
  readonly connection: Table["connection"];
  /** The clock of all processes with the tables. */
  readonly clock: DatabaseClock;
  readonly #attempts: Repository<WebhookAttemptModel>;
  #purgedAtMs = -Infinity;

  /**
   * Uses the tables of a service.
   *
   * @throws {TypeError} if the service lacks them
   */
  constructor(db: WebhooksDatabase) {
    const [endpoints, attempts] = [ENDPOINT_TABLE, ATTEMPT_TABLE].map((name) => {
      const table = tableOf(db, name);
      if (table) return table;
      throw new TypeError(
        `Cannot use webhooks: the service lacks ${name}; add ...webhookTables to its models`,
      );
    });
    this.rows = new Repository<WebhookEndpointModel>(endpoints!);
    this.#attempts = new Repository<WebhookAttemptModel>(attempts!);
    this.connection = endpoints!.connection;
    this.clock = new DatabaseClock(this.connection);
  }

  /** Adds an attempt to the log, and removes some of those that ended before a time. */
  async log(endpointId: string, attempt: WebhookAttempt, before: Date): Promise<void> {
    await this.#attempts.createMany({
      data: [{
        endpoint_id: endpointId,
        webhook_id: attempt.webhookId,
        type: attempt.type,
        attempt: attempt.attempt,
        status: attempt.status,
        duration_ms: attempt.durationMs,
        error: attempt.error,
        created_at: attempt.endedAt,
      }],
    });
    const nowMs = attempt.endedAt.getTime();
    if (nowMs - this.#purgedAtMs < PURGE_EVERY_MS) return;
    this.#purgedAtMs = nowMs;
    try {
      if (await this.#purge(before) === PURGED_ROWS) this.#purgedAtMs = -Infinity; // more are left
    } catch (error) {
      // the webhook was sent: it must not be sent again
      const log = getLogger(["fw", "jobs"]);
      log.error("Old attempts of webhooks cannot be removed: {error}", { error });
    }
  }

  /** Removes attempts that no other process removes; returns how many. */
  async #purge(before: Date): Promise<number> {
    return await this.connection.transaction(async () => {
      const old = await this.#attempts.findMany({
        where: { created_at: { lt: before } },
        orderBy: { created_at: "asc" },
        select: { seq: true },
        take: PURGED_ROWS,
        lock: "update",
        skipLocked: true,
      });
      if (old.length === 0) return 0;
      const where = { seq: { in: old.map(({ seq }) => seq) } };
      return await this.#attempts.deleteMany({ where });
    }, { isolation: "read committed", retries: RETRIES });
  }

  /** Lists the attempts of an endpoint, the last one first. */
  async attempts(endpointId: string, take: number): Promise<readonly WebhookAttempt[]> {
    const rows = await this.#attempts.findMany({
      where: { endpoint_id: endpointId },
      orderBy: { seq: "desc" },
      take,
    });
    return rows.map((row) => ({
      webhookId: row.webhook_id,
      type: row.type,
      attempt: row.attempt,
      status: row.status,
      durationMs: row.duration_ms,
      error: row.error,
      endedAt: row.created_at,
    }));
  }
}

/** Returns the priority of webhooks to the endpoint of a row. */
export function priorityOf(row: Row<WebhookEndpointModel>): number {
  return row.failing_since === null ? 0 : FAILING_PRIORITY;
}

/** Returns the endpoint of a row, without its secrets. */
export function endpointOf(row: Row<WebhookEndpointModel>): WebhookEndpoint {
  return {
    id: row.id,
    owner: row.owner,
    url: row.url,
    types: row.types as readonly string[] | null, // `add` has checked them
    isEnabled: row.enabled,
    reason: row.reason,
    failingSince: row.failing_since,
    createdAt: row.created_at,
  };
}
