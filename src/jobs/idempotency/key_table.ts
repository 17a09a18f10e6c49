/**
 * The table of idempotency keys, as a model of the data layer.
 *
 * @module
 */
import { field } from "../../db/model/field_factory.ts";
import type { Field } from "../../db/model/field.ts";
import { type Model, model } from "../../db/model/model.ts";

/** The name of the table. */
export const KEY_TABLE = "fw_idempotency_keys";

/** The fields of {@linkcode IdempotencyKeyModel}. */
// A type: an interface would not be assignable to `Fields`.
export type IdempotencyKeyFields = {
  /** The number of the row, by which a request locks it. */
  readonly seq: Field<"integer", "primaryKey">;
  /** The digest of the key and of its owner. */
  readonly id: Field<"text", "unique">;
  /** The digest of the request; `null` until it is answered. */
  readonly fingerprint: Field<"text", "nullable">;
  /** The status of the answer; `null` until there is one. */
  readonly status: Field<"integer", "nullable">;
  /** The headers of the answer, as pairs of a name and a value. */
  readonly headers: Field<"json", "nullable">;
  /** The body of the answer. */
  readonly body: Field<"blob", "nullable">;
  /** When the key can be used again. */
  readonly expires_at: Field<"timestamp">;
};

/** The options of {@linkcode IdempotencyKeyModel}. */
export interface IdempotencyKeyModelOptions {
  /** The index of the keys to remove. */
  readonly index: readonly ["expires_at"];
}

/** The model of idempotency keys. */
export type IdempotencyKeyModel = Model<
  "fw_idempotency_keys",
  IdempotencyKeyFields,
  IdempotencyKeyModelOptions
>;

const fwIdempotencyKey: IdempotencyKeyModel = model(KEY_TABLE, {
  seq: field.integer().primaryKey(),
  id: field.text().unique(),
  fingerprint: field.text().nullable(),
  status: field.integer().nullable(),
  headers: field.json().nullable(),
  body: field.blob().nullable(),
  expires_at: field.timestamp(),
}, { index: ["expires_at"] });

/**
 * The models of the tables of routes with `idempotent`. Add them to those of the service, beside
 * `jobTables`: `createTables` creates them for tests, and `fw db diff` writes their migration.
 *
 * @example
 * ```ts
 * import { DbService, field, model } from "@fw/fw/db";
 * import { idempotencyTables, jobTables } from "@fw/fw/jobs";
 *
 * const Order = model("orders", { id: field.integer().primaryKey() });
 * class Db extends DbService.with({ order: Order, ...jobTables, ...idempotencyTables }) {}
 * ```
 */
export const idempotencyTables: { readonly fwIdempotencyKey: IdempotencyKeyModel } = {
  fwIdempotencyKey,
};
