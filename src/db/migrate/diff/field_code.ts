/**
 * The fields of models, as code, that columns of existing tables need.
 *
 * @module
 */
import type { Grammar } from "../../connection/grammar.ts";
import { field } from "../../model/field_factory.ts";
import type { FieldKind } from "../../model/field_kind.ts";
import type { AnyField } from "../../model/model.ts";
import { sizeOf, typeMismatch } from "../column_type.ts";
import { storedType, withoutCast } from "./target.ts";
import { COLUMN, type ColumnSchema, mysqlText, type TableSchema } from "./table_schema.ts";

/** A field, as a value and as code. */
export interface CodedField {
  /** Its code without a reference: `field.text().unique()`. */
  readonly code: string;
  /** The field, without its keys and defaults. */
  readonly field: AnyField;
}

/** The kinds of types, by their names; those of SQLite by words in them. */
const KINDS: readonly (readonly [RegExp, FieldKind])[] = [
  [/^(?:tinyint\(1\)|bool)/, "boolean"],
  [/^bigint/, "bigint"],
  [/int|^serial/, "integer"],
  [/^uuid$|^char\(36\)$/, "uuid"],
  [/^(?:jsonb?)$/, "json"],
  [/^(?:timestamp|datetime)/, "timestamp"],
  [/^date$/, "date"],
  [/^time\b/, "time"],
  [/^(?:numeric|decimal)/, "decimal"],
  [/double|real|float/, "real"],
  [/char|text|clob|^enum/, "text"],
  [/blob|bytea|binary/, "blob"],
];
/** The size of a decimal whose column has none. */
const ANY_SIZE = { precision: 30, scale: 10 };
/** The values that `field.enum` accepts. */
const ENUM_VALUE = /^[^|()?'"\\\p{Cc}]{1,100}$/u;
const TEXT_LITERAL = /^'((?:''|[^'])*)'$/;
const NUMBER_LITERAL = /^\(?'?(-?\d+(?:\.\d+)?)'?\)?(?:::[\w ]+)?$/;

/** Returns the field of a column; `undefined` if no kind has all values of its type. */
export function fieldOf(
  column: ColumnSchema,
  { table, grammar }: { readonly table: TableSchema; readonly grammar: Grammar },
): CodedField | undefined {
  const isArray = column.type.endsWith("[]");
  const element = isArray ? { ...column, type: column.type.slice(0, -2) } : column;
  const base = baseOf(element, { table: isArray ? undefined : table, grammar });
  if (!base) return undefined;
  const made = isArray && base.field.kind !== "json" && base.field.kind !== "blob"
    ? { code: `${base.code}.array()`, field: (base.field as AnyField & ArrayElement).array() }
    : base;
  const mismatch = typeMismatch(storedType(column, grammar), made.field, grammar);
  return mismatch === undefined ? made : undefined;
}

interface ArrayElement {
  array(): AnyField;
}

/** Checks whether a column has a check that its value is one of some texts. */
export function hasList({ name }: ColumnSchema, { checks }: TableSchema): boolean {
  return checks.some(({ column, condition }) => column === name && listOf(condition) !== undefined);
}

/** Returns the code of the default of a column: `.default(true)`, `.defaultSql("now()")`. */
export function defaultCode(
  { default: expression }: ColumnSchema,
  { kind }: AnyField,
  { brand }: Pick<Grammar, "brand">,
): string {
  if (expression === undefined || /^null\b/i.test(expression)) return "";
  const [, text] = TEXT_LITERAL.exec(withoutCast(expression)) ?? [];
  if (text !== undefined && (kind === "text" || kind === "enum")) {
    const value = brand === "MySQL" ? mysqlText(text) : text.replaceAll("''", "'");
    return `.default(${JSON.stringify(value)})`;
  }
  const [, number] = NUMBER_LITERAL.exec(expression) ?? [];
  if (kind === "boolean" && /^(?:true|false|[01]|'[01]')$/i.test(expression)) {
    return `.default(${/true|1/i.test(expression)})`;
  }
  if (number !== undefined && Number.isSafeInteger(Number(number))) {
    if (kind === "integer") return `.default(${number})`;
    if (kind === "bigint") return `.default(${number}n)`;
  }
  if (number !== undefined && kind === "real") return `.default(${Number(number)})`;
  const plain = expression.replace(/^\((.*)\)$/s, "$1").replace(/ on update .*/i, "");
  return `.defaultSql(${JSON.stringify(plain)})`;
}

function baseOf(
  column: ColumnSchema,
  { table, grammar }: { readonly table: TableSchema | undefined; readonly grammar: Grammar },
): CodedField | undefined {
  const { type, values } = column;
  const checks = table?.checks.filter((check) => check.column === column.name) ?? [];
  const listed = values ?? checks.map(({ condition }) => listOf(condition)).find(Boolean);
  if (listed && listed.length > 0 && listed.every((value) => ENUM_VALUE.test(value))) {
    return {
      code: `field.enum([${listed.map((value) => JSON.stringify(value)).join(", ")}])`,
      field: field.enum(listed),
    };
  }
  const kind = values ? "text" : kindOf(type, grammar);
  const bounds = checks.map(({ condition }) => boundsOf(condition)).find(Boolean) ?? {};
  const code = (options: Readonly<Record<string, string>>) => {
    const members = Object.entries(options).map(([name, value]) => `${name}: ${value}`);
    return members.length > 0 ? `{ ${members.join(", ")} }` : "";
  };
  switch (kind) {
    case "text":
    case "integer":
    case "real":
      return { code: `field.${kind}(${code(bounds)})`, field: field[kind]() };
    case "bigint": {
      const whole = Object.entries(bounds).map(([name, value]) => [name, `${value}n`]);
      return { code: `field.bigint(${code(Object.fromEntries(whole))})`, field: field.bigint() };
    }
    case "decimal": {
      const [precision = ANY_SIZE.precision, scale = sizeOf(type).length > 0 ? 0 : ANY_SIZE.scale] =
        sizeOf(type);
      const texts = Object.entries(bounds).map(([name, value]) => [name, JSON.stringify(value)]);
      const size = { precision: String(precision), scale: String(scale) };
      if (precision > 65 || scale > 30) return undefined;
      return {
        code: `field.decimal(${code({ ...size, ...Object.fromEntries(texts) })})`,
        field: field.decimal({ precision, scale }),
      };
    }
    case "boolean":
    case "json":
    case "timestamp":
    case "date":
    case "time":
    case "uuid":
    case "blob":
      return { code: `field.${kind}()`, field: field[kind]() };
  }
  return undefined;
}

function kindOf(type: string, { brand }: Grammar): FieldKind | undefined {
  const kind = KINDS.find(([pattern]) => pattern.test(type))?.[1];
  // SQLite has whole numbers of 64 bits only, and stores a decimal as a real number.
  if (brand === "SQLite" && kind === "bigint") return "integer";
  return brand === "SQLite" && kind === "decimal" ? "real" : kind;
}

/** Returns the texts of a condition that a column is one of them. */
function listOf(condition: string): readonly string[] | undefined {
  if (!/^\0 (?:in \(|= any \(array\[|= ')/i.test(condition)) return undefined;
  return [...condition.matchAll(/'((?:''|[^'])*)'/g)]
    .map(([, text = ""]) => text.replaceAll("''", "'"));
}

/** Returns the bounds of a condition, as the database writes them. */
function boundsOf(condition: string): Readonly<Record<string, string>> | undefined {
  const of = (operator: string) =>
    new RegExp(`${operator} \\(?'?(-?\\d+(?:\\.\\d+)?)'?`).exec(condition)?.[1];
  const [min, max] = [of(">="), of("<=")];
  if (!condition.includes(COLUMN) || (min === undefined && max === undefined)) return undefined;
  return { ...min !== undefined && { min }, ...max !== undefined && { max } };
}
