/**
 * The events of an application.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { getLogger, type Logger } from "@logtape/logtape";
import { context } from "@opentelemetry/api";
import type { JsonValue } from "../../db/model/stored_value.ts";
import { within } from "../../platform/time_limit.ts";
import type { JobKind } from "../job_kind.ts";
import { readPayload, storedPayload } from "../payload.ts";
import type { EventType } from "./event.ts";
import {
  type EventHandler,
  eventHandlersIn,
  type EventKind,
  type HandlersOfEvent,
} from "../event_kind.ts";

const NO_HANDLERS: HandlersOfEvent = { inProcess: new Map(), durable: new Set() };

/** An event that was published. */
export interface Published {
  /** The event. */
  readonly kind: EventKind;
  /** Its payload, which its schema has accepted. */
  readonly body: JsonValue;
}

/** The part of `Jobs` that events use. */
export interface EventsHost {
  /** Runs a function inside the transaction of the caller, or inside a new one. */
  readonly inTransaction: (run: () => Promise<void>) => Promise<void>;
  /** Runs work that the function of the caller's transaction, if any, has to await. */
  readonly during: (work: () => Promise<void>) => Promise<void>;
  /** Calls a function after the commit of the caller's transaction, or at once. */
  readonly afterCommit: (callback: () => void) => Promise<void>;
  /** Enqueues the job of a durable handler. */
  readonly enqueue: (kind: JobKind, published: Published) => Promise<unknown>;
  /** Runs a handler, whose own jobs and events belong to the application. */
  readonly inApplication: <T>(handle: () => T) => T;
}

/** The parts of started events. */
interface Started extends EventsHost {
  readonly handlers: ReturnType<typeof eventHandlersIn>;
  /** Runs a function outside of the transaction and the request of the caller. */
  readonly outside: ReturnType<typeof AsyncLocalStorage.snapshot>;
}

/**
 * The events of an application, provided by `JobsModule`. They are available once the start hooks
 * run, to the hooks of providers that depend on them.
 */
export class Events {
  #started: Started | undefined;
  readonly #running = new Set<Promise<void>>();
  #endsAtMs = Infinity;

  /**
   * Publishes an event of this application, as `publish` of the event does.
   *
   * @throws {TypeError} if the payload does not satisfy the schema
   * @throws {DbError} if the job of a durable handler cannot be stored
   */
  async publish<Input>(event: EventType<Input>, body: Input): Promise<void> {
    await this.publishKind(event, body);
  }

  /** Publishes an event whose payload has no type, as {@linkcode Events.publish} does. */
  async publishKind(kind: EventKind, body: unknown): Promise<void> {
    const { name, schema } = kind;
    const action = `publish ${name}`;
    const { during, inTransaction, afterCommit, enqueue, handlers } = this.#require(action);
    const { durable, inProcess } = handlers.get(name) ?? NO_HANDLERS;
    await during(async () => {
      const published = { kind, body: await storedPayload(body, { action, schema }) };
      const enqueueAll = async () => {
        for (const { job } of durable) {
          await enqueue(job, published);
        }
        await afterCommit(() => {
          for (const handler of inProcess) this.#call(handler, published);
        });
      };
      await (durable.size > 1 ? inTransaction(enqueueAll) : enqueueAll());
    });
  }

  /** Waits until no handler runs in this process. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Finds the handlers; `Jobs` calls it when the application starts. */
  start(host: EventsHost, instances: readonly object[]): void {
    const handlers = eventHandlersIn(instances);
    this.#started = { ...host, handlers, outside: AsyncLocalStorage.snapshot() };
  }

  /** Waits for the handlers that run in this process. */
  async onWorkersStop({ drainMs }: { readonly drainMs: number }): Promise<void> {
    this.#endsAtMs = performance.now() + drainMs;
    await within(this.settled(), drainMs);
  }

  /** Waits for the handlers of events that the last requests published, within the same time. */
  async onApplicationShutdown(): Promise<void> {
    if (await within(this.settled(), Math.max(0, this.#endsAtMs - performance.now()))) return;
    const properties = { count: this.#running.size };
    logger().warn("Handlers of events have not ended before the stop: {count}", properties);
  }

  /** Starts a handler, in the trace of the caller. */
  #call([handler, owner]: readonly [EventHandler, string], published: Published): void {
    const { inApplication, outside } = this.#require(`publish ${published.kind.name}`);
    const active = context.active();
    const handling = outside(() =>
      context.with(active, () => inApplication(() => handle(handler, published)))
    );
    const noted = handling.catch((error) => {
      const properties = { owner, name: published.kind.name, error };
      logger().error("Handler {owner} of event {name} has failed: {error}", properties);
    }).finally(() => this.#running.delete(noted));
    this.#running.add(noted);
  }

  #require(action: string): Started {
    if (this.#started) return this.#started;
    throw new TypeError(`Cannot ${action}: the application has not started`);
  }
}

/** Runs a handler with a payload of its own. */
async function handle({ handle }: EventHandler, { kind, body }: Published): Promise<void> {
  const { value, reason } = await readPayload(structuredClone(body), kind.schema);
  if (reason !== undefined) throw new TypeError(reason);
  await handle({ body: value });
}

function logger(): Logger {
  return getLogger(["fw", "jobs"]);
}
