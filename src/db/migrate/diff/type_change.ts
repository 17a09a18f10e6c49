/**
 * Which types of columns can become others, and with which losses.
 *
 * @module
 */
import { sizeOf } from "../column_type.ts";
import type { Brand } from "./table_ddl.ts";
import type { ColumnSchema } from "./table_schema.ts";

/** How the values of a column become those of another type. */
export interface TypeChange {
  /** Why some can be others after it: `which can change values`. */
  readonly loss?: string | undefined;
  /** Returns the expression that converts a column, in quotes, on PostgreSQL and SQLite. */
  readonly using?: ((column: string) => string) | undefined;
}

type Family =
  | "integer"
  | "boolean"
  | "real"
  | "decimal"
  | "text"
  | "json"
  | "instant"
  | "date"
  | "time"
  | "uuid"
  | "blob"
  | "array"
  | "other";

const FAMILIES: readonly (readonly [Family, RegExp])[] = [
  ["array", /\[\]$/],
  ["integer", /^(?:tiny|small|medium|big)?int(?:eger)?\b/],
  ["boolean", /^bool/],
  ["real", /^(?:double|real|float)/],
  ["decimal", /^(?:numeric|decimal)/],
  ["text", /^(?:(?:tiny|medium|long)?text|(?:var)?char|character|enum|citext)/],
  ["json", /^json/],
  ["instant", /^(?:timestamp|datetime)/],
  ["date", /^date$/],
  ["time", /^time\b/],
  ["uuid", /^uuid$/],
  ["blob", /^(?:bytea|varbinary|binary|(?:tiny|medium|long)?blob)/],
];

/** The families that the values of each can become; a value that is not of that family fails. */
const BECOMES: Readonly<Record<Family, readonly Family[]>> = {
  integer: ["boolean", "decimal", "real", "text"],
  boolean: ["integer", "text"],
  real: ["text", "decimal", "integer"],
  decimal: ["text", "real", "integer"],
  text: ["integer", "boolean", "real", "decimal", "json", "instant", "date", "time", "uuid"],
  json: ["text"],
  instant: ["text", "date"],
  date: ["text", "instant"],
  time: ["text"],
  uuid: ["text"],
  array: ["json"],
  blob: [],
  other: [],
};
/** The changes that round values, or cut them. */
const LOSSY: readonly string[] = [
  "integer-boolean",
  "integer-real",
  "real-decimal",
  "real-integer",
  "decimal-integer",
  "decimal-real",
  "text-real",
  "text-decimal",
  "text-instant",
  "text-date",
  "text-time",
  "instant-date",
];
const CHANGES = "which can change values";
const KEEPS_UNITS = "which does not convert decimals";

/** Returns how a column becomes one of another type; `undefined` if its values cannot. */
export function typeChange(
  from: ColumnSchema,
  { to, brand: { brand } }: { readonly to: ColumnSchema; readonly brand: Brand },
): TypeChange | undefined {
  if (from.computed !== undefined || to.computed !== undefined) {
    return from.computed === to.computed && from.type === to.type ? {} : undefined;
  }
  if (brand === "SQLite") return sqliteChange(from, to);
  const [before, after] = [familyOf(from), familyOf(to)];
  const cast = (column: string) => `${column}::${to.type}`;
  if (before === after) {
    if (before === "other" || (before === "array" && from.type !== to.type)) {
      return from.type === to.type ? {} : undefined;
    }
    const isCut = before === "decimal" || before === "instant" || before === "time";
    const isCast = before === "json" || to.values !== undefined || from.values !== undefined;
    return {
      ...isCut && isSmaller(to.type, from.type) && { loss: CHANGES },
      ...isCast && { using: to.values ? (column) => cast(`${column}::text`) : cast },
    };
  }
  if (!BECOMES[before].includes(after)) return undefined;
  return {
    ...LOSSY.includes(`${before}-${after}`) && { loss: CHANGES },
    using: before === "boolean" && after === "integer"
      ? (column) => `${column}::int`
      : after === "boolean" && before === "integer"
      ? (column) => `${column} <> 0`
      : before === "array"
      ? (column) => `to_jsonb(${column})`
      : cast,
  };
}

/**
 * A strict table of SQLite converts numbers and text, and refuses other values. A decimal is stored
 * as a whole number, of which the migrations have no scale.
 */
function sqliteChange(from: ColumnSchema, to: ColumnSchema): TypeChange | undefined {
  const [before, after] = [familyOf(from), familyOf(to)];
  if (before === after) return {};
  if (before === "blob" || after === "blob") return undefined;
  if (after === "integer") {
    const scale = to.scale ?? 0;
    if (scale === 0) return {};
    return before === "real"
      ? { loss: CHANGES, using: (column) => `round(${column} * ${10n ** BigInt(scale)})` }
      : { using: decimalOf(scale) };
  }
  const { scale } = from;
  if (before === "integer" && scale === undefined) return { loss: KEEPS_UNITS };
  if (after === "real") {
    return {
      loss: CHANGES,
      ...scale && { using: (column) => `${column} / ${10n ** BigInt(scale)}.0` },
    };
  }
  // Only 15 digits of a real number become text.
  const isRounded = before !== "text" && before !== "integer" && before !== "boolean";
  return {
    ...isRounded && { loss: CHANGES },
    ...scale && { using: textOf(scale) },
  };
}

/** Returns the expression that converts text to a decimal; of other text, a value that fails. */
function decimalOf(scale: number): TypeChange["using"] {
  return (column) => {
    const point = `instr(${column} || '.', '.')`;
    const fraction = `substr(${column}, ${point} + 1)`;
    const zeros = "0".repeat(scale);
    return `case when ${column} glob '*[0-9]*' and ${column} not glob '*[^-0-9.]*'` +
      ` and ${column} not glob '?*-*' and ${column} not glob '*.*.*'` +
      ` and rtrim(substr(${fraction}, ${scale + 1}), '0') = ''` +
      ` then substr(${column}, 1, ${point} - 1) || substr(${fraction} || '${zeros}', 1, ${scale})` +
      ` else ${column} || ' is no decimal' end`;
  };
}

/** Returns the expression that converts a decimal to text. */
function textOf(scale: number): TypeChange["using"] {
  const units = 10n ** BigInt(scale);
  return (column) =>
    `case when ${column} < 0 then '-' else '' end || (abs(${column}) / ${units}) || '.' || ` +
    `substr('${"0".repeat(scale)}' || (abs(${column}) % ${units}), -${scale})`;
}

/** Whether a whole number becomes a boolean, which MySQL stores as one too. */
export function becomesBoolean(from: ColumnSchema, to: ColumnSchema): boolean {
  return familyOf(from) === "integer" && familyOf(to) === "boolean";
}

function familyOf({ type }: ColumnSchema): Family {
  return FAMILIES.find(([, pattern]) => pattern.test(type))?.[0] ?? "other";
}

/** Checks whether a type has fewer digits before or after the point. */
function isSmaller(type: string, other: string): boolean {
  const [digits, scale = 0] = sizeOf(type);
  const [before = digits ?? 0, scaleBefore = 0] = sizeOf(other);
  if (digits === undefined) return false;
  return scale < scaleBefore || digits - scale < before - scaleBefore;
}
