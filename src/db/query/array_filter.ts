/**
 * Reads the operators on an array, and builds their SQL.
 *
 * @module
 */
import { sql } from "kysely";
import { either, every } from "./filters.ts";
import type { Operation } from "./operation.ts";
import { type Comparison, type Filter, operatorFilter } from "./operators.ts";

/**
 * Reads one operator on an array.
 *
 * @throws {TypeError} if an array has no such operator
 * @throws {DbError} `CheckViolation` if the operand is of another type
 */
export function arrayFilter(comparison: Comparison<string>, operation: Operation): Filter {
  const { column, operator, operand } = comparison;
  const { grammar: { arrays }, name, label } = column;
  if (operand === null || operator === "isNull") return operatorFilter(comparison, operation);
  // An unqualified name could be that of a column of a function of SQLite.
  const ref = sql.ref(`${operation.rows}.${column.column}`);
  const bind = (list: unknown, operator: string) =>
    operation.bind(`${name} ${operator},`, column.encode(list, operation.action));
  const hasEvery = (elements: readonly unknown[]): Filter => {
    const list = bind(elements, "hasEvery");
    return () => arrays.hasEvery(ref, list, column.field);
  };
  switch (operator) {
    case "equals":
    case "not": {
      const list = bind(operand, operator);
      const equals: Filter = () => arrays.equals(ref, list);
      return operator === "equals" ? equals : (eb) => eb.not(equals(eb));
    }
    case "has":
      return hasEvery([operand]);
    case "hasEvery":
      if (!Array.isArray(operand)) break;
      if (operand.length > 0) return hasEvery(operand);
      operation.add(`${name} hasEvery [],`);
      return every([]);
    case "hasSome": {
      if (!Array.isArray(operand)) break;
      const { hasSome } = arrays;
      if (!hasSome || operand.length === 0) {
        operation.add(`${name} hasSome ${operand.length},`);
        return either(Array.from(operand, (element) => hasEvery([element])));
      }
      const list = bind(operand, operator);
      return () => hasSome(ref, list);
    }
    case "isEmpty":
      if (typeof operand !== "boolean") break;
      operation.add(`${name} isEmpty ${operand},`);
      return (eb) => eb(arrays.length(ref), operand ? "=" : ">", sql.lit(0));
  }
  throw operation.mistake(`${label} takes no ${JSON.stringify(operator)} of ${typeof operand}`);
}
