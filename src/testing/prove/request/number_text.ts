/**
 * Texts that are numbers, by the formats of OpenAPI's registry: their bounds are those of numbers,
 * which JSON Schema applies to no text.
 *
 * @module
 */
import fc from "fast-check";
import type { JsonSchema } from "../../../openapi/json_schema/json_schema.ts";
import { cannotGenerate } from "./keep.ts";
import { rangeOf } from "./range.ts";

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
/** Up to this, a number has the digits that it is written with. */
const MOST = 1e15;

/** Checks whether a schema of strings is one of numbers. */
export function isNumberText({ format }: JsonSchema): boolean {
  return format === "int64" || format === "decimal";
}

/** Numbers, mostly within the bounds of a schema, as texts. */
export function numberTextOf(schema: JsonSchema): fc.Arbitrary<string> {
  const isBounded = schema.minimum !== undefined || schema.maximum !== undefined;
  if (schema.format === "int64" && !isBounded) return fc.bigInt(INT64).map(String);
  const range = rangeOf(schema);
  const min = Math.max(range.min, Math.min(-MOST, range.max));
  const max = Math.min(range.max, Math.max(MOST, range.min));
  if (min > max) cannotGenerate(schema);
  const whole = fc.bigInt({ min: BigInt(Math.floor(min)), max: BigInt(Math.ceil(max)) })
    .map(String);
  if (schema.format === "int64") return whole;
  const broken = fc.tuple(fc.double({ min, max, noNaN: true }), fc.nat(4))
    .map(([number, digits]) => number.toFixed(digits));
  return fc.oneof(whole, broken);
}

/** Checks whether a text is a number within the bounds of its schema. */
export function isWithin(text: string, schema: JsonSchema): boolean {
  const { min, max } = rangeOf(schema);
  const number = Number(text);
  if (!(number >= min && number <= max)) return false;
  return schema.format !== "int64" || BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}
