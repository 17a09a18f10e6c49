/**
 * The SQL of PostgreSQL.
 *
 * @module
 */
import { type ColumnDataType, type Expression, sql } from "kysely";
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DECIMAL,
  INTEGER,
  JSON_TEXT,
  REAL,
  SAME,
  TIMESTAMP,
  UUID,
} from "../../connection/codecs.ts";
import type { Grammar } from "../../connection/dialect.ts";
import type { FieldKind } from "../../model/field_kind.ts";
import { like, likePattern } from "../server/like.ts";
import { safeInteger } from "../server/safe_integer.ts";
import { explainPostgresError } from "./postgres_errors.ts";

const COLUMN_TYPES: Readonly<Record<FieldKind, ColumnDataType | Expression<unknown>>> = {
  integer: "int8",
  bigint: "int8",
  // Compared and ordered by code point, as on the other databases.
  text: sql`text collate "C"`,
  boolean: "boolean",
  real: "float8",
  decimal: "numeric",
  json: "jsonb",
  timestamp: "timestamptz(3)",
  uuid: "uuid",
  blob: "bytea",
};

/** PostgreSQL's SQL. Its drivers parse JSON. */
export const POSTGRES: Grammar = {
  brand: "PostgreSQL",
  codecs: {
    integer: INTEGER,
    bigint: BIGINT,
    text: SAME,
    boolean: BOOLEAN,
    real: REAL,
    decimal: DECIMAL,
    json: { encode: JSON_TEXT.encode, decode: SAME.decode },
    timestamp: TIMESTAMP,
    uuid: UUID,
    blob: BLOB,
  },
  returning: true,
  defaultIsolation: "read committed",
  dooms: () => true,
  nullsLast: true,
  maxParameters: 65_533,
  columnType({ kind, traits: { size } }) {
    if (kind !== "decimal") return COLUMN_TYPES[kind];
    return sql.raw(`numeric(${size.precision}, ${size.scale})`);
  },
  generated: (definition) => definition.generatedByDefaultAsIdentity(),
  literal: (encoded) => encoded,
  pattern: likePattern,
  matches: (_, column, pattern) => like(column, pattern),
  // The other databases do so themselves. A lock serializes reading and setting, so that no
  // transaction sets it back. The error releases the lock, which would otherwise last until the end
  // of the transaction; the sequence keeps its value. One without permission stays unchanged.
  passKey: (table, column, key) =>
    `do $fw$
declare
  s regclass := pg_get_serial_sequence('"${table}"', '${column}');
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
  explain: explainPostgresError,
};
