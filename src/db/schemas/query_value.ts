/**
 * The values of fields as parameters of a query.
 *
 * @module
 */
import type { FieldKind } from "../model/field_kind.ts";
import type { AnyField } from "../model/model.ts";
import { textSchema, type ValueSchema } from "./value_schemas.ts";

/** How a parameter with a value of a field is described and read. */
export interface QueryValue {
  /** Its JSON Schema. */
  readonly json: Readonly<Record<string, unknown>>;
  /** Reads its text. */
  readonly schema: ValueSchema;
}

/** The JSON Schemas of parameters, which are described by the values that are written in them. */
const DESCRIBED: Partial<Record<FieldKind, Readonly<Record<string, unknown>>>> = {
  integer: {
    type: "integer",
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
  },
  bigint: { type: "integer", format: "int64" },
  real: { type: "number" },
  decimal: { type: "string", pattern: "^-?\\d+(?:\\.\\d+)?$" },
  text: { type: "string" },
  enum: { type: "string" },
  boolean: { type: "boolean" },
  timestamp: { type: "string", format: "date-time" },
  date: { type: "string", format: "date" },
  time: { type: "string", pattern: "^\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{3})?$" },
  uuid: { type: "string", format: "uuid" },
};

/** Returns how a parameter with a value of a field is described and read, if it can be one. */
export function queryValueOf(field: AnyField): QueryValue | undefined {
  const json = DESCRIBED[field.kind];
  const schema = textSchema(field);
  if (!json || !schema) return undefined;
  const list = field.traits.list?.split("|");
  return { json: list ? { ...json, enum: list } : json, schema };
}
