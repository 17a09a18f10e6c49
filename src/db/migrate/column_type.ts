/**
 * The types of columns that hold the values of each kind of field.
 *
 * @module
 */
import { SAME } from "../connection/codecs.ts";
import type { Grammar } from "../connection/grammar.ts";
import type { FieldKind } from "../model/field_kind.ts";
import type { AnyField } from "../model/model.ts";

/** The type of a column, as the database describes it. */
export interface StoredType {
  /** As it is declared, such as `character varying(50)` or the name of a domain. */
  readonly declared: string;
  /** Its name in the catalogue, that of the base type of a domain: `varchar`, `enum`. */
  readonly name: string;
  /** The length, the digits of fractions of a second, or precision and scale; often none. */
  readonly size: readonly number[];
}

type Brand = Grammar["brand"];

const TEXT = "text|varchar|citext";
const MYSQL_INTEGER = /^(?:tiny|small|medium|big)?int$/;
const MYSQL_JSON = /^(?:json|(?:medium|long)?text)$/;
const SQLITE_JSON = /^text |^numeric .*json/;
const MYSQL_TEXT = "varchar|(?:tiny|medium|long)?text";

/**
 * The names of types that can hold every value of a kind, or refuse it with an error: those of a
 * fixed length pad it, and a set of MySQL sorts its members. On SQLite, the affinity precedes the
 * name.
 */
const TYPES: Readonly<Record<Brand, Readonly<Record<FieldKind, RegExp>>>> = {
  PostgreSQL: {
    integer: /^int[248]$/,
    bigint: /^int[248]$/,
    text: new RegExp(`^(?:${TEXT}|enum)$`),
    enum: new RegExp(`^(?:${TEXT}|enum)$`),
    boolean: /^bool$/,
    real: /^float8$/,
    decimal: /^numeric$/,
    json: /^jsonb?$/,
    timestamp: /^timestamp(?:tz)?$/,
    date: /^date$/,
    time: /^time$/,
    uuid: new RegExp(`^(?:${TEXT}|bpchar|uuid)$`),
    blob: /^bytea$/,
    array: /^_/,
  },
  MySQL: {
    integer: MYSQL_INTEGER,
    bigint: MYSQL_INTEGER,
    text: new RegExp(`^(?:${MYSQL_TEXT}|enum)$`),
    enum: new RegExp(`^(?:${MYSQL_TEXT}|enum)$`),
    boolean: MYSQL_INTEGER,
    real: /^double$/,
    decimal: /^decimal$/,
    json: MYSQL_JSON,
    timestamp: /^(?:datetime|timestamp)$/,
    date: /^date$/,
    time: /^time$/,
    uuid: new RegExp(`^(?:${MYSQL_TEXT}|char|uuid)$`),
    blob: /^varbinary$|blob$/,
    array: MYSQL_JSON,
  },
  SQLite: {
    integer: /^integer /,
    bigint: /^integer /,
    text: /^text /,
    enum: /^text /,
    boolean: /^integer |^numeric .*bool/,
    real: /^real |^numeric .*(?:numeric|decimal)/,
    decimal: /^integer /,
    json: SQLITE_JSON,
    timestamp: /^text |^numeric .*(?:date|time)/,
    date: /^text |^numeric date$/,
    time: /^text |^numeric time$/,
    uuid: /^text |^numeric .*uuid/,
    blob: /^blob /,
    array: SQLITE_JSON,
  },
};
/**
 * The affinities of SQLite: that of a type is the first whose pattern is in its name
 * (https://sqlite.org/datatype3.html#determination_of_column_affinity).
 */
const AFFINITIES = [
  ["integer", /int/],
  ["text", /char|clob|text/],
  ["blob", /blob/],
  ["real", /real|floa|doub/],
  ["numeric", /^/],
] as const;
/** Types of SQLite that keep each value as it is. */
const UNTYPED: readonly string[] = ["", "any"];
const JSON_NAME = /^(?:jsonb?|longtext)$/;
const MILLISECONDS = 3;
const UUID_LENGTH = 36;

/** Returns why a type cannot hold the values of a field, such as `the column is text`, if so. */
export function typeMismatch(
  type: StoredType,
  { kind, traits: { size, element } }: AnyField,
  grammar: Grammar,
): string | undefined {
  const { brand, codecs } = grammar;
  const is = `the column is ${type.declared}`;
  if (brand === "SQLite") {
    const [affinity] = AFFINITIES.find(([, pattern]) => pattern.test(type.name)) ?? [];
    const isSame = TYPES.SQLite[kind].test(`${affinity} ${type.name}`);
    return isSame || UNTYPED.includes(type.name) ? undefined : is;
  }
  if (!TYPES[brand][kind].test(type.name)) {
    const isSingle = kind === "real" && /^float4?$/.test(type.name);
    return isSingle ? `${is}, which has single precision` : is;
  }
  if (brand === "PostgreSQL" && element) {
    return typeMismatch({ ...type, name: type.name.slice(1) }, element, grammar);
  }
  const [first, second = 0] = type.size;
  switch (kind) {
    case "timestamp":
    case "time": {
      const digits = first ?? (brand === "MySQL" ? 0 : 6);
      return digits < MILLISECONDS ? `${is}, which drops milliseconds` : undefined;
    }
    case "decimal": {
      const isWide = first === undefined ||
        (second >= size.scale && first - second >= size.precision - size.scale);
      return isWide ? undefined : is;
    }
    case "real":
      return brand === "MySQL" && first !== undefined ? `${is}, which rounds` : undefined;
    case "json":
      // A driver that parses JSON parses no text but MariaDB's JSON.
      return codecs.json.decode === SAME.decode && !JSON_NAME.test(type.name) ? is : undefined;
    case "uuid":
      if (first === undefined || first === UUID_LENGTH) return undefined;
      // PostgreSQL pads a char.
      return first < UUID_LENGTH || type.name === "bpchar" ? is : undefined;
  }
  return undefined;
}

/** Returns the kind of a field as the model declares it, such as `decimal(12,2)`. */
export function kindOf({ kind, traits: { size, list, element } }: AnyField): string {
  if (element) return `${kindOf(element)}[]`;
  const { precision, scale } = size;
  if (kind === "enum") return `enum(${list})`;
  return kind === "decimal" ? `decimal(${precision},${scale})` : kind;
}

/** Reads the numbers of a declaration: those of `numeric(10,2)` are 10 and 2. */
export function sizeOf(declared: string): readonly number[] {
  const [, numbers] = /\(([-\d, ]+)\)/.exec(declared) ?? [];
  return numbers === undefined ? [] : numbers.split(",").map(Number);
}
