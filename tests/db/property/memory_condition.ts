/** A simple implementation of conditions and orders. */
import { Buffer } from "node:buffer";

/** A row of any model. */
export type Row = Readonly<Record<string, unknown>>;

/** Returns the rows of a relation of a row; `undefined` if it has no such relation. */
export type Related = (row: Row, name: string) => readonly Row[] | undefined;

/** A condition that is a function of Kysely, and the same one as data. */
export interface KyselyCondition {
  readonly same: object;
}

/** Returns whether a condition holds; `null` if that is unknown, as in SQL. */
export function holds(
  where: object,
  row: Row,
  related: Related = () => undefined,
): boolean | null {
  if (isOfKysely(where)) return holds(where.same, row, related);
  const part = (where: object) => holds(where, row, related);
  return all(
    Object.entries(where).map(([name, condition]) => {
      if (name === "AND") return all(condition.map(part));
      if (name === "OR") return not(all(condition.map((where: object) => not(part(where)))));
      if (name === "NOT") return not(part(condition));
      const rows = related(row, name);
      if (rows) return haveRelated(condition, rows, related);
      const value = row[name];
      if (!isPlain(condition)) return meets(value, "equals", condition);
      const { mode, path, ...operators } = condition;
      const met = (operator: string, it: unknown) =>
        path ? meetsAt(value, { path, operator, operand: it }) : meets(value, operator, it);
      const text = (it: unknown) => inMode(mode, it);
      return all(
        Object.entries(operators).map(([operator, it]) =>
          mode === undefined ? met(operator, it) : meets(text(value), operator, text(it))
        ),
      );
    }),
  );
}

function isOfKysely(where: object): where is KyselyCondition {
  return typeof where === "function" && "same" in where;
}

/** Returns text as a mode compares it. */
export function inMode(mode: unknown, value: unknown): unknown {
  if (mode !== "insensitive") return value;
  if (Array.isArray(value)) return value.map((it) => inMode(mode, it));
  if (typeof value !== "string") return value;
  return value.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** A decimal: no text of the tests looks like one. */
const DECIMAL = /^-?\d+\.(?:\d\d|\d{6})$/;

/** Orders as the databases do: `null` first, then numbers by size and text by code point. */
export function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  if (typeof a !== "string") return inOrder(a as number, b as number);
  if (DECIMAL.test(a)) return inOrder(digitsOf(a), digitsOf(b));
  return Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
}

/** Returns the digits of a decimal as a whole number. */
export function digitsOf(decimal: unknown): bigint {
  return BigInt(String(decimal).replace(".", ""));
}

/** Returns the columns that a condition on one row names, those of its keys among them. */
export function flat(where: object): Row {
  return Object.assign(
    {},
    ...Object.entries(where).map(([name, value]) =>
      isPlain(value) && !("equals" in value) ? value : { [name]: value }
    ),
  );
}

/** Returns a value as text that tells it from others. */
export function textOf(value: unknown): string {
  return JSON.stringify(value, (_, it) => typeof it === "bigint" ? `${it}n` : it);
}

function inOrder<N extends number | bigint>(a: N, b: N): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isPlain(condition: unknown): condition is Row {
  return typeof condition === "object" && condition !== null &&
    !(condition instanceof Date) && !Array.isArray(condition);
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
  const isEmptyList = Array.isArray(operand) && operand.length === 0;
  if (isEmptyList && (operator === "in" || operator === "hasSome")) return false;
  if (isEmptyList && operator === "hasEvery") return true;
  if (value === null) return null;
  if (Array.isArray(value)) return hasElements(value, operator, operand);
  if (Array.isArray(operand)) return operand.some((it) => compare(value, it) === 0);
  const compared = compare(value, operand);
  switch (operator) {
    case "equals":
      return compared === 0;
    case "not":
      return compared !== 0;
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

function hasElements(list: readonly unknown[], operator: string, operand: unknown): boolean {
  const has = (it: unknown) => list.includes(it);
  switch (operator) {
    case "equals":
      return textOf(list) === textOf(operand);
    case "not":
      return textOf(list) !== textOf(operand);
    case "isEmpty":
      return (list.length === 0) === operand;
    case "hasSome":
      return (operand as unknown[]).some(has);
  }
  return [operand].flat().every(has);
}

/** A condition on the value at a path. */
interface AtPath {
  readonly path: unknown;
  readonly operator: string;
  readonly operand: unknown;
}

/** Returns whether the value at a path in JSON meets an operator; `null` if there is no value. */
function meetsAt(json: unknown, { path, operator, operand }: AtPath): boolean | null {
  const value = (path as unknown[]).reduce(member, json === null ? undefined : json);
  if (operator === "isSet") return (value !== undefined) === operand;
  if (value === undefined) return null;
  switch (operator) {
    case "equals":
      return value === operand;
    case "not":
      return value !== operand;
    case "array_contains":
      return Array.isArray(value) && [operand].flat().every((it) => value.includes(it));
    case "string_contains":
      return typeof value === "string" && value.includes(String(operand));
    case "string_starts_with":
      return typeof value === "string" && value.startsWith(String(operand));
    case "string_ends_with":
      return typeof value === "string" && value.endsWith(String(operand));
  }
  return typeof value === "number" && meets(value, operator, operand);
}

/** Returns a member of an object, or an element of a list. */
function member(value: unknown, step: unknown): unknown {
  if (typeof step === "number") return Array.isArray(value) ? value[step] : undefined;
  if (!isPlain(value) || !Object.hasOwn(value, String(step))) return undefined;
  return value[String(step)];
}

function all(parts: readonly (boolean | null)[]): boolean | null {
  if (parts.includes(false)) return false;
  return parts.includes(null) ? null : true;
}

function not(part: boolean | null): boolean | null {
  return part === null ? null : !part;
}
