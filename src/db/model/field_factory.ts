/**
 * What makes the fields of models.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { Field, NO_SIZE } from "./field.ts";
import type { FieldKind, Joined } from "./field_kind.ts";
import { type Bounds, checkBounds } from "./field_rules.ts";
import type { DecimalSize } from "./stored_value.ts";

/** A list has the others between and around its values, in types and in SQL. */
const ENUM_VALUE = /^[^|()?'"\\\p{Cc}]{1,100}$/u;

/** Makes fields; see {@linkcode field}. */
export interface FieldFactory {
  /**
   * A whole number within ±(2^53 - 1), or within bounds: `field.integer({ min: 0 })`; a 64-bit
   * column.
   *
   * @throws {TypeError} if a bound is not a whole number, or `min` is over `max`
   */
  integer(bounds?: Bounds<number>): Field<"integer">;
  /**
   * A `bigint` from -(2^63) to 2^63 - 1, or within bounds.
   *
   * @throws {TypeError} if a bound is not a bigint, or `min` is over `max`
   */
  bigint(bounds?: Bounds<bigint>): Field<"bigint">;
  /**
   * A string without U+0000, compared exactly and case-sensitively. Bounds are those of its length
   * in characters (code points): `field.text({ min: 2, max: 80 })`.
   *
   * @throws {TypeError} if a bound is not a whole number of 0 or more, or `min` is over `max`
   */
  text(length?: Bounds<number>): Field<"text">;
  /**
   * One of a list of texts: `field.enum(["draft", "published"])`. It is stored and ordered as text,
   * and has no order operators. A stored value that is not in the list cannot be read.
   *
   * @throws {TypeError} if there is no value, or one twice, or one is empty, longer than 100
   * characters, or has a control character or one of `|()?'"` and the backslash
   */
  enum<const T extends readonly string[]>(values: T): Field<"enum", never, never, Joined<T>>;
  /** True or false. */
  boolean(): Field<"boolean">;
  /**
   * A finite double, or one within bounds; -0 is stored as 0.
   *
   * @throws {TypeError} if a bound is not a number, or `min` is over `max`
   */
  real(bounds?: Bounds<number>): Field<"real">;
  /**
   * An exact decimal number, as text: `"-12.50"`. It is read with `scale` digits after the point,
   * and never rounded: a value with more is a `CheckViolation`. It can have bounds:
   * `field.decimal({ precision: 12, scale: 2, min: "0" })`.
   *
   * @throws {RangeError} if `precision` is not 1 to 65, or `scale` not 0 to 30 or over `precision`
   * @throws {TypeError} if a bound is not such a number, or `min` is over `max`
   */
  decimal(size: DecimalSize & Bounds<string>): Field<"decimal">;
  /** A JSON value, up to 31 levels deep. It has no order, and is compared with `null` only. */
  json(): Field<"json">;
  /**
   * JSON that a schema of any library checks when it is written (valibot, zod, arktype). Rows have
   * the output of the schema, which is stored, and data has its input. What is read is not checked.
   *
   * A value that the schema refuses is a `CheckViolation`, and so is an output that is not JSON,
   * such as a `Date`. `null` is that of the column: the schema does not see it.
   */
  json<S extends StandardSchemaV1>(schema: S): Field<"json", never, never, S>;
  /** A `Date` in milliseconds, of the years 1000 to 9999. */
  timestamp(): Field<"timestamp">;
  /**
   * A timestamp that the repository sets when it creates a row, unless the data has one. All that
   * an operation writes has the same time; `DbOptions.now` sets the clock.
   */
  createdAt(): Field<"timestamp", "default" | "clock">;
  /**
   * A timestamp that the repository sets when it creates a row, and each time it updates one,
   * unless the data has one. An update that sets no column, nor the next version, leaves it.
   */
  updatedAt(): Field<"timestamp", "default" | "clock">;
  /**
   * A timestamp that marks rows as deleted: `null`, or when `delete` or `deleteMany` of the
   * repository marked the row. Such rows are hidden except from `withDeleted()`, and `purge`
   * deletes rows. A model has at most one.
   */
  deletedAt(): Field<"timestamp", "nullable" | "deletedAt">;
  /**
   * The version of rows: a whole number that is 1 in a new row, and that each update of the row
   * increments. Data cannot set it. The `where` of `update`, `delete` and `purge` can name it: for
   * a row that has another version, they fail with `Conflict`. An update that writes neither the
   * row nor related rows leaves it unchanged, and so does SQL beside the repository. A model has at
   * most one.
   */
  version(): Field<"integer", "default" | "version">;
  /**
   * A date of the calendar as text, of the years 1000 to 9999: `"2026-11-26"`. It has no time zone,
   * and must exist.
   */
  date(): Field<"date">;
  /**
   * A time of the day as text: `"12:30:00"`, or with milliseconds that are not 0, `"12:30:00.500"`.
   * It has no time zone.
   */
  time(): Field<"time">;
  /** A UUID as text, read in lower case. */
  uuid(): Field<"uuid">;
  /** Bytes: a `Uint8Array`. */
  blob(): Field<"blob">;
}

/** Makes the fields of a {@linkcode model}; a field is required unless declared otherwise. */
export const field: FieldFactory = {
  integer: (bounds) => plain("integer", bounds),
  bigint: (bounds) => plain("bigint", bounds),
  text: (length) => plain("text", length),
  enum: (values) => {
    if (values.length === 0 || new Set(values).size < values.length) {
      throw new TypeError("Cannot define enum: it has no value, or one twice");
    }
    const other = values.find((value) => !ENUM_VALUE.test(value) || !value.isWellFormed());
    if (other !== undefined) {
      throw new TypeError(`Cannot define enum: ${JSON.stringify(other)} is not a value`);
    }
    // The type joins them in the same way.
    return new Field("enum", new Set(), { size: NO_SIZE, list: values.join("|") as never });
  },
  boolean: () => plain("boolean"),
  real: (bounds) => plain("real", bounds),
  decimal: ({ precision, scale, ...bounds }) => {
    if (!isWithin(precision, [1, 65]) || !isWithin(scale, [0, Math.min(30, precision)])) {
      throw new RangeError(
        `Cannot define decimal: precision ${precision} is not 1 to 65, or scale ${scale} not 0 to ` +
          "30 or over it",
      );
    }
    return plain("decimal", { ...bounds, size: { precision, scale } });
  },
  json: <S extends StandardSchemaV1>(schema?: S) =>
    new Field<"json", never, never, S>("json", new Set(), {
      size: NO_SIZE,
      ...schema && { of: schema },
    }),
  timestamp: () => plain("timestamp"),
  createdAt: () => timed("create"),
  updatedAt: () => timed("update"),
  deletedAt: () =>
    new Field("timestamp", new Set(["nullable" as const, "deletedAt" as const]), { size: NO_SIZE }),
  version: () =>
    new Field("integer", new Set(["default" as const, "version" as const]), {
      size: NO_SIZE,
      defaultValue: 1,
    }),
  date: () => plain("date"),
  time: () => plain("time"),
  uuid: () => plain("uuid"),
  blob: () => plain("blob"),
};

function plain<K extends FieldKind>(
  kind: K,
  { size = NO_SIZE, ...bounds }: Bounds & { readonly size?: DecimalSize } = {},
): Field<K> {
  checkBounds(bounds, { kind, size });
  const rules = Object.keys(bounds).length > 0 && { rules: { bounds } };
  return new Field(kind, new Set(), { size, ...rules });
}

function timed(clock: "create" | "update"): Field<"timestamp", "default" | "clock"> {
  const flags = new Set(["default" as const, "clock" as const]);
  return new Field("timestamp", flags, { size: NO_SIZE, clock });
}

function isWithin(value: number, [least, most]: readonly [number, number]): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most;
}
