/**
 * The rows after a position, among those whose conditions fix the values of some columns.
 *
 * @module
 */
import { isPlainObject } from "../../model/plain_object.ts";
import { soleOperand } from "../condition.ts";
import { scopeOf } from "../filters.ts";
import type { OrderTerm } from "../find_options.ts";
import type { Operation } from "../operation.ts";
import type { TableColumn } from "../table_column.ts";
import type { KeysetColumn } from "./keyset.ts";

/** The order of a page. */
export interface PageOrder {
  /** The order. */
  readonly order: readonly OrderTerm[];
  /** Its columns. */
  readonly keyset: readonly KeysetColumn[];
}

/**
 * Returns the order in which the rows after a position are read, and the columns by which they come
 * after it: those that have one value in all rows, by the scope and the conditions, do not matter.
 * Where a planner that finds equal values does not go on to the position, they become ranges of one
 * value, and begin the order: the whole is a range of an index then.
 */
export function orderAfter(
  { order, keyset, conditions }: PageOrder & { readonly conditions: readonly unknown[] },
  operation: Operation,
): PageOrder {
  const { table } = operation;
  const fixed = new Set(scopeOf(table, operation).keys());
  for (const where of conditions) {
    for (const column of fixedColumns(where, operation)) fixed.add(column);
  }
  if (fixed.size === 0) return { order, keyset };
  const sorting = keyset.filter(({ column }) => !fixed.has(column));
  const [first] = sorting;
  if (!first) return { order, keyset };
  const { direction } = first;
  const isPlain = sorting.every((it) => it.direction === direction && !it.ignoresCase);
  if (!isPlain || !table.connection.grammar.stopsAtEqual) return { order, keyset: sorting };
  const leading = leadingColumns({ sorting, fixed }, operation);
  operation.ranged = new Set(leading);
  const ranged = leading.map((column) => ({
    name: column.column,
    column,
    direction,
    isNullable: false,
  }));
  const others = order.filter(({ column }) => !column || !leading.includes(column));
  return { order: [...ranged, ...others], keyset: sorting };
}

/** Returns the most fixed columns that an index of the model has before those that sort rows. */
function leadingColumns(
  { sorting, fixed }: {
    readonly sorting: readonly KeysetColumn[];
    readonly fixed: ReadonlySet<TableColumn>;
  },
  { table: { columns, keys, indexes, primaryKey } }: Operation,
): readonly TableColumn[] {
  const references = columns.filter(({ field }) => field.traits.reference).map((one) => [one]);
  let leading: readonly TableColumn[] = [];
  for (const index of [...keys.values(), ...indexes, ...references]) {
    // Rows of an index are in the order of the primary key.
    const whole = [...new Set([...index, ...primaryKey])];
    const count = whole.findIndex((column) => !fixed.has(column));
    if (count <= leading.length) continue;
    const rest = whole.slice(count);
    if (sorting.every(({ column }, at) => column === rest[at])) leading = whole.slice(0, count);
  }
  return leading;
}

/** Returns the columns that have one value in all rows that meet a condition. */
function fixedColumns(where: unknown, operation: Operation): readonly TableColumn[] {
  if (!isPlainObject(where)) return [];
  return Object.entries(where).flatMap(([name, condition]) => {
    if (name === "AND" && Array.isArray(condition)) {
      return condition.flatMap((one) => fixedColumns(one, operation));
    }
    const { table, action } = operation;
    if (table.relations.has(name) || !table.has(name)) return [];
    const column = table.column(name, action);
    const value = soleOperand(condition);
    const isFixed = value !== null && column.rules.comparable && column.rules.accepts(value);
    return isFixed ? [column] : [];
  });
}
