/**
 * Cursors: positions in the order of a query, as opaque text. They are not secret: a client can
 * read the values of the columns of the order in them.
 *
 * @module
 */
import { hexOf } from "../../connection/codecs.ts";
import { dbError } from "../../errors.ts";
import { isPlainObject } from "../../model/plain_object.ts";
import { fnv1a } from "../../../platform/hash.ts";
import type { KeysetColumn } from "./keyset.ts";
import type { Operation } from "../operation.ts";
import type { AnyRow, TableColumn } from "../table_column.ts";

/** The most characters of a cursor, which is a part of URLs. */
export const MAX_CURSOR = 4096;

/** The version of the format. */
const VERSION = 1;
const BASE64URL = /^[\w-]+$/;
const WHOLE = /^-?\d{1,19}$/;
const HEX = /^(?:[\da-f]{2})*$/;

/** The query of a cursor, which is valid for no other. */
export interface CursorQuery {
  /** Its order. */
  readonly keyset: readonly KeysetColumn[];
  /** Its condition. */
  readonly where: unknown;
  /** The operation that reads its page. */
  readonly operation: Operation;
}

/**
 * Writes a position as a cursor: the values as JSON that is exact for each kind, after a digest of
 * them, the model, the order and the condition.
 *
 * @throws {RangeError} if the values are too long
 */
export function writeCursor(position: AnyRow, query: CursorQuery): string {
  const cursor = encode(position, query);
  if (cursor.length <= MAX_CURSOR) return cursor;
  throw new RangeError(
    `Cannot ${query.operation.action}: the values of its order are too long for a cursor`,
  );
}

/**
 * Reads the position of a cursor.
 *
 * @throws {DbError} `InvalidCursor` if it is not exactly what `writeCursor` returns for this query
 */
export function readCursor(cursor: unknown, query: CursorQuery): AnyRow {
  const [, , ...values] = jsonIn(cursor);
  const entries = query.keyset.map(({ column }, index) =>
    [column.name, fromJson(values[index], column)] as const
  );
  if (entries.every(([, value]) => value !== undefined)) {
    const position = Object.fromEntries(entries);
    // Each position has one form: the version, the digest and all values are compared with it.
    if (encode(position, query) === cursor) return position;
  }
  throw dbError(query.operation.action, { code: "InvalidCursor" });
}

function encode(position: AnyRow, { keyset, where, operation: { table } }: CursorQuery): string {
  const values = JSON.stringify(keyset.map(({ column: { name } }) => toJson(position[name])));
  const order = keyset.map(({ column: { name }, direction, ignoresCase }) =>
    `${name} ${direction}${ignoresCase ? " insensitive" : ""}`
  );
  const digest = digestOf(`${VERSION} ${table.name};${order};${canonical(where ?? {})}${values}`);
  return btoa(asciiOf(`[${VERSION},"${digest}",${values.slice(1)}`))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Returns 64 bits that detect a change; whoever knows the format can compute them. */
function digestOf(text: string): string {
  const half = fnv1a(text);
  return half + fnv1a(text, Number.parseInt(half, 16));
}

/** Returns what JSON can represent of a value, without a loss. */
function toJson(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Date) return value.toISOString();
  return value instanceof Uint8Array ? hexOf(value) : value;
}

/** Returns the value of a column; `undefined` if it cannot have it. */
function fromJson(json: unknown, { field, rules }: TableColumn): unknown {
  if (json === null) return field.flags.has("nullable") ? null : undefined;
  const value = typeof json === "string" ? fromText(json, field.kind) : json;
  return rules.accepts(value) && rules.keeps(value, field.traits) ? value : undefined;
}

function fromText(text: string, kind: string): unknown {
  switch (kind) {
    case "bigint":
      return WHOLE.test(text) ? BigInt(text) : undefined;
    case "timestamp":
      return new Date(text);
    case "blob":
      return HEX.test(text)
        ? Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16))
        : undefined;
    default:
      return text;
  }
}

/** Returns a text that is the same for equal values, regardless of the order of members. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${Array.from(value, canonical)}]`;
  if (!isPlainObject(value)) return `${typeof value} ${JSON.stringify(toJson(value))}`;
  const members = Object.keys(value).sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members}}`;
}

/** Parses the JSON of a cursor; returns an empty list if it has no list. */
function jsonIn(cursor: unknown): readonly unknown[] {
  if (typeof cursor !== "string" || cursor.length > MAX_CURSOR || !BASE64URL.test(cursor)) {
    return [];
  }
  try {
    const json: unknown = JSON.parse(atob(cursor.replaceAll("-", "+").replaceAll("_", "/")));
    return Array.isArray(json) ? json : [];
  } catch {
    return []; // the text is not that of a cursor
  }
}

/** Escapes what is not ASCII in JSON: base64 has bytes only. */
function asciiOf(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
