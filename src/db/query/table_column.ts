/**
 * The columns of tables: their names, codecs and limits, and how they are selected and decoded.
 *
 * @module
 */
import { type AliasedExpression, sql } from "kysely";
import type { Codec, Grammar } from "../connection/grammar.ts";
import type { DriverRow } from "../connection/statement.ts";
import { DbError, dbError } from "../errors.ts";
import { FIELD_KINDS, type FieldKindRules } from "../model/field_kind.ts";
import { type AnyField, columnOf, isGenerated, isUnique } from "../model/model.ts";
import { testsOf, textOfAtMost, type ValueTest } from "../model/field_rules.ts";

/** A row of any model. */
export type AnyRow = Record<string, unknown>;

/**
 * How many of the largest generated keys cannot be given: generated keys follow the largest one,
 * and must not reach numbers that cannot be read.
 */
const RESERVED_KEYS = 2 ** 32;
const MAX_INT64 = 2n ** 63n - 1n;

/** A column in an open database. */
export class TableColumn {
  /** The name of its field. */
  readonly name: string;
  /** Its name in the SQL. */
  readonly column: string;
  /** Its name in error messages. */
  readonly label: string;
  /** The name of its model. */
  readonly table: string;
  /** Its index among the columns of the model. */
  readonly index: number;
  /** Its field in the model. */
  readonly field: AnyField;
  /** The SQL of its database. */
  readonly grammar: Grammar;
  /** Encodes and decodes its values. */
  readonly codec: Codec;
  /** The rules of its kind. */
  readonly rules: FieldKindRules;
  /** Whether an index has it, as each that is unique or a reference. */
  readonly isIndexed: boolean;
  /** What stored values have to be, beside those of the kind; mostly nothing. */
  readonly #tests: readonly ValueTest[];

  /** Creates a column of a model's table. */
  constructor(
    name: string,
    field: AnyField,
    { table, grammar, index, isIndexed = false, label = name }: {
      table: string;
      grammar: Grammar;
      index: number;
      isIndexed?: boolean;
      label?: string;
    },
  ) {
    this.name = name;
    this.column = columnOf(name, field);
    this.label = label;
    this.table = table;
    this.index = index;
    this.field = field;
    this.grammar = grammar;
    this.codec = grammar.codecs[field.kind];
    this.rules = FIELD_KINDS[field.kind];
    this.isIndexed = isIndexed || isUnique(field) || field.traits.reference !== undefined;
    const limit = storageLimit(this);
    this.#tests = [...testsOf(field), ...limit ? [limit] : []];
  }

  /**
   * Encodes a value to be stored, or `null`. Elements that are added to a list are a part of it, of
   * which nothing but the elements is tested.
   *
   * @throws {TypeError} if it is `undefined`
   * @throws {DbError} `CheckViolation` as of `encode`, or if it breaks a rule of the field, or
   * exceeds the limit of the column
   */
  store(value: unknown, action: string, { isPart = false } = {}): unknown {
    if (value === null) return null;
    const encoded = this.encode(value, action);
    for (const { admits, takes, rule } of this.#tests) {
      if (isPart && rule !== "elements" || admits(value)) continue;
      const reason = `${this.name} takes ${takes}`;
      throw dbError(action, { code: "CheckViolation", fields: [this.name], reason });
    }
    return encoded;
  }

  /**
   * Encodes a value for the driver.
   *
   * @throws {TypeError} if it is `undefined`
   * @throws {DbError} `CheckViolation` if it is of another type, `null` included, or not every
   * database stores it unchanged
   */
  encode(value: unknown, action: string): unknown {
    this.check(value, action);
    return this.codec.encode(value, this.field);
  }

  /**
   * Checks a value.
   *
   * @throws {TypeError} if it is `undefined`
   * @throws {DbError} `CheckViolation` if it is of another type, `null` included, or not every
   * database stores it unchanged
   */
  check(value: unknown, action: string): void {
    const { rules, field, label: name } = this;
    const isAccepted = value !== null && rules.accepts(value);
    if (isAccepted && rules.keeps(value, field.traits)) return;
    const given = value === null ? "null" : typeof value;
    const { list } = field.traits;
    const reason = !isAccepted
      ? `${name} takes ${rules.type}, not ${given}`
      : list === undefined
      ? undefined
      : `${name} takes one of ${list.replaceAll("|", ", ")}`;
    // No client can send it: the caller has forgotten a value.
    if (value === undefined) throw new TypeError(`Cannot ${action}: ${reason}`);
    throw dbError(action, { code: "CheckViolation", fields: [name], reason });
  }

  /**
   * Decodes a value that the driver read.
   *
   * @throws {DbError} `Database`, naming the column, if the field cannot have the value
   */
  decode(raw: unknown): unknown {
    try {
      return this.codec.decode(raw, this.field);
    } catch (cause) {
      // the messages of other errors contain the value
      const reason = cause instanceof RangeError ? cause.message : `it is not ${this.rules.type}`;
      throw new DbError("Database", `Cannot read ${this.table}.${this.label}: ${reason}`, {
        cause,
      });
    }
  }
}

/** What selects a column. */
export type Selection = string | AliasedExpression<unknown, string>;

/** Selects columns; their names in the result are not significant. */
export function selectionOf(columns: readonly TableColumn[]): Selection[] {
  return columns.map(({ column, grammar, field }) =>
    // Rows are ordered by the column, so the expression that reads it has another name.
    grammar.read?.(sql.ref(column), field)?.as(`${column}~`) ?? column
  );
}

/** Selects a column under another name; `from` is its name in a subquery or a join table. */
export function selectAs(
  { grammar, field }: TableColumn,
  { from, alias }: { readonly from: string; readonly alias: string },
): Selection {
  const read = grammar.read?.(sql.ref(from), field);
  return read ? read.as(alias) : from === alias ? from : `${from} as ${alias}`;
}

/** Selects the number of rows. */
export function countOfRows(): AliasedExpression<number, "count"> {
  return sql<number>`count(*)`.as("count");
}

/** Values by column. */
export type Values = ReadonlyMap<TableColumn, unknown>;

/** Decodes the values of columns, in their order, into a row. */
export function decodeRow(values: DriverRow, columns: readonly TableColumn[]): AnyRow {
  const row: AnyRow = {};
  let index = 0;
  for (const column of columns) {
    const value = values[index++];
    row[column.name] = value === null ? null : column.decode(value);
  }
  return row;
}

/** Returns the limit of the values that a column stores, if it has one. */
function storageLimit(
  { field, isIndexed, grammar: { maxIndexedText } }: {
    readonly field: AnyField;
    readonly isIndexed: boolean;
    readonly grammar: Grammar;
  },
): ValueTest | undefined {
  if (isGenerated(field)) {
    const largest = field.kind === "bigint"
      ? MAX_INT64 - BigInt(RESERVED_KEYS)
      : Number.MAX_SAFE_INTEGER - RESERVED_KEYS;
    return { takes: `at most ${largest}`, admits: (key) => (key as number | bigint) <= largest };
  }
  if (maxIndexedText === undefined || field.kind !== "text" || !isIndexed) return undefined;
  return textOfAtMost(maxIndexedText);
}
