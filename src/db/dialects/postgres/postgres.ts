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
  // transaction sets it back. A sequence without permission to update stays unchanged.
  passKey: (table, column, key) =>
    sql`
      with t as materialized (
        select s, pg_advisory_xact_lock(s::regclass::oid::int8)
        from pg_get_serial_sequence(${sql.lit(`"${table}"`)}, ${sql.lit(column)}) as t (s)
      )
      select setval(s::regclass, ${key}) from t
      where has_sequence_privilege(s, 'select, update')
      and ${key} > coalesce(pg_sequence_last_value(s::regclass), 0)`,
  explain: explainPostgresError,
};
