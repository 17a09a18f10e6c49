/** A simple implementation of conditions and orders. */
import { Buffer } from "node:buffer";

/** A row of any model. */
export type Row = Readonly<Record<string, unknown>>;

/** Returns the rows of a relation of a row; `undefined` if it has no such relation. */
export type Related = (row: Row, name: string) => readonly Row[] | undefined;

/** Returns whether a condition holds; `null` if that is unknown, as in SQL. */
export function holds(
  where: object,
  row: Row,
  related: Related = () => undefined,
): boolean | null {
  const part = (where: object) => holds(where, row, related);
  return all(
    Object.entries(where).map(([name, condition]) => {
      if (name === "AND") return all(condition.map(part));
      if (name === "OR") return not(all(condition.map((where: object) => not(part(where)))));
      if (name === "NOT") return not(part(condition));
      const rows = related(row, name);
      if (rows) return haveRelated(condition, rows, related);
      const value = row[name];
      if (typeof condition !== "object" || condition === null || condition instanceof Date) {
        return meets(value, "equals", condition);
      }
      const { mode, ...operators } = condition as Row;
      const text = (it: unknown) => inMode(mode, it);
      return all(
        Object.entries(operators).map(([operator, it]) => meets(text(value), operator, text(it))),
      );
    }),
  );
}

/** Returns text as a mode compares it. */
export function inMode(mode: unknown, value: unknown): unknown {
  if (mode !== "insensitive") return value;
  if (Array.isArray(value)) return value.map((it) => inMode(mode, it));
  if (typeof value !== "string") return value;
  return value.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Orders as the databases do: `null` first, then numbers by size and text by code point. */
export function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  if (typeof a === "string") return Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
  return Number(a) - Number(b);
}

/** Returns whether related rows meet operators, or the one row a condition: that is never unknown. */
function haveRelated(condition: object | null, rows: readonly Row[], related: Related): boolean {
  if (condition === null) return rows.length === 0;
  const count = (where: object) => rows.filter((row) => holds(where, row, related) === true).length;
  const { is, isNot, some, every, none, ...bare } = condition as Record<string, object | null>;
  const isBare = Object.keys(bare).length > 0 || Object.keys(condition).length === 0;
  return [
    is === undefined || (is === null ? rows.length === 0 : count(is) > 0),
    isNot === undefined || (isNot === null ? rows.length > 0 : count(isNot) === 0),
    !some || count(some) > 0,
    !every || count(every) === rows.length,
    !none || count(none) === 0,
    !isBare || count(bare) > 0,
  ].every((it) => it);
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
