/** A simple implementation of conditions and orders. */
import { Buffer } from "node:buffer";

type Row = Readonly<Record<string, unknown>>;

/** Returns whether a condition holds; `null` if that is unknown, as in SQL. */
export function holds(where: object, row: Row): boolean | null {
  return all(
    Object.entries(where).map(([name, condition]) => {
      if (name === "AND") return all(condition.map((part: object) => holds(part, row)));
      if (name === "OR") return not(all(condition.map((part: object) => not(holds(part, row)))));
      if (name === "NOT") return not(holds(condition, row));
      const value = row[name];
      if (typeof condition !== "object" || condition === null || condition instanceof Date) {
        return meets(value, "equals", condition);
      }
      return all(
        Object.entries(condition).map(([operator, it]) => meets(value, operator, it)),
      );
    }),
  );
}

/** Orders as the databases do: `null` first, then numbers by size and text by code point. */
export function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  if (typeof a === "string") return Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
  return Number(a) - Number(b);
}

/** Returns whether a value meets an operator; the operand of `in` is a list. */
function meets(value: unknown, operator: string, operand: unknown): boolean | null {
  if (operator === "isNull") return (value === null) === operand;
  if (operand === null) return (value === null) === (operator === "equals");
  if (operator === "notIn") return not(meets(value, "in", operand));
  if (operator === "in" && (operand as unknown[]).length === 0) return false;
  if (value === null) return null;
  const compared = compare(value, operand);
  switch (operator) {
    case "equals":
      return compared === 0;
    case "not":
      return compared !== 0;
    case "in":
      return (operand as unknown[]).some((it) => compare(value, it) === 0);
    case "lt":
      return compared < 0;
    case "lte":
      return compared <= 0;
    case "gt":
      return compared > 0;
    case "gte":
      return compared >= 0;
    case "contains":
      return String(value).includes(String(operand));
    case "startsWith":
      return String(value).startsWith(String(operand));
    case "endsWith":
      return String(value).endsWith(String(operand));
  }
  throw new Error(`there is no operator ${operator}`);
}

function all(parts: readonly (boolean | null)[]): boolean | null {
  if (parts.includes(false)) return false;
  return parts.includes(null) ? null : true;
}

function not(part: boolean | null): boolean | null {
  return part === null ? null : !part;
}
