/**
 * Ways for values to travel that several databases share.
 *
 * @module
 */
import type { Codec } from "./dialect.ts";
import { decimalDigits, decimalText } from "../model/stored_value.ts";
import { DbError } from "../errors.ts";

/** Travels as it is. */
export const SAME: Codec = { encode: same, decode: same };

/** Is read as a number, bigint or text, and must be within ±(2^53 - 1). */
export const INTEGER: Codec = { encode: same, decode: decodeInteger };

/** Is read as a number, bigint or text. */
export const BIGINT: Codec = { encode: same, decode: decodeBigint };

/** Is read as a number; has no -0, which not every database keeps. */
export const REAL: Codec = { encode: (value) => Number(value) + 0, decode: Number };

/** Is read as whatever is true or false. */
export const BOOLEAN: Codec = { encode: same, decode: Boolean };

/** Travels as text with all its digits. */
export const DECIMAL: Codec = {
  encode: (value, { traits: { size } }) => decimalText(decimalDigits(String(value), size)!, size),
  decode: (raw, { traits: { size } }) => {
    const digits = decimalDigits(String(raw), size);
    // A column made by other means may hold more digits: they are not cut off.
    return digits === undefined ? String(raw) : decimalText(digits, size);
  },
};

/** Is written as text, and read as text or as JSON. */
export const JSON_TEXT: Codec = {
  encode: (value) => JSON.stringify(value),
  decode: (raw) => typeof raw === "string" ? JSON.parse(raw) : raw,
};

/** Is written as ISO 8601 text, and read as such or as a date. */
export const TIMESTAMP: Codec = {
  encode: (value) => (value as Date).toISOString(),
  decode: (raw) => raw instanceof Date ? raw : new Date(raw as string),
};

/** Has no capitals. */
export const UUID: Codec = { encode: lower, decode: lower };

/** Is read as bytes of the caller's own, whatever class the driver has for them. */
export const BLOB: Codec = {
  encode: same,
  decode: (raw) => new Uint8Array(raw as Uint8Array),
};

function same(value: unknown): unknown {
  return value;
}

function lower(value: unknown): string {
  return String(value).toLowerCase();
}

/** A number that a driver has rounded is no longer what the database holds. */
function decodeBigint(raw: unknown): bigint {
  if (typeof raw !== "number" || Number.isSafeInteger(raw)) return BigInt(raw as string);
  throw new DbError("Database", "Cannot read bigint: the driver reads it as a number");
}

function decodeInteger(raw: unknown): number {
  const value = Number(raw);
  if (Number.isSafeInteger(value)) return value;
  throw new DbError("Database", "Cannot read integer: it is not within ±(2^53 - 1)");
}
