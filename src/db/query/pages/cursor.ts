/**
 * Cursors: positions in the order of a query, as opaque text. They are not secret: a client can
 * read the values of the columns of the order in them.
 *
 * @module
 */
import { hexOf } from "../../connection/codecs.ts";
import { dbError } from "../../errors.ts";
import { isPlainObject } from "../../model/plain_object.ts";
import { fnv1a, hexOfHash } from "../../../platform/hash.ts";
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

/** The query of cursors. */
export interface CursorQuery {
  /** Its order. */
  readonly keyset: readonly KeysetColumn[];
  /** Its condition. */
  readonly where: unknown;
  /** The operation that reads its page. */
  readonly operation: Operation;
}

/** The cursors of a query, which are valid for no other. */
export class Cursors {
  readonly #query: CursorQuery;
  #hashes: readonly [number, number] | undefined;

  /** Hashes the query when the first cursor is read or written. */
  constructor(query: CursorQuery) {
    this.#query = query;
  }

  /**
   * Writes a position as a cursor: the values as JSON that is exact for each kind, after a digest
   * of them, the model, the order and the condition.
   *
   * @throws {RangeError} if the values are too long
   */
  write(position: AnyRow): string {
    const cursor = this.#encode(position);
    if (cursor.length <= MAX_CURSOR) return cursor;
    const { action } = this.#query.operation;
    throw new RangeError(
      `Cannot ${action}: the values of its order are too long for a cursor`,
    );
  }

  /**
   * Reads the position of a cursor.
   *
   * @throws {DbError} `InvalidCursor` if it is not exactly what `write` returns
   */
  read(cursor: unknown): AnyRow {
    const { keyset, operation } = this.#query;
    const [, , ...values] = jsonIn(cursor);
    const entries = keyset.map(({ column }, index) =>
      [column.name, fromJson(values[index], column)] as const
    );
    if (entries.every(([, value]) => value !== undefined)) {
      const position = Object.fromEntries(entries);
      // Each position has one form: the version, the digest and all values are compared with it.
      if (this.#encode(position) === cursor) return position;
    }
    throw dbError(operation.action, { code: "InvalidCursor" });
  }

  #encode(position: AnyRow): string {
    const { keyset } = this.#query;
    const values = JSON.stringify(keyset.map(({ column: { name } }) => toJson(position[name])));
    // 64 bits that detect a change; whoever knows the format can compute them.
    const digest = (this.#hashes ??= hashesOf(this.#query))
      .map((hash) => hexOfHash(fnv1a(values, hash))).join("");
    return btoa(asciiOf(`[${VERSION},"${digest}",${values.slice(1)}`))
      .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  }
}

/** Returns two hashes of a query. */
function hashesOf(
  { keyset, where, operation: { table } }: CursorQuery,
): readonly [number, number] {
  const order = keyset.map(({ column: { name }, direction, ignoresCase }) =>
    `${name} ${direction}${ignoresCase ? " insensitive" : ""}`
  );
  const text = `${VERSION} ${table.name};${order};${canonical(where ?? {})}`;
  const first = fnv1a(text);
  return [first, fnv1a(text, first)];
}

/** Returns what JSON can represent of a value, without a loss. */
function toJson(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Date) return value.getTime();
  return value instanceof Uint8Array ? hexOf(value) : value;
}

/** Returns the value of a column; `undefined` if it cannot have it. */
function fromJson(json: unknown, { field, rules }: TableColumn): unknown {
  if (json === null) return field.flags.has("nullable") ? null : undefined;
  const { kind } = field;
  const value = typeof json === "string"
    ? fromText(json, kind)
    : kind === "timestamp" && typeof json === "number"
    ? new Date(json)
    : json;
  return rules.accepts(value) && rules.keeps(value, field.traits) ? value : undefined;
}

function fromText(text: string, kind: string): unknown {
  switch (kind) {
    case "bigint":
      return WHOLE.test(text) ? BigInt(text) : undefined;
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
