/**
 * Joins filters, and builds those of scopes and of unique columns.
 *
 * @module
 */
import { type Expression, sql, type SqlBool } from "kysely";
import type { Operation, OperationContext } from "./operation.ts";
import { type Builder, compareFilter, type Filter, scopeFilter } from "./operators.ts";
import type { Table } from "./table.ts";
import type { TableColumn, Values } from "./table_column.ts";

/** The most conditions that one expression joins. */
const MAX_WIDTH = 100;

/** Holds where all filters hold. */
export function every(filters: readonly Filter[]): Filter {
  return balanced(filters, (eb, parts) => eb.and(parts));
}

/** Holds where at least one filter holds. */
export function either(filters: readonly Filter[]): Filter {
  return balanced(filters, (eb, parts) => eb.or(parts));
}

/** Returns the filters of rows whose columns have these values. */
export function valueFilters(values: Values, operation: Operation): readonly Filter[] {
  return Array.from(
    values,
    ([column, operand]) => compareFilter({ column, operator: "=", operand }, operation),
  );
}

/** Whose rows a filter is on. */
export interface FilteredTable {
  /** The table; that of the operation unless given. */
  readonly table?: Table;
  /** The name of its rows in the SQL, where that of a column alone has two meanings. */
  readonly of?: string;
}

/** Returns the filters of the rows of a table that are in the scope, and not hidden. */
export function scopeFilters(
  operation: Operation,
  { table = operation.table, of }: FilteredTable = {},
): readonly Filter[] {
  const scoped = Array.from(
    scopeOf(table, operation),
    ([column, operand]) => scopeFilter({ column, operand, of }, operation),
  );
  return operation.seesDeleted ? scoped : [...scoped, ...liveFilters(table, { operation, of })];
}

/** Returns the filter of the rows of a table that are not marked as deleted, if it has marks. */
export function liveFilters(
  { mark }: Table,
  { operation, of }: { readonly operation: Operation; readonly of?: string | undefined },
): readonly Filter[] {
  if (!mark) return [];
  operation.add(`${mark.name} unset,`);
  const ref = of === undefined ? operation.ref(mark) : `${of}.${mark.column}`;
  return [(eb) => eb(ref, "is", null)];
}

/** Checks whether rows of a table are not found: those out of scope, and those that are hidden. */
export function hasUnseen({ table, scope, seesDeleted }: OperationContext): boolean {
  return scope.size > 0 || (table.mark !== undefined && !seesDeleted);
}

/**
 * Returns the part of a scope that holds for the rows of a table: the columns that it has.
 *
 * @throws {TypeError} if a column of the same name is of another kind, or the version of rows
 */
export function scopeOf(table: Table, operation: Operation): Values {
  const own = new Map<TableColumn, unknown>();
  for (const [{ name, field: { kind } }, value] of operation.scope) {
    if (!table.has(name)) continue;
    const column = table.column(name, operation.action);
    if (column.field.kind !== kind) {
      throw operation.mistake(`${name} is in the scope, and of ${table.name} no ${kind}`);
    }
    if (column === table.version) {
      throw operation.mistake(`${name} is in the scope, and the version of ${table.name}`);
    }
    own.set(column, value);
  }
  return own;
}

/** Returns the filter of the row in the scope whose unique columns have these values. */
export function uniqueFilter(unique: Values, operation: Operation): Filter {
  return every([...scopeFilters(operation), every(valueFilters(unique, operation))]);
}

/**
 * Returns the filter of rows to write. Where a statement cannot read the table that it writes,
 * these rows are found before: DISTINCT keeps their query from becoming a part of the statement.
 */
export function targetFilter(filter: Filter, { table, readsTarget }: Operation): Filter {
  const { source, primaryKey, connection: { grammar: { targetQuery } } } = table;
  if (!readsTarget || !targetQuery) return filter;
  const key = primaryKey.map(({ column }) => column);
  return (eb) => {
    const found = eb.selectFrom(source).select(key).distinct().where(filter)
      .withPlugin(targetQuery);
    return eb(rowValue(key), "in", eb.selectFrom(found.as("~rows")).select(key));
  };
}

/** Returns a column, or several of them as one value. */
export function rowValue(names: readonly string[]): Expression<unknown> {
  const refs = names.map((name) => sql.ref(name));
  return refs.length === 1 ? refs[0]! : sql`(${sql.join(refs)})`;
}

/**
 * Databases and compilers recurse into the tree of a condition: a long list must not become deep.
 */
function balanced(
  filters: readonly Filter[],
  join: (eb: Builder, parts: Expression<SqlBool>[]) => Expression<SqlBool>,
): Filter {
  if (filters.length <= MAX_WIDTH) return (eb) => join(eb, filters.map((filter) => filter(eb)));
  const middle = filters.length >> 1;
  const halves = [filters.slice(0, middle), filters.slice(middle)];
  return balanced(halves.map((half) => balanced(half, join)), join);
}
