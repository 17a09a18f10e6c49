/**
 * The SQL of MySQL 8 and MariaDB.
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
  INTEGER,
  JSON_ARRAY,
  JSON_TEXT,
  REAL,
  SAME,
  TIME,
  TIMESTAMP,
  UUID,
} from "../../connection/codecs.ts";
import { MYSQL_JSON } from "../../connection/json_values.ts";
import type { ArrayGrammar, Codec, Grammar, RecordsGrammar } from "../../connection/grammar.ts";
import type { FieldKind } from "../../model/field_kind.ts";
import { lockingClause } from "../../model/row_lock.ts";
import { like, likePattern } from "../server/like.ts";
import { safeInteger } from "../server/safe_integer.ts";
import { LATE_CONSTANTS } from "./late_constants.ts";
import { dooms, explainMysqlError } from "./mysql_errors.ts";

/** An index of MySQL cannot have a whole `longtext`. */
const MAX_INDEXED_TEXT = 255;
const COLUMN_TYPES: Readonly<Record<FieldKind, ColumnDataType | Expression<unknown>>> = {
  integer: "bigint",
  bigint: "bigint",
  text: sql`longtext`,
  enum: `varchar(${MAX_INDEXED_TEXT})`,
  boolean: "boolean",
  real: "double precision",
  decimal: "decimal",
  json: "json",
  timestamp: "datetime(3)",
  date: "date",
  time: "time(3)",
  uuid: "char(36)",
  blob: sql`longblob`,
  array: "json",
};

/** Half of a character beyond U+FFFF, or U+FFFF. */
const BEYOND = /[\ud800-\udfff\uffff]/;
const MIN_INT64 = sql.raw("-9223372036854775808");
/** Locks rows against changes, on MySQL and MariaDB. */
const SHARE = "lock in share mode";
/** The kinds whose default MySQL accepts only as an expression. */
const EXPRESSIONS: readonly FieldKind[] = ["text", "json", "blob", "array"];

/** Rows as `mysql2` writes them into the SQL; other drivers cannot bind them as one value. */
export const MYSQL_RECORDS: RecordsGrammar = {
  // Servers accept 4 MiB or more; a character may take up to four bytes.
  maxLength: 2 ** 20,
  encode: (row) => ({
    record: row.map(({ value }) => value),
    length: row.reduce((sum, { value }) => sum + lengthOf(value), 0),
  }),
  join: (records) => records,
  source: (_table, _names, records) => sql`values ${records}`,
};

/**
 * MariaDB reads an index up to the prefix with U+FFFF, and misses texts in which a character beyond
 * that follows. Those have a shorter prefix too; `concat()` uses no index.
 */
const matching: Grammar["matching"] = (match, part, bind) => {
  const whole = bind(likePattern(match, part));
  if (match !== "startsWith") return (text) => like(text, whole);
  const shorter = bind(likePattern(match, shorterPrefix(part)));
  return (text) => sql<SqlBool>`(${like(text, shorter)} and ${like(sql`concat(${text})`, whole)})`;
};

/** Returns a text without its last character before U+FFFF, and what follows that one. */
function shorterPrefix(text: string): string {
  let end = text.length;
  while (end > 0 && BEYOND.test(text.charAt(end - 1))) end--;
  return text.slice(0, Math.max(0, end - 1));
}

/** Returns the SQL of arrays: `json_contains` of MariaDB takes similar numbers for the same. */
export function exactArrays({ system, arrays }: Grammar): ArrayGrammar {
  if (system !== "mariadb") return arrays;
  return {
    ...arrays,
    hasEvery(column, list, field) {
      if (field.traits.element?.kind !== "real") return arrays.hasEvery(column, list, field);
      return sql<SqlBool>`case when ${column} is not null then not exists (
        select 1 from json_table(${list}, '$[*]' columns (v double path '$')) as \`~l\`
        where \`~l\`.v not in
          (select v from json_table(${column}, '$[*]' columns (v double path '$')) as \`~e\`
            where v is not null)) end`;
    },
  };
}

/** The settings that the SQL depends on. */
export interface MysqlSettings {
  /** A collation that compares text by code point; `utf8mb4_bin` also ignores trailing spaces. */
  readonly collation: string;
  /** The version of the server, as `version()` returns it. */
  readonly version: string;
  /** Encodes a whole number, so that the driver sends an integer. */
  readonly integer?: Codec["encode"];
  /** Encodes bytes, so that the driver sends bytes. */
  readonly bytes?: Codec["encode"];
}

/** Returns MySQL's SQL. */
export function mysqlGrammar(
  { collation, version, integer = INTEGER.encode, bytes = BLOB.encode }: MysqlSettings,
): Grammar {
  const isMariadb = /mariadb/i.test(version);
  const codecs: Grammar["codecs"] = {
    integer: INTEGER,
    bigint: BIGINT,
    text: SAME,
    enum: ENUM,
    boolean: BOOLEAN,
    real: REAL,
    decimal: DECIMAL,
    json: JSON_TEXT,
    timestamp: { encode: encodeInstant, decode: TIMESTAMP.decode },
    date: DAY,
    time: TIME,
    // Most of its collations ignore case.
    uuid: { encode: UUID.encode, decode: UUID.encode },
    blob: { encode: bytes, decode: BLOB.decode },
    array: JSON_ARRAY,
  };
  return {
    system: isMariadb ? "mariadb" : "mysql",
    brand: "MySQL",
    codecs: {
      ...codecs,
      integer: { encode: integer, decode: INTEGER.decode },
      bigint: { encode: integer, decode: BIGINT.decode },
    },
    returning: false,
    targetQuery: LATE_CONSTANTS,
    defaultIsolation: "repeatable read",
    dooms,
    nullsLast: false,
    comparesRows: false,
    endsWithKey: false,
    // MySQL takes the range that has more columns of the same index.
    stopsAtEqual: isMariadb,
    // It plans each run of any statement.
    plansByLimit: false,
    maxParameters: 65_535,
    multipliesJoined: !isMariadb,
    firstOfEach: hasLateral(version) ? "lateral" : "union",
    list: {
      minLength: 4097,
      // Those need a cast; see `operand`.
      unlisted: ["decimal"],
      // Drivers write it into the SQL as values that are separated by commas. JSON_TABLE would
      // have a collation of its own, and MariaDB would use no index to update and delete.
      encode: (values, field) => values.map((value) => codecs[field.kind].encode(value, field)),
      matches: (column, list, { operator }) =>
        sql<SqlBool>`${column} ${sql.raw(operator)} (${list})`,
    },
    arrays: {
      // MariaDB compares text, which both sides have in the same form then.
      equals: (column, list) =>
        sql<SqlBool>`json_extract(${column}, '$') = json_extract(${list}, '$')`,
      hasEvery: (column, list) => sql<SqlBool>`json_contains(${column}, ${list})`,
      length: (column) => sql<number>`json_length(${column})`,
      push: (column, list) => sql`json_merge_preserve(coalesce(${column}, '[]'), ${list})`,
    },
    json: MYSQL_JSON,
    tableOptions: sql`default character set utf8mb4 collate ${sql.raw(collation)}`,
    columnType({ kind, traits: { size } }, isIndexed) {
      if (kind === "decimal") return sql.raw(`decimal(${size.precision}, ${size.scale})`);
      return kind === "text" && isIndexed ? `varchar(${MAX_INDEXED_TEXT})` : COLUMN_TYPES[kind];
    },
    maxIndexedText: MAX_INDEXED_TEXT,
    generated: (definition) => definition.autoIncrement(),
    literal(encoded, { kind }) {
      return EXPRESSIONS.includes(kind) ? sql`(${sql.lit(encoded)})` : encoded;
    },
    matching,
    // In the single-byte character set hebrew, lower() changes only A to Z.
    lower: (text) =>
      sql`convert(cast(lower(convert(cast(convert(${text} using utf8mb4) as binary)
        using hebrew)) as binary) using utf8mb4) collate ${sql.raw(collation)}`,
    // The first comparison can use an index; the bytes are those of the session's characters.
    exactly: (column, value, { isRange }) =>
      sql<SqlBool>`(${
        isRange ? sql`${column} >= ${value} and ${column} <= ${value}` : sql`${column} = ${value}`
      }
        and cast(convert(${column} using utf8mb4) as binary) = cast(${value} as binary))`,
    // Without the cast, a decimal and text would be compared as doubles.
    operand: (slot, { kind, traits: { size } }) =>
      kind === "decimal"
        ? sql`cast(${slot} as decimal(${sql.raw(`${size.precision}, ${size.scale}`)}))`
        : undefined,
    // Drivers read a date as an instant, some in the zone of the process.
    read: (column, { kind }) => kind === "date" ? sql`cast(${column} as char)` : undefined,
    checked({ column, value, operator }, { kind }) {
      if (kind === "integer") return safeInteger(value, (wide) => sql`cast(${wide} as signed)`);
      // MariaDB subtracts the least 64 bits from 0 without an overflow: 1 less overflows
      return kind === "bigint" && operator === "-"
        ? sql`${value} - if(${column} = 0 and ${value} = ${MIN_INT64}, 1, 0)`
        : value;
    },
    aggregate(name, column, { kind, traits: { size: { scale } } }) {
      if (name === "min" || name === "max") return sql`${sql.raw(name)}(${column})`;
      const sum = sql`sum(${column})`;
      const isAverage = name === "avg";
      if (kind === "real") {
        // A sum that overflows would be 0.
        const part = sql`abs(sum(${column} / 4294967296))`;
        const total = sql`case when ${part} > 4.18e298 then ${part} * 1e300 else ${sum} end`;
        return isAverage ? sql`(${total}) / count(${column})` : total;
      }
      if (!isAverage) return sum;
      const [units, unit] = [sql.raw(`1${"0".repeat(scale)}`), sql.raw(`1e${scale}`)];
      return sql`(${sum} * ${units} + 0e0) / count(${column}) / ${unit}`;
    },
    // Both accept the older form; only MariaDB's has what MySQL's newer form has.
    locking: (lock) => lockingClause(lock, lock.wait && !isMariadb ? "for share" : SHARE),
    explain: explainMysqlError,
  };
}

/** Returns about how many characters a value has in SQL. */
export function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length + 4;
  return value instanceof Uint8Array ? 2 * value.length + 5 : 24;
}

/** Checks whether a server has LATERAL: MySQL 8.0.14 or newer, and no server that resembles it. */
function hasLateral(version: string): boolean {
  const [, release, others = ""] = /^(\d+\.\d+\.\d+)(.*)/.exec(version) ?? [];
  if (release === undefined || /mariadb|tidb|vitess/i.test(others)) return false;
  const [major = 0, minor = 0, patch = 0] = release.split(".").map(Number);
  return major > 8 || (major === 8 && (minor > 0 || patch >= 14));
}

/** Without a zone: DATETIME holds UTC, and TIMESTAMP is in the zone of the session, UTC. */
function encodeInstant(value: unknown): string {
  return (value as Date).toISOString().replace("T", " ").replace("Z", "");
}
