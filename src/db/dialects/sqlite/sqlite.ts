/**
 * The SQL of SQLite.
 *
 * @module
 */
import { type ColumnDataType, type Expression, sql, type SqlBool } from "kysely";
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DAY,
  ENUM,
  hexOf,
  INTEGER,
  JSON_ARRAY,
  JSON_TEXT,
  REAL,
  SAME,
  TIME,
  TIMESTAMP,
  UUID,
} from "../../connection/codecs.ts";
import { SQLITE_JSON } from "../../connection/json_values.ts";
import type { Codec, Grammar } from "../../connection/grammar.ts";
import { explainSqliteError } from "./sqlite_errors.ts";
import type { FieldKind } from "../../model/field_kind.ts";
import type { AnyField } from "../../model/model.ts";
import { decimalDigits, decimalText } from "../../model/stored_value.ts";

/** SQLite's storage classes. */
const COLUMN_TYPES: Readonly<Record<FieldKind, ColumnDataType>> = {
  integer: "integer",
  bigint: "integer",
  text: "text",
  enum: "text",
  boolean: "integer",
  real: "real",
  decimal: "integer",
  json: "text",
  timestamp: "text",
  date: "text",
  time: "text",
  uuid: "text",
  blob: "blob",
  array: "text",
};
const MAX_PRECISION = 18;
/** Makes the upper part of a sum positive; see `sumCodec`. */
const SUM_OFFSET = 2n ** 62n;
const MAX_HIGH = 2n ** 63n - 1n;

/** SQLite has no booleans, and a decimal is a whole number in units of its last place. */
const CODECS: Grammar["codecs"] = {
  integer: INTEGER,
  bigint: BIGINT,
  text: SAME,
  enum: ENUM,
  boolean: { encode: Number, decode: BOOLEAN.decode },
  real: REAL,
  decimal: {
    encode: (value, { traits: { size } }) => decimalDigits(String(value), size),
    decode: (raw, field) => decimalText(BIGINT.decode(raw, field) as bigint, field.traits.size),
  },
  // A column of the type JSON stores a text that is a number as a number, read as a bigint.
  json: {
    encode: JSON_TEXT.encode,
    decode: (raw, field) => typeof raw === "bigint" ? Number(raw) : JSON_TEXT.decode(raw, field),
  },
  timestamp: TIMESTAMP,
  date: DAY,
  time: TIME,
  uuid: UUID,
  blob: { encode: (value) => storableBytes(value as Uint8Array), decode: BLOB.decode },
  array: JSON_ARRAY,
};

/** SQLite's SQL. */
export const SQLITE: Grammar = {
  system: "sqlite",
  brand: "SQLite",
  codecs: CODECS,
  returning: true,
  defaultIsolation: "serializable",
  // An I/O error may roll it back, and so may a disk that is full.
  dooms: ({ code }) => code === "ConnectionLost" || code === "DiskFull",
  nullsLast: false,
  comparesRows: true,
  // the rowid
  endsWithKey: true,
  stopsAtEqual: false,
  plansByLimit: false,
  maxParameters: 32_766,
  firstOfEach: "correlated",
  among: (column, values) => sql<SqlBool>`${column} in ${values}`,
  checksEach: true,
  list: {
    minLength: 2,
    // Not every number is read from JSON as JavaScript reads it.
    unlisted: ["real"],
    encode: (values, field) =>
      `[${values.map((value) => jsonOf(CODECS[field.kind].encode(value, field)))}]`,
    matches: (column, list, { operator, kind }) => {
      const value = sql.raw(kind === "blob" ? "unhex(value)" : "value");
      return sql<SqlBool>`${column} ${sql.raw(operator)} (select ${value} from json_each(${list}))`;
    },
  },
  arrays: {
    equals: (column, list) => sql<SqlBool>`json(${column}) = json(${list})`,
    hasEvery: (column, list) =>
      sql<
        SqlBool
      >`case when ${column} is not null then not exists (select 1 from json_each(${list}) l
        where l.value not in (select e.value from json_each(${column}) e)) end`,
    hasSome: (column, list) =>
      sql<SqlBool>`case when ${column} is not null then exists (select 1 from json_each(${list}) l
        where l.value in (select e.value from json_each(${column}) e)) end`,
    length: (column) => sql<number>`json_array_length(${column})`,
    // Joined as text: read and written again, true and false would be numbers.
    push: (column, list) =>
      sql`rtrim(json(coalesce(${column}, '[]')), ']')
        || iif(json_array_length(${column}) > 0 and json_array_length(${list}) > 0, ',', '')
        || substr(json(${list}), 2)`,
  },
  json: SQLITE_JSON,
  // Tables reject values of another type, as on the other databases.
  tableOptions: sql`strict`,
  columnType({ kind, traits: { size } }) {
    if (size.precision > MAX_PRECISION) {
      throw new RangeError(
        `Cannot keep decimal: SQLite has ${MAX_PRECISION} digits, not ${size.precision}`,
      );
    }
    return COLUMN_TYPES[kind];
  },
  generated: (definition) => definition.autoIncrement(),
  literal: (encoded) => encoded,
  // Not LIKE, which ignores the case of ASCII letters; nor GLOB, which rejects long patterns.
  matching(match, part, bind) {
    const slot = bind(part);
    switch (match) {
      case "contains":
        return (text) => sql<SqlBool>`instr(${text}, ${slot}) > 0`;
      case "startsWith":
        // The first comparison can use an index.
        return (text) =>
          sql<SqlBool>`(${text} >= ${slot} and substr(${text}, 1, length(${slot})) = ${slot})`;
      case "endsWith":
        return (text) =>
          sql<SqlBool>`substr(${text}, length(${text}) - length(${slot}) + 1) = ${slot}`;
    }
  },
  lower: (text) => sql`lower(${text})`,
  // The first comparison can use an index, whatever its collation.
  exactly: (column, value) =>
    sql<SqlBool>`(${column} = ${value} and ${column} = ${value} collate binary)`,
  checked({ column, value }, field) {
    const isBeyond = beyond(value, field);
    if (isBeyond === undefined) return value;
    // A column that is not strict would keep text, so the value is the overflow of a function.
    return sql`case when ${isBeyond}
      then abs((${column} is null) + ${sql.raw("-9223372036854775808")}) else ${value} end`;
  },
  aggregate(name, column, field) {
    if (name === "min" || name === "max") return sql`${sql.raw(name)}(${column})`;
    const { kind, traits: { size: { scale } } } = field;
    const isAverage = name === "avg";
    const [high, low] = [sql`sum(${column} >> 32)`, sql`sum(${column} & 4294967295)`];
    if (kind !== "real" && !isAverage) {
      return sql`case when count(${column}) > 0 then printf('%019d%010d',
        ${high} + (${low} >> 32) + ${sql.raw(`${SUM_OFFSET}`)}, ${low} & 4294967295) end`;
    }
    // A sum that is no number would be NULL; a function overflows in its place.
    const sum = sql`sum(${column})`;
    const total = kind === "real"
      ? sql`case when coalesce(abs(${sum}) > ${
        sql.raw(`${Number.MAX_VALUE}`)
      }, count(${column}) > 0)
          then abs(count(${column}) * 0 + -9223372036854775808) else ${sum} end`
      : sql`${high} * 4294967296.0 + ${low}`;
    return isAverage ? sql`(${total}) / count(${column}) / ${sql.raw(`1e${scale}`)}` : total;
  },
  sums: {
    integer: sumCodec((value) => BigInt(value as number), Number),
    bigint: sumCodec((value) => value as bigint, (sum) => sum),
    decimal: sumCodec(
      (value, { traits: { size } }) => decimalDigits(String(value), size)!,
      (sum, { traits: { size } }) => decimalText(sum, size),
    ),
  },
  explain: explainSqliteError,
};

/**
 * Returns the codec of sums. They may exceed the 64 bits of SQLite, even where the result does not:
 * the upper and the lower 32 bits are summed, and written as text that is ordered as the numbers.
 */
function sumCodec(
  toInteger: (value: unknown, field: AnyField) => bigint,
  toValue: (sum: bigint, field: AnyField) => unknown,
): Codec {
  return {
    encode(value, field) {
      const sum = toInteger(value, field);
      const high = (sum >> 32n) + SUM_OFFSET;
      // No sum is beyond these.
      const clamped = high < 0n ? 0n : high > MAX_HIGH ? MAX_HIGH : high;
      return `${clamped}`.padStart(19, "0") + `${sum & 0xffffffffn}`.padStart(10, "0");
    },
    decode(raw, field) {
      const text = String(raw);
      const high = BigInt(text.slice(0, 19)) - SUM_OFFSET;
      return toValue((high << 32n) + BigInt(text.slice(19)), field);
    },
  };
}

/** Returns an encoded value as JSON, of which bytes are hexadecimal text. */
function jsonOf(value: unknown): string {
  if (value instanceof Uint8Array) return `"${hexOf(value)}"`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** Returns the condition under which a value is beyond what the field holds. */
function beyond(
  value: Expression<unknown>,
  { kind, traits: { size } }: AnyField,
): Expression<unknown> | undefined {
  // an overflow of whole numbers becomes a real number
  if (kind === "bigint") return sql`typeof(${value}) = 'real'`;
  const limit = kind === "integer"
    ? String(Number.MAX_SAFE_INTEGER)
    : kind === "decimal"
    ? "9".repeat(size.precision)
    : kind === "real"
    ? String(Number.MAX_VALUE)
    : undefined;
  if (limit === undefined) return undefined;
  return sql`${value} not between ${sql.raw(`-${limit}`)} and ${sql.raw(limit)}`;
}

/**
 * Returns bytes that are stored as bytes: Node 22.21 stores empty bytes whose buffer is
 * empty as NULL.
 */
export function storableBytes(bytes: Uint8Array): Uint8Array {
  return bytes.length === 0 ? new Uint8Array(1).subarray(1) : bytes;
}
