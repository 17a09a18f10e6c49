/**
 * Kinds of jobs, and their handlers.
 *
 * @module
 */
import type { AnySchema, SchemaInput, SchemaOutput } from "../core/schema/validation.ts";
import { checkNames, refusing } from "../platform/option_names.ts";
import { ambientJobs } from "./ambient.ts";
import type { EnqueueOptions } from "./enqueue_options.ts";
import {
  checkedName,
  JobHandler,
  type JobInput,
  type JobKind,
  type JobSettings,
} from "./job_kind.ts";
import { checkSchema } from "./payload.ts";
import type { Run } from "./run.ts";
import { checkRunOptions, RUN_OPTIONS, type RunOptions, settingsOf } from "./run_options.ts";

/** Options of {@linkcode job}. */
export interface JobOptions<Body extends AnySchema = AnySchema> extends RunOptions {
  /**
   * The schema of the payload, of any Standard Schema library; without one, a job has no payload.
   * The payload is stored as JSON. It is validated when a job is enqueued, and again when it runs:
   * if it then no longer satisfies the schema, the job becomes a dead letter.
   */
  readonly body?: Body;
}

/** A kind of job, created by {@linkcode job}; `Input` and `Output` are those of its payload. */
export class Job<in Input = never, out Output = unknown> implements JobKind {
  /** The name, which is stored with each job: renaming a kind strands the jobs that wait. */
  readonly name: string;
  /** The schema of the payload. */
  readonly schema: AnySchema | undefined;
  /** The options. */
  readonly settings: JobSettings;

  /** Creates a kind; use {@linkcode job}. */
  constructor(name: string, options: JobOptions) {
    this.name = name;
    this.schema = options.body;
    this.settings = settingsOf(options);
  }

  /**
   * Declares the handler of the kind: a field of a provider, which workers find. A job is done when
   * the function resolves; if it throws, the job is retried.
   */
  handle(handle: (input: JobInput<Output>, run: Run) => unknown): JobHandler {
    // the schema of this kind has made the payload
    return new JobHandler(this, handle as JobHandler["handle"]);
  }

  /**
   * Enqueues a job for the application of the caller, and returns its id: inside `db.transaction`
   * of the application's database it is part of the transaction, so a rollback leaves no job;
   * otherwise it is a statement of its own.
   *
   * The application is that of the transaction or the handler that the caller is inside, or the
   * only one of the process. Where there are several, use `jobs.enqueue` of the injected `Jobs`.
   *
   * @throws {TypeError} if the payload does not satisfy the schema, an option is invalid, or the
   * application is unknown
   * @throws {RangeError} if the priority is not a whole number
   * @throws {DbError} if it cannot be stored
   */
  async enqueue(body: Input, options?: EnqueueOptions): Promise<string> {
    return await ambientJobs(`enqueue ${this.name}`).enqueue(this, { body, options });
  }
}

/**
 * Declares a kind of job. Any code enqueues jobs of it; its handler is a field of a provider.
 *
 * @example
 * ```ts
 * import { FwFactory, module } from "@fw/fw";
 * import { DbModule, DbOptions, DbService, field, model } from "@fw/fw/db";
 * import { job, jobTables, JobsModule } from "@fw/fw/jobs";
 * import * as v from "valibot";
 *
 * const Order = model("orders", { id: field.integer().primaryKey(), email: field.text() });
 * class Db extends DbService.with({ order: Order, ...jobTables }) {}
 *
 * const SendReceipt = job("send-receipt", { body: v.object({ orderId: v.number() }), retries: 5 });
 *
 * class Receipts {
 *   send = SendReceipt.handle(({ body }, run) => console.log(run.id, body.orderId));
 * }
 * const AppModule = module({
 *   imports: [
 *     DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:")),
 *     JobsModule.forRoot(Db),
 *   ],
 *   providers: [Receipts],
 * });
 *
 * await using app = await FwFactory.create(AppModule);
 * const db = app.get(Db);
 * await db.createTables();
 * await db.transaction(async () => {
 *   const order = await db.order.create({ data: { email: "ada@example.org" } });
 *   await SendReceipt.enqueue({ orderId: order.id });
 * });
 * ```
 *
 * @throws {TypeError} if the name is not one of 1 to 100 letters, digits, `.`, `_` and `-`, or an
 * option is unknown or invalid
 * @throws {RangeError} if a number is out of range
 */
export function job<const Body extends AnySchema>(
  name: string,
  options: JobOptions<Body> & { readonly body: Body },
): Job<SchemaInput<Body>, SchemaOutput<Body>>;
/** Declares a kind of job without a payload. */
export function job(
  name: string,
  options?: JobOptions & { readonly body?: undefined },
): Job<void, undefined>;
export function job(name: string, options: JobOptions = {}): Job {
  const action = `declare job ${checkedName(name, "job")}`;
  const refuse = refusing(action);
  checkNames(options, { known: ["body", ...RUN_OPTIONS], refuse });
  checkSchema(options.body, refuse);
  checkRunOptions(options, action);
  return new Job(name, options);
}
