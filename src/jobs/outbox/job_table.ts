/**
 * The table of jobs, as a model of the data layer.
 *
 * @module
 */
import { field } from "../../db/model/field_factory.ts";
import type { Field } from "../../db/model/field.ts";
import { type Model, model } from "../../db/model/model.ts";

/** The name of the table. */
export const JOB_TABLE = "fw_jobs";

/** The fields of {@linkcode JobModel}. */
// A type: an interface would not be assignable to `Fields`.
export type JobFields = {
  /** The number of the job, in the order of insertion. */
  readonly seq: Field<"integer", "primaryKey">;
  /** The id of the job: `run.id`. */
  readonly id: Field<"uuid", "unique">;
  /** The name of its kind. */
  readonly name: Field<"text">;
  /** Its state. */
  readonly state: Field<
    "enum",
    never,
    never,
    "ready|scheduled|running|done|dead|cancelled"
  >;
  /** Its payload, as its schema has accepted it. */
  readonly body: Field<"json", "nullable">;
  /** Its priority, negated: the smallest runs first. */
  readonly rank: Field<"integer">;
  /** When it is due. */
  readonly run_at: Field<"timestamp">;
  /** When it was enqueued. */
  readonly created_at: Field<"timestamp">;
  /** When it has ended. */
  readonly ended_at: Field<"timestamp", "nullable">;
  /** How many of its runs have begun, except those that a stop has returned. */
  readonly attempts: Field<"integer">;
  /** How many of its runs were lost with their worker. */
  readonly lost: Field<"integer">;
  /** Its singleton key, until it ends. */
  readonly singleton: Field<"text", "nullable" | "unique">;
  /** Its group. */
  readonly group_key: Field<"text", "nullable">;
  /** Whether it waits behind others of its group, so that no claim reads it. */
  readonly blocked: Field<"boolean">;
  /** Its group while it runs: of each group, one runs. */
  readonly active_group: Field<"text", "nullable" | "unique">;
  /** Its place among the runs of a kind whose `globalConcurrency` is limited. */
  readonly slot: Field<"text", "nullable" | "unique">;
  /** The claim under which it runs. */
  readonly lease: Field<"uuid", "nullable">;
  /** Counts the heartbeats of its run. */
  readonly beat: Field<"integer">;
  /** Whether its run is to be cancelled. */
  readonly cancelling: Field<"boolean">;
  /** What its run has reported last. */
  readonly progress: Field<"json", "nullable">;
  /** Why its last run has failed. */
  readonly reason: Field<"text", "nullable">;
  /** The span that has enqueued it. */
  readonly trace: Field<"json", "nullable">;
};

/** The options of {@linkcode JobModel}. */
export interface JobModelOptions {
  /** The indexes: jobs to claim, those that are due, those to remove, and the order of a group. */
  readonly index: readonly [
    readonly ["state", "name", "blocked", "rank", "seq"],
    readonly ["state", "run_at", "seq"],
    readonly ["state", "ended_at"],
    readonly ["group_key", "state", "seq"],
  ];
}

/** The model of jobs. */
export type JobModel = Model<"fw_jobs", JobFields, JobModelOptions>;

const fwJob: JobModel = model(JOB_TABLE, {
  seq: field.integer().primaryKey(),
  id: field.uuid().unique(),
  name: field.text(),
  state: field.enum(["ready", "scheduled", "running", "done", "dead", "cancelled"]),
  body: field.json().nullable(),
  rank: field.integer(),
  run_at: field.timestamp(),
  created_at: field.timestamp(),
  ended_at: field.timestamp().nullable(),
  attempts: field.integer(),
  lost: field.integer(),
  singleton: field.text().nullable().unique(),
  group_key: field.text().nullable(),
  blocked: field.boolean(),
  active_group: field.text().nullable().unique(),
  slot: field.text().nullable().unique(),
  lease: field.uuid().nullable(),
  beat: field.integer(),
  cancelling: field.boolean(),
  progress: field.json().nullable(),
  reason: field.text().nullable(),
  trace: field.json().nullable(),
}, {
  index: [
    ["state", "name", "blocked", "rank", "seq"],
    ["state", "run_at", "seq"],
    ["state", "ended_at"],
    ["group_key", "state", "seq"],
  ],
});

/**
 * The models of the tables of jobs. Add them to those of the service: `createTables` creates them
 * for tests, and `fw db diff` writes their migration.
 *
 * @example
 * ```ts
 * import { DbService, field, model } from "@fw/fw/db";
 * import { jobTables } from "@fw/fw/jobs";
 *
 * const Order = model("orders", { id: field.integer().primaryKey() });
 * class Db extends DbService.with({ order: Order, ...jobTables }) {}
 * ```
 */
export const jobTables: { readonly fwJob: JobModel } = { fwJob };
