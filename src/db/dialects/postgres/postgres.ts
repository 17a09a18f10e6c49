/**
 * The SQL of PostgreSQL.
 *
 * @module
 */
import { type ColumnDataType, type Expression, sql, type SqlBool } from "kysely";
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DAY,
  DECIMAL,
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
import { POSTGRES_JSON } from "../../connection/json_values.ts";
import type { Cell, Grammar } from "../../connection/grammar.ts";
import type { FieldKind } from "../../model/field_kind.ts";
import { lockingClause } from "../../model/row_lock.ts";
import { like, likePattern } from "../server/like.ts";
import { safeInteger } from "../server/safe_integer.ts";
import { explainPostgresError } from "./postgres_errors.ts";

const COLUMN_TYPES: Readonly<Record<FieldKind, ColumnDataType | Expression<unknown>>> = {
  integer: "int8",
  bigint: "int8",
  // Compared and ordered by code point, as on the other databases.
  text: sql`text collate "C"`,
  enum: sql`text collate "C"`,
  boolean: "boolean",
  real: "float8",
  decimal: "numeric",
  json: "jsonb",
  timestamp: "timestamptz(3)",
  date: "date",
  time: "time(3)",
  uuid: "uuid",
  blob: "bytea",
  array: "text",
};

/** Its drivers parse JSON. */
const CODECS: Grammar["codecs"] = {
  integer: INTEGER,
  bigint: BIGINT,
  text: SAME,
  enum: ENUM,
  boolean: BOOLEAN,
  real: REAL,
  decimal: DECIMAL,
  json: { encode: JSON_TEXT.encode, decode: SAME.decode },
  timestamp: TIMESTAMP,
  date: DAY,
  time: TIME,
  uuid: UUID,
  blob: BLOB,
  array: {
    encode: (value, { traits: { element } }) =>
      arrayOf(
        (value as readonly unknown[]).map((it) => CODECS[element!.kind].encode(it, element!)),
      ),
    decode: JSON_ARRAY.decode,
  },
};

/** PostgreSQL's SQL. */
export const POSTGRES: Grammar = {
  system: "postgresql",
  brand: "PostgreSQL",
  codecs: CODECS,
  returning: true,
  defaultIsolation: "read committed",
  dooms: () => true,
  nullsLast: true,
  comparesRows: true,
  endsWithKey: false,
  stopsAtEqual: false,
  plansByLimit: true,
  maxParameters: 65_533,
  firstOfEach: "lateral",
  among: (column, values) => sql<SqlBool>`${column} = any(array(${values}))`,
  list: {
    minLength: 2,
    unlisted: [],
    // Without a cast, the array is of the type of the column.
    encode: (values, field) =>
      arrayOf(values.map((value) => CODECS[field.kind].encode(value, field))),
    matches: (column, list, { operator }) =>
      operator === "in"
        ? sql<SqlBool>`${column} = any(${list})`
        : sql<SqlBool>`${column} <> all(${list})`,
  },
  records: {
    maxLength: 2 ** 24,
    encode(row) {
      const record = `{${row.map((cell) => `${JSON.stringify(cell.name)}:${jsonOf(cell)}`)}}`;
      return { record, length: record.length };
    },
    join: (records) => `[${records}]`,
    // Each value is read as its column reads text: the types need not be known here. A subquery has
    // the type of the rows: the name of a table such as `date` is that of another type.
    source: (table, names, json) =>
      sql`select ${sql.join(names.map((name) => sql.ref(name)))}
        from jsonb_populate_recordset((select "~row" from ${sql.table(table)} "~row" limit 0),
          ${json}::text::jsonb)`,
  },
  arrays: {
    equals: (column, list) => sql<SqlBool>`${column} = ${list}`,
    hasEvery: (column, list) => sql<SqlBool>`${column} @> ${list}`,
    hasSome: (column, list) => sql<SqlBool>`${column} && ${list}`,
    length: (column) => sql<number>`cardinality(${column})`,
    push: (column, list) => sql`${column} || ${list}`,
  },
  json: POSTGRES_JSON,
  columnType({ kind, traits: { size, element } }) {
    if (element) {
      const { kind, traits: { size } } = element;
      if (kind === "text" || kind === "enum") return sql`text[] collate "C"`;
      return sql.raw(
        kind === "decimal"
          ? `numeric(${size.precision}, ${size.scale})[]`
          : `${COLUMN_TYPES[kind]}[]`,
      );
    }
    if (kind !== "decimal") return COLUMN_TYPES[kind];
    return sql.raw(`numeric(${size.precision}, ${size.scale})`);
  },
  generated: (definition) => definition.generatedByDefaultAsIdentity(),
  literal: (encoded) => encoded,
  matching(match, part, bind) {
    const pattern = bind(likePattern(match, part));
    // An enum has no LIKE; the cast of a text changes neither its plan nor its index.
    return (text) => like(sql`${text}::text`, pattern);
  },
  // With collation "C", lower() changes only A to Z.
  lower: (text) => sql`lower(${text}::text collate "C")`,
  // The first comparison can use an index; `citext` ignores case, and an enum is no text. The
  // second is for nondeterministic collations, in a form that does not lower the estimate of rows.
  exactly: (column, value) =>
    sql<SqlBool>`(${column}::text = ${value}
      and nullif(${column}::text = ${value} collate "C", false) is not null)`,
  // The other databases do so themselves. A lock serializes reading and setting, so that no
  // transaction sets it back. The error releases the lock, which would otherwise last until the end
  // of the transaction; the sequence keeps its value. One without permission stays unchanged.
  passKey: (table, column, key) =>
    `do $fw$
declare
  s regclass := pg_get_serial_sequence('"${table.replace(".", '"."')}"', '${column}');
begin
  if s is null or not has_sequence_privilege(s, 'select, update')
    or ${key} <= coalesce(pg_sequence_last_value(s), 0) then return; end if;
  perform pg_advisory_xact_lock(s::oid::int8);
  if ${key} > coalesce(pg_sequence_last_value(s), 0) then perform setval(s, ${key}); end if;
  raise exception using errcode = 'FW001';
exception when sqlstate 'FW001' then null;
end $fw$`,
  checked: ({ value }, { kind }) =>
    kind === "integer" ? safeInteger(value, (wide) => sql`cast(${wide} as int8)`) : value,
  // Drivers read a date as an instant, some in the zone of the process.
  read(column, { kind, traits: { element } }) {
    if (kind === "date") return sql`${column}::text`;
    if (!element) return undefined;
    // JSON has no numbers that every driver reads exactly.
    const isText = element.kind === "bigint" || element.kind === "decimal";
    return sql`to_json(${isText ? sql`${column}::text[]` : column})::text`;
  },
  aggregate(name, column, { kind, traits: { size: { scale } } }) {
    const apply = (value: Expression<unknown>) => sql`${sql.raw(name)}(${value})`;
    if (name === "avg" && kind !== "real") {
      const [units, unit] = [sql.raw(`1${"0".repeat(scale)}`), sql.raw(`1e${scale}`)];
      return sql`(sum(${column}) * ${units})::float8 / count(${column}) / ${unit}`;
    }
    // avg() of large reals overflows, as it adds up their squares
    if (name === "avg") return sql`sum(${column}::float8) / count(${column})`;
    // It has no such functions of these kinds.
    if (kind === "boolean") {
      return sql`${sql.raw(name === "min" ? "bool_and" : "bool_or")}(${column})`;
    }
    if (kind === "uuid") return apply(sql`${column}::text collate "C"`);
    if (kind === "blob") {
      return sql`decode(${apply(sql`encode(${column}, 'hex') collate "C"`)}, 'hex')`;
    }
    return apply(column);
  },
  locking: (lock) => lockingClause(lock),
  explain: explainPostgresError,
};

/** Returns a value as JSON. */
function jsonOf({ value, field: { kind } }: Cell): string {
  if (value instanceof Uint8Array) return `"\\\\x${hexOf(value)}"`;
  const isText = typeof value === "bigint" || kind === "json" && typeof value === "string";
  return isText ? `${value}` : JSON.stringify(value);
}

/** Returns encoded values in the text of an array, which any driver passes on. */
function arrayOf(values: readonly unknown[]): string {
  return `{${values.map(elementOf)}}`;
}

/** Returns a value in the text of an array. */
function elementOf(value: unknown): string {
  if (value instanceof Uint8Array) return `"\\\\x${hexOf(value)}"`;
  return typeof value === "string" ? `"${value.replace(/["\\]/g, "\\$&")}"` : String(value);
}
