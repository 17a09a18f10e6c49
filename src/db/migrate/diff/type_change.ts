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
  /** Whether values can be rounded or cut. */
  readonly isLossy: boolean;
  /** The expression that converts them on PostgreSQL, where {@linkcode VALUE} is the column. */
  readonly using?: string;
}

/** Stands for the column in the expression of a {@linkcode TypeChange}. */
export const VALUE = "$";

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
  integer: ["decimal", "real", "text"],
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
const LOSSY: readonly string[] = [
  "real-decimal",
  "real-integer",
  "decimal-integer",
  "instant-date",
];

/** Returns how a column becomes one of another type; `undefined` if its values cannot. */
export function typeChange(
  from: ColumnSchema,
  { to, brand: { brand } }: { readonly to: ColumnSchema; readonly brand: Brand },
): TypeChange | undefined {
  if (from.computed !== undefined || to.computed !== undefined) {
    return from.computed === to.computed && from.type === to.type ? { isLossy: false } : undefined;
  }
  const [before, after] = [familyOf(from), familyOf(to)];
  if (brand === "SQLite") {
    // A strict table refuses values of another type, and changes none.
    return before === after || (before !== "blob" && after !== "blob")
      ? { isLossy: false }
      : undefined;
  }
  if (before === after) {
    if (before === "other" || (before === "array" && from.type !== to.type)) {
      return from.type === to.type ? { isLossy: false } : undefined;
    }
    const isNarrower = before === "decimal" && isSmaller(to.type, from.type);
    const isCut = before === "instant" || before === "time" ? isSmaller(to.type, from.type) : false;
    const isCast = before === "json" || to.values !== undefined || from.values !== undefined;
    return {
      isLossy: isNarrower || isCut,
      ...isCast && { using: to.values ? `${VALUE}::text::${to.type}` : `${VALUE}::${to.type}` },
    };
  }
  if (!BECOMES[before].includes(after)) return undefined;
  const isLossy = LOSSY.includes(`${before}-${after}`);
  const using = before === "boolean" && after === "integer"
    ? `${VALUE}::int`
    : before === "array"
    ? `to_jsonb(${VALUE})`
    : `${VALUE}::${to.type}`;
  return { isLossy, using };
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
