/**
 * Codecs that several databases share.
 *
 * @module
 */
import type { Codec } from "./grammar.ts";
import { type ElementKind, isDay, isListed, isTime } from "../model/field_kind.ts";
import { decimalDigits, decimalText } from "../model/stored_value.ts";

/** A time as databases write it where it has no time zone. */
const ZONELESS = /^\d{4}-\d\d-\d\d[ T][\d:.]+$/;

/** Encodes and decodes nothing. */
export const SAME: Codec = { encode: same, decode: same };

/** Whole numbers: read as a number, bigint or text, which must be within ±(2^53 - 1). */
export const INTEGER: Codec = { encode: same, decode: decodeInteger };

/** Bigints: read as a number, bigint or text. */
export const BIGINT: Codec = { encode: same, decode: decodeBigint };

/** Doubles: -0 is written as 0, as not every database stores it. */
export const REAL: Codec = { encode: (value) => Number(value) + 0, decode: Number };

/** Booleans: every truthy value is read as true. */
export const BOOLEAN: Codec = { encode: same, decode: Boolean };

/** Decimals: text with all digits. */
export const DECIMAL: Codec = {
  encode: (value, { traits: { size } }) => decimalText(decimalDigits(String(value), size)!, size),
  decode: (raw, { traits: { size } }) => {
    const digits = decimalDigits(String(raw), size);
    // A column of another scale may hold more digits, which are not dropped.
    return digits === undefined ? String(raw) : decimalText(digits, size);
  },
};

/** Enums: text of a list. */
export const ENUM: Codec = {
  encode: same,
  decode(raw, { traits }) {
    if (isListed(raw, traits)) return raw;
    throw new RangeError("it is not a value of the enum");
  },
};

/** JSON: written as text, read as text or as parsed JSON. */
export const JSON_TEXT: Codec = {
  encode: (value) => JSON.stringify(value),
  decode: (raw) => typeof raw === "string" ? JSON.parse(raw) : raw,
};

/**
 * Timestamps: written as ISO 8601 text, which PostgreSQL reads as UTC in a column without a time
 * zone too; read as text or as a date. Text without a zone is UTC.
 */
export const TIMESTAMP: Codec = {
  encode: (value) => (value as Date).toISOString(),
  decode: decodeInstant,
};

/** Dates of the calendar: read as text. */
export const DAY: Codec = {
  encode: same,
  decode(raw) {
    if (isDay(raw)) return raw;
    throw new RangeError("it is not a date of the years 1000 to 9999");
  },
};

/**
 * Times of the day: written with milliseconds, as SQLite compares them as text, and read as text.
 */
export const TIME: Codec = {
  encode: (value) => String(value).replace(/^.{8}$/, "$&.000"),
  decode(raw) {
    const [, seconds = "", fraction = ""] = /^([^.]*)(?:\.(\d*?)0*)?$/.exec(String(raw)) ?? [];
    const time = fraction === "" ? seconds : `${seconds}.${fraction.padEnd(3, "0")}`;
    if (isTime(time)) return time;
    throw new RangeError("it is not a time of the day in milliseconds");
  },
};

/** UUIDs: in lower case; one in upper case would be found by no condition. */
export const UUID: Codec = { encode: lower, decode: decodeUuid };

/** Bytes: read as a new `Uint8Array`, whatever class the driver uses. */
export const BLOB: Codec = {
  encode: same,
  decode: (raw) => new Uint8Array(raw as Uint8Array),
};

/** The codecs of elements in JSON, where a bigint and a decimal are text: that is exact. */
const ELEMENTS: Readonly<Record<ElementKind, Codec>> = {
  integer: INTEGER,
  bigint: { encode: String, decode: BIGINT.decode },
  text: SAME,
  enum: ENUM,
  boolean: BOOLEAN,
  real: REAL,
  decimal: DECIMAL,
  timestamp: TIMESTAMP,
  date: DAY,
  time: TIME,
  uuid: UUID,
};

/** Arrays: written as text of JSON, read as that or as parsed JSON. */
export const JSON_ARRAY: Codec = {
  encode: (value, { traits: { element } }) =>
    JSON.stringify(
      Array.from(value as unknown[], (it) => ELEMENTS[element!.kind].encode(it, element!)),
    ),
  decode: (raw, { traits: { element } }) => {
    const list: unknown = typeof raw === "string" ? JSON.parse(raw) : raw;
    if (!Array.isArray(list)) throw new RangeError("it is not a list");
    return list.map((it) => {
      if (it === null) throw new RangeError("it has a null");
      return ELEMENTS[element!.kind].decode(it, element!);
    });
  },
};

/** Returns bytes in hexadecimal. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function same(value: unknown): unknown {
  return value;
}

function lower(value: unknown): string {
  return String(value).toLowerCase();
}

function decodeUuid(raw: unknown): string {
  if (raw === lower(raw)) return raw;
  throw new RangeError("it is not in lower case");
}

/** A driver may have rounded a number beyond 2^53: it is not the stored value. */
function decodeBigint(raw: unknown): bigint {
  if (typeof raw !== "number" || Number.isSafeInteger(raw)) return BigInt(raw as string);
  throw new RangeError("the driver reads it as a number (mysql2: set supportBigNumbers)");
}

function decodeInstant(raw: unknown): Date {
  const date = raw instanceof Date ? raw : new Date(withZone(raw) as string);
  if (!Number.isNaN(date.getTime())) return date;
  throw new RangeError("it is not a time that a Date can represent");
}

function withZone(raw: unknown): unknown {
  return typeof raw === "string" && ZONELESS.test(raw) ? `${raw.replace(" ", "T")}Z` : raw;
}

function decodeInteger(raw: unknown): number {
  const value = Number(raw);
  if (Number.isSafeInteger(value)) return value;
  throw new RangeError("it is not within ±(2^53 - 1)");
}
