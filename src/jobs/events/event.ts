/**
 * Events, and their handlers.
 *
 * @module
 */
import type { AnySchema, SchemaInput, SchemaOutput } from "../../core/schema/validation.ts";
import { checkNames, refusing } from "../../platform/option_names.ts";
import { ambientJobs } from "../ambient.ts";
import { checkedName, JobHandler } from "../job_kind.ts";
import { checkSchema } from "../payload.ts";
import type { Run } from "../run.ts";
import { checkRunOptions, RUN_OPTIONS, type RunOptions, settingsOf } from "../run_options.ts";
import { SCHEDULE_PREFIX } from "../schedules/schedule_kind.ts";
import { EventHandler, type EventInput, type EventKind } from "../event_kind.ts";

/** Options of {@linkcode event}. */
export interface EventOptions<Body extends AnySchema = AnySchema> {
  /**
   * The schema of the payload, of any Standard Schema library; without one, an event has no
   * payload. Handlers receive what JSON preserves of it, as the schema outputs it.
   */
  readonly body?: Body;
}

/** Handles an event in a job. */
export type HandleDurably<Body> = (input: EventInput<Body>, run: Run) => unknown;

/** An event, created by {@linkcode event}; `Input` and `Output` are those of its payload. */
export class EventType<in Input = never, out Output = unknown> implements EventKind {
  /** The name, which is stored with the jobs of its durable handlers. */
  readonly name: string;
  /** The schema of the payload. */
  readonly schema: AnySchema | undefined;

  /** Creates an event; use {@linkcode event}. */
  constructor(name: string, { body }: EventOptions) {
    this.name = name;
    this.schema = body;
  }

  /**
   * Declares a handler that runs at most once, in the process that publishes the event, after the
   * commit: a field of a provider. The publisher does not wait for it; its errors are logged. A
   * stop of the application waits for it within `drainMs`.
   */
  on(handle: (input: EventInput<Output>) => unknown): EventHandler {
    // the schema of this event has made the payload
    return new EventHandler(this, handle as EventHandler["handle"]);
  }

  /**
   * Declares a handler that runs at least once: a field of a provider. A job for it is enqueued in
   * the transaction that publishes the event, and is retried as its options configure.
   *
   * The name is stored with the jobs: handler `mail` of event `order-placed` has the kind of job
   * `order-placed:mail`. Renaming it strands the jobs that wait.
   *
   * @throws {TypeError} if the name is not one of 1 to 100 letters, digits, `.`, `_` and `-`, or an
   * option is unknown or invalid
   * @throws {RangeError} if a number is out of range
   */
  durable(name: string, handle: HandleDurably<Output>): JobHandler;
  /** Declares a handler that runs at least once, with the options of its runs. */
  durable(name: string, options: RunOptions, handle: HandleDurably<Output>): JobHandler;
  durable(
    name: string,
    ...rest: readonly [HandleDurably<Output>] | readonly [RunOptions, HandleDurably<Output>]
  ): JobHandler {
    const [options, handle] = rest.length === 1 ? [{}, rest[0]] : rest;
    const kind = `${this.name}:${checkedName(name, `handler of ${this.name}`)}`;
    const action = `declare handler ${kind}`;
    const refuse = refusing(action);
    checkNames(options, { known: RUN_OPTIONS, refuse });
    if (typeof handle !== "function") refuse("the handler is not a function");
    checkRunOptions(options, action);
    const { schema } = this;
    const job = { name: kind, schema, settings: settingsOf(options), event: this.name };
    return new JobHandler(job, handle as JobHandler["handle"]);
  }

  /**
   * Publishes the event for the application of the caller. Inside `db.transaction` of the
   * application's database, its handlers are called after the commit, and none after a rollback;
   * otherwise at once.
   *
   * The application is that of the transaction or the handler that the caller is inside, or the
   * only one of the process. Where there are several, use `events.publish` of the injected
   * `Events`.
   *
   * @throws {TypeError} if the payload does not satisfy the schema, or the application is unknown
   * @throws {DbError} if the job of a durable handler cannot be stored
   */
  async publish(body: Input): Promise<void> {
    await ambientJobs(`publish ${this.name}`).publish(this, body);
  }
}

/**
 * Declares an event. Any code publishes it; its handlers are fields of providers.
 *
 * @example
 * ```ts
 * import { FwFactory, module } from "@fw/fw";
 * import { DbModule, DbOptions, DbService, field, model } from "@fw/fw/db";
 * import { event, jobTables, JobsModule } from "@fw/fw/jobs";
 * import * as v from "valibot";
 *
 * const Order = model("orders", { id: field.integer().primaryKey() });
 * class Db extends DbService.with({ order: Order, ...jobTables }) {}
 *
 * const OrderPlaced = event("order-placed", { body: v.object({ orderId: v.number() }) });
 *
 * class Orders {
 *   log = OrderPlaced.on(({ body }) => console.log(`order ${body.orderId}`));
 *   mail = OrderPlaced.durable("mail", { retries: 5 }, ({ body }, run) =>
 *     console.log(run.id, body.orderId));
 * }
 * const AppModule = module({
 *   imports: [
 *     DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:")),
 *     JobsModule.forRoot(Db),
 *   ],
 *   providers: [Orders],
 * });
 *
 * await using app = await FwFactory.create(AppModule);
 * const db = app.get(Db);
 * await db.createTables();
 * await db.transaction(async () => {
 *   const order = await db.order.create({ data: {} });
 *   await OrderPlaced.publish({ orderId: order.id });
 * });
 * ```
 *
 * @throws {TypeError} if the name is not one of 1 to 100 letters, digits, `.`, `_` and `-`, or is
 * `schedule`, or an option is unknown or invalid
 */
export function event<const Body extends AnySchema>(
  name: string,
  options: EventOptions<Body> & { readonly body: Body },
): EventType<SchemaInput<Body>, SchemaOutput<Body>>;
/** Declares an event without a payload. */
export function event(
  name: string,
  options?: EventOptions & { readonly body?: undefined },
): EventType<void, undefined>;
export function event(name: string, options: EventOptions = {}): EventType {
  const refuse = refusing(`declare event ${checkedName(name, "event")}`);
  checkNames(options, { known: ["body"], refuse });
  if (`${name}:` === SCHEDULE_PREFIX) refuse("its durable handlers would count as schedules");
  checkSchema(options.body, refuse);
  return new EventType(name, options);
}
