/**
 * Reads the options of groups: what they have in common, the condition on them, and their order.
 *
 * @module
 */
import { AGGREGATES } from "../model/aggregate.ts";
import { membersOf } from "../model/plain_object.ts";
import { isBounded, type OrderTerm, type PageOptions } from "./find_options.ts";
import type { GroupValues } from "./group_values.ts";
import type { Operation } from "./operation.ts";
import type { TableColumn } from "./table_column.ts";

/**
 * Reads the columns of groups.
 *
 * @throws {TypeError} if they are empty, or one is unknown, or cannot be compared
 */
export function readBy(by: unknown, operation: Operation): readonly TableColumn[] {
  if (!Array.isArray(by)) throw operation.mistake("by is not a list");
  const columns = [...new Set(by.map((name) => operation.column(name)))];
  if (columns.length === 0) throw operation.mistake("by names no column");
  for (const { name, rules } of columns) {
    if (!rules.comparable) throw operation.mistake(`${name} cannot be in by`);
  }
  operation.section(`by ${columns.map(({ name }) => name)}`);
  return columns;
}

/**
 * Returns a condition on groups as a `Where` on the columns of their values.
 *
 * @throws {TypeError} if it has an unknown column or aggregate
 */
export function havingWhere(having: unknown, values: GroupValues): unknown {
  const { operation } = values;
  const nested = (part: unknown) => havingWhere(part, values);
  const parts = membersOf(having, "having", operation).map(([name, value]) => {
    if (name === "NOT") return { NOT: nested(value) };
    if (name === "AND" || name === "OR") {
      return { [name]: Array.isArray(value) ? value.map(nested) : value };
    }
    return Object.fromEntries(
      membersOf(value, `having.${name}`, operation)
        .map(([aggregate, condition]) => [values.column(aggregate, name).name, condition]),
    );
  });
  return { AND: parts };
}

/**
 * Reads the order of groups; a total one ends with their columns.
 *
 * @throws {TypeError} if it has another column, an unknown aggregate, or an unknown direction
 */
export function readGroupOrder(
  { orderBy = {}, by, ...page }: PageOptions & { readonly by: readonly TableColumn[] },
  values: GroupValues,
): readonly OrderTerm[] {
  const { operation } = values;
  operation.section("order");
  const order = new Map<TableColumn, OrderTerm["direction"]>();
  const add = (column: TableColumn, direction: unknown) => {
    if (direction !== "asc" && direction !== "desc") {
      throw operation.mistake(`the order of ${column.label} is not asc or desc`);
    }
    operation.add(`${column.name} ${direction},`);
    if (!order.has(column)) order.set(column, direction);
  };
  for (const part of Array.isArray(orderBy) ? orderBy : [orderBy]) {
    for (const [name, direction] of membersOf(part, "orderBy", operation)) {
      if (AGGREGATES.includes(name)) {
        for (const [of, nested] of membersOf(direction, `orderBy.${name}`, operation)) {
          add(values.column(name, of), nested);
        }
        continue;
      }
      const column = operation.column(name);
      if (!by.includes(column)) throw operation.mistake(`${name} is not in by`);
      add(column, direction);
    }
  }
  if (isBounded(page)) { for (const column of by) add(column, order.get(column) ?? "asc"); }
  return Array.from(order, ([{ column, field }, direction]) => {
    return { name: column, direction, isNullable: field.flags.has("nullable") };
  });
}
