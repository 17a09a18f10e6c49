/**
 * Keysets: the columns of a total order, and the condition that a row comes after another in it.
 *
 * @module
 */
import { sql } from "kysely";
import { dbError } from "../../errors.ts";
import type { SortOrder } from "../../model/model.ts";
import { isPlainObject } from "../../model/plain_object.ts";
import { every, rowValue } from "../filters.ts";
import type { OrderTerm } from "../find_options.ts";
import { identity } from "../key.ts";
import type { Operation } from "../operation.ts";
import { compareFilter, type Filter, lowerCase, operandOf, operatorFilter } from "../operators.ts";
import type { AnyRow, TableColumn } from "../table_column.ts";

/** A column of a total order. */
export interface KeysetColumn {
  /** The column. */
  readonly column: TableColumn;
  /** The direction. */
  readonly direction: SortOrder;
  /** Whether A to Z are equal to a to z. */
  readonly ignoresCase: boolean;
}

/**
 * Returns the columns of an order that ends with the primary key.
 *
 * @throws {TypeError} if it has values of related rows, or the model has no key; the subject is
 * what needs it, such as `"a stream"`
 */
export function keysetOf(
  { order, subject }: { readonly order: readonly OrderTerm[]; readonly subject: string },
  operation: Operation,
): readonly KeysetColumn[] {
  if (operation.table.primaryKey.length === 0) {
    throw operation.mistake(`${subject} needs a key, and the model has none`);
  }
  return order.map(({ column, direction, value, lowered }) => {
    if (!column || value && !lowered) {
      throw operation.mistake(`${subject} has no order by related rows`);
    }
    return { column, direction, ignoresCase: lowered !== undefined };
  });
}

/** Adds the columns of a keyset to a `select`; an empty one is a mistake, and stays empty. */
export function withKeyset(select: unknown, keyset: readonly KeysetColumn[]): unknown {
  if (!isPlainObject(select) || Object.keys(select).length === 0) return select;
  return { ...select, ...Object.fromEntries(keyset.map(({ column: { name } }) => [name, true])) };
}

/** Returns a copy of the values of a row in the columns of a keyset: the caller may change them. */
export function positionOf(row: AnyRow, keyset: readonly KeysetColumn[]): AnyRow {
  return structuredClone(
    Object.fromEntries(keyset.map(({ column: { name } }) => [name, row[name]])),
  );
}

/**
 * Checks that none of the rows after a position has the values of that position.
 *
 * @throws {DbError} `Database` if one has: the database stores values, such as microseconds, that
 * the field cannot represent
 */
export function checkBeyond(
  rows: readonly AnyRow[],
  { position, keyset }: Position,
  { action }: Operation,
): void {
  // The last column, which is mostly a key, is that of hardly any other row.
  const values = keyset.map(({ column: { name } }) => [name, identity(position[name])] as const)
    .toReversed();
  const isSame = (row: AnyRow) => values.every(([name, value]) => identity(row[name]) === value);
  if (!rows.some(isSame)) return;
  const reason = "a column of its order is finer than its field";
  throw dbError(action, { code: "Database", reason });
}

/** A position in an order: the values of a row that may no longer exist. */
export interface Position {
  /** The value of each column of the keyset. */
  readonly position: AnyRow;
  /** The order. */
  readonly keyset: readonly KeysetColumn[];
}

/** Returns the condition that a row comes after a position. */
export function afterFilter({ position, keyset }: Position, operation: Operation): Filter {
  operation.section("after");
  const [first] = keyset as [KeysetColumn];
  const { direction } = first;
  const { comparesRows } = operation.table.connection.grammar;
  const isRow = comparesRows && keyset.length > 1 &&
    keyset.every((one) =>
      one.direction === direction && !one.ignoresCase && !one.column.field.flags.has("nullable")
    );
  if (isRow) return rowFilter({ position, keyset }, operation);
  const isBounded = comparesRows && keyset.length > 1;
  const bounds = isBounded ? boundOf(first, { position, operation }) : [];
  const equal: Filter[] = [];
  const alternatives: Filter[] = [];
  for (const one of keyset) {
    const { column, ignoresCase } = one;
    const operand = valueIn(position, one);
    for (const filter of beyond(one, { operand, operation })) {
      alternatives.push(every([...equal, filter]));
    }
    equal.push(operatorFilter({ column, operator: "equals", operand, ignoresCase }, operation));
  }
  const isAfter: Filter = (eb) => eb.or(alternatives.map((filter) => filter(eb)));
  return every([...bounds, isAfter]);
}

/** Compares all columns at once, which an index of them does from the position on. */
function rowFilter({ position, keyset }: Position, operation: Operation): Filter {
  const isDescending = keyset[0]?.direction === "desc";
  operation.add(isDescending ? "rows <" : "rows >");
  const slots = keyset.map(({ column }) => {
    const value = column.encode(position[column.name], operation.action);
    return operation.bind(`${column.name},`, value);
  });
  return () => {
    const { rowid } = operation.table;
    const operands = keyset.map(({ column }, index) => {
      const operand = operandOf(slots[index]!, column);
      // SQLite uses an index for columns with a collation, which the rowid does not have by itself.
      return column === rowid ? sql`${operand} collate binary` : operand;
    });
    const names = keyset.map(({ column }) => operation.ref(column));
    const operator = sql.raw(isDescending ? "<" : ">");
    return sql`${rowValue(names)} ${operator} (${sql.join(operands)})`;
  };
}

/**
 * Returns the condition on the first column alone, if it excludes rows: an index finds those by it,
 * where the database does not derive it from the others. MySQL does, and plans longer with it.
 */
function boundOf(
  one: KeysetColumn,
  { position, operation }: { readonly position: AnyRow; readonly operation: Operation },
): readonly Filter[] {
  const { column, direction, ignoresCase } = one;
  const isUpper = direction === "desc";
  const operand = valueIn(position, one);
  // Those that are `null` come after each value.
  if (operand === null || isUpper && column.field.flags.has("nullable")) return [];
  const operator = isUpper ? "<=" : ">=";
  return [compareFilter({ column, operator, operand, ignoresCase }, operation)];
}

function valueIn(position: AnyRow, { column: { name }, ignoresCase }: KeysetColumn): unknown {
  return ignoresCase ? lowerCase(position[name]) : position[name];
}

/** Returns the conditions that a value comes after another: `null` comes before all. */
function beyond(
  { column, direction, ignoresCase }: KeysetColumn,
  { operand, operation }: { readonly operand: unknown; readonly operation: Operation },
): readonly Filter[] {
  const isNull = (operator: "equals" | "not") =>
    operatorFilter({ column, operator, operand: null }, operation);
  if (direction === "asc") {
    return [
      operand === null
        ? isNull("not")
        : compareFilter({ column, operator: ">", operand, ignoresCase }, operation),
    ];
  }
  if (operand === null) return [];
  const less = compareFilter({ column, operator: "<", operand, ignoresCase }, operation);
  return column.field.flags.has("nullable") ? [less, isNull("equals")] : [less];
}
