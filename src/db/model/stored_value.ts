/**
 * Values that every database stores as they are: text, JSON and decimal numbers.
 *
 * @module
 */
import { isPlainObject } from "./plain_object.ts";

/** A JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object; a member that is `undefined` is omitted. */
export interface JsonObject {
  /** A member. */
  readonly [name: string]: JsonValue | undefined;
}

/** MariaDB's limit. */
const MAX_DEPTH = 31;

/** Checks whether a value and all its members are JSON. */
export function isJson(value: unknown, above: readonly unknown[] = []): boolean {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
      return true;
    case "object":
      // A value that is too deep is rejected by `isStorableJson`; a cycle is not JSON.
      if (value === null || above.length > MAX_DEPTH) return true;
      if (above.includes(value)) return false;
      return writtenMembers(value)?.every((member) => isJson(member, [...above, value])) ?? false;
  }
  return false;
}

/** Checks whether every database stores JSON unchanged: finite, storable text, not too deep. */
export function isStorableJson(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return isStorableText(value);
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth >= MAX_DEPTH) return false;
  if (!Array.isArray(value) && !Object.keys(value).every(isStorableText)) return false;
  return writtenMembers(value)?.every((member) => isStorableJson(member, depth + 1)) ?? false;
}

/**
 * Checks whether text is well-formed and has no U+0000. PostgreSQL rejects U+0000, SQLite on Deno
 * cuts the text there, and every driver replaces lone surrogates silently.
 */
export function isStorableText(value: unknown): boolean {
  return typeof value === "string" && value.isWellFormed() && !value.includes("\0");
}

/** The digits of a decimal number. */
export interface DecimalSize {
  /** The number of all digits, 1 to 65; on SQLite at most 18. */
  readonly precision: number;
  /** The number of digits after the point, at most 30. */
  readonly scale: number;
}

const MAX_LENGTH = 100;
const DECIMAL = /^(-?)0*(\d+)(?:\.(\d+?)0*)?$/;

/** Parses a decimal number in units of its last place; `undefined` if it does not fit. */
export function decimalDigits(text: string, { precision, scale }: DecimalSize): bigint | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [, sign, whole = "", fraction = ""] = DECIMAL.exec(text) ?? [];
  if (sign === undefined || trimmed(fraction).length > scale) return undefined;
  const digits = `${whole}${trimmed(fraction).padEnd(scale, "0")}`.replace(/^0+(?=\d)/, "");
  if (digits !== "0" && digits.length > precision) return undefined;
  return BigInt(sign + digits);
}

/** Formats digits as text: `1250n` of scale 2 is `"12.50"`. */
export function decimalText(digits: bigint, { scale }: DecimalSize): string {
  const sign = digits < 0n ? "-" : "";
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, "0");
  const point = text.length - scale;
  return scale === 0 ? sign + text : `${sign}${text.slice(0, point)}.${text.slice(point)}`;
}

/** Returns the members of a list, holes included, or those of a plain object that JSON includes. */
function writtenMembers(value: object): readonly unknown[] | undefined {
  if (typeof (value as { readonly toJSON?: unknown }).toJSON === "function") return undefined;
  if (Array.isArray(value)) return Array.from(value);
  if (!isPlainObject(value)) return undefined;
  return Object.values(value).filter((member) => member !== undefined);
}

function trimmed(fraction: string): string {
  return fraction === "0" ? "" : fraction;
}
