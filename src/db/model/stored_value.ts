/**
 * Values that every database stores as they are: text, JSON and decimal numbers.
 *
 * @module
 */
import { isPlainObject } from "./plain_object.ts";

/** What JSON can say. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object of JSON; a member that is `undefined` is not written. */
export interface JsonObject {
  /** A member. */
  readonly [name: string]: JsonValue | undefined;
}

/** MariaDB takes no deeper document. */
const MAX_DEPTH = 31;

/** Tells whether a value consists of what JSON has, all the way down. */
export function isJson(value: unknown, above: readonly unknown[] = []): boolean {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
      return true;
    case "object":
      // What is too deep is refused by what follows; a cycle is not JSON.
      if (value === null || above.length > MAX_DEPTH) return true;
      if (above.includes(value)) return false;
      return writtenMembers(value)?.every((member) => isJson(member, [...above, value])) ?? false;
  }
  return false;
}

/** Tells whether every database gives JSON back as it is: finite, storable text, not too deep. */
export function isStorableJson(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return isStorableText(value);
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth >= MAX_DEPTH) return false;
  if (!Array.isArray(value) && !Object.keys(value).every(isStorableText)) return false;
  return writtenMembers(value)?.every((member) => isStorableJson(member, depth + 1)) ?? false;
}

/** Gives the members of a list, holes included, or of a plain object, those that are written. */
function writtenMembers(value: object): readonly unknown[] | undefined {
  if ("toJSON" in value) return undefined;
  if (Array.isArray(value)) return Array.from(value);
  if (!isPlainObject(value)) return undefined;
  return Object.values(value).filter((member) => member !== undefined);
}

/**
 * Tells whether text is well-formed and has no U+0000. PostgreSQL refuses U+0000, reading SQLite on
 * Deno cuts the text there, and every driver replaces lone surrogates in silence.
 */
export function isStorableText(value: unknown): boolean {
  return typeof value === "string" && value.isWellFormed() && !value.includes("\0");
}

/** How many digits a decimal number has. */
export interface DecimalSize {
  /** Of all its digits, 1 to 65; SQLite keeps 18. */
  readonly precision: number;
  /** Of those, how many after the point, at most 30. */
  readonly scale: number;
}

const MAX_LENGTH = 100;
const DECIMAL = /^(-?)0*(\d+)(?:\.(\d+?)0*)?$/;

/** Gives the digits of a number in units of its last place; `undefined` if it does not fit. */
export function decimalDigits(text: string, { precision, scale }: DecimalSize): bigint | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [, sign, whole = "", fraction = ""] = DECIMAL.exec(text) ?? [];
  if (sign === undefined || trimmed(fraction).length > scale) return undefined;
  const digits = `${whole}${trimmed(fraction).padEnd(scale, "0")}`.replace(/^0+(?=\d)/, "");
  if (digits !== "0" && digits.length > precision) return undefined;
  return BigInt(sign + digits);
}

/** Writes digits as text: `1250n` of scale 2 is `"12.50"`. */
export function decimalText(digits: bigint, { scale }: DecimalSize): string {
  const sign = digits < 0n ? "-" : "";
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, "0");
  const point = text.length - scale;
  return scale === 0 ? sign + text : `${sign}${text.slice(0, point)}.${text.slice(point)}`;
}

function trimmed(fraction: string): string {
  return fraction === "0" ? "" : fraction;
}
