/** Groups of things in memory, and their aggregates. */
import { compare, digitsOf, holds, textOf } from "./memory_condition.ts";
import type { Column, Thing } from "../support/thing.ts";
import type { Grouping } from "../support/thing_operations.ts";

/** A sum that no number can represent. */
export class TooLarge extends Error {
  readonly label: string;
  constructor(label: string) {
    super(label);
    this.label = label;
  }
}

const FUNCTIONS = ["_count", "_sum", "_avg", "_min", "_max"] as const;
type Values = Readonly<Record<string, unknown>>;

/** Returns the aggregates of rows. */
export function aggregatesOf(rows: readonly Thing[], options: Grouping): Values {
  const result: Record<string, unknown> = {};
  for (const name of FUNCTIONS) {
    const given = options[name];
    if (given === undefined) continue;
    const value = (column: string) => readable(aggregateOf(rows, name, column), name, column);
    result[name] = given === true
      ? rows.length
      : Object.fromEntries(Object.keys(given).map((column) => [column, value(column)]));
  }
  return result;
}

/** Returns the groups of rows, in lists that may each be in any order. */
export function groupsOf(
  rows: readonly Thing[],
  options: Grouping,
): readonly (readonly Values[])[] {
  const { by = [], having, orderBy = [], take, skip = 0 } = options;
  const groups = Map.groupBy(rows, (row) => textOf(by.map((name) => row[name])));
  const kept = [...groups.values()].filter((rows) =>
    having === undefined || holds(flat(having), valuesIn(rows)) === true
  );
  const order = orderBy.flatMap((part) => termsOf(part));
  if (take !== undefined || options.skip !== undefined) {
    order.push(...by.map((name) => [name, "asc"] as const));
  }
  const between = (a: readonly Thing[], b: readonly Thing[]) => {
    for (const [name, direction] of order) {
      const compared = compare(valuesIn(a)[name], valuesIn(b)[name]);
      if (compared !== 0) return direction === "asc" ? compared : -compared;
    }
    return 0;
  };
  const page = kept.toSorted(between).slice(skip, skip + (take ?? Infinity));
  const tied: (readonly Thing[])[][] = [];
  for (const rows of page) {
    const last = tied.at(-1)?.[0];
    if (last && between(last, rows) === 0) tied.at(-1)!.push(rows);
    else tied.push([rows]);
  }
  return tied.map((groups) =>
    groups.map((rows) => ({
      ...Object.fromEntries(by.map((name) => [name, rows[0]![name]])),
      ...aggregatesOf(rows, options),
    }))
  );
}

function aggregateOf(rows: readonly Thing[], name: string, column: string): unknown {
  if (column === "_all") return rows.length;
  const values = rows.map((row) => row[column as Column]).filter((value) => value !== null);
  if (name === "_count") return values.length;
  if (values.length === 0) return null;
  if (name === "_sum" || name === "_avg") return totalOf(values, { name, column });
  const sorted = values.toSorted(compare);
  return name === "_min" ? sorted[0] : sorted.at(-1);
}

/** Returns a sum, which is exact, or an average. */
function totalOf(
  values: readonly unknown[],
  { name, column }: { readonly name: string; readonly column: string },
): unknown {
  const isDecimal = column === "price";
  const units = isDecimal ? values.map(digitsOf) : values.map((value) => BigInt(String(value)));
  const sum = units.reduce((sum, value) => sum + value, 0n);
  if (name === "_sum") return isDecimal ? decimal(sum, 2) : sum;
  if (!isDecimal) return Number(sum) / values.length;
  const [most, count] = [sum * 20_000n, BigInt(values.length) * 2n];
  // Half away from zero; a division of bigints is cut.
  return decimal((most + (sum < 0n ? -1n : 1n) * BigInt(values.length)) / count, 6);
}

function decimal(units: bigint, scale: number): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, "0");
  return `${units < 0n ? "-" : ""}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function readable(value: unknown, name: string, column: string): unknown {
  if (typeof value !== "bigint" || column === "big") return value;
  if (Number.isSafeInteger(Number(value))) return Number(value);
  throw new TooLarge(`${name}.${column}`);
}

/** Returns all values of a group, such as `_sum.rank`, and those of its first row. */
function valuesIn(rows: readonly Thing[]): Values {
  const columns = ["_all", ...Object.keys(rows[0]!)];
  const entries = FUNCTIONS.flatMap((name) =>
    columns.filter((column) =>
      ["rank", "big", "price", "_all"].includes(column) || !/_(?:sum|avg)/.test(name)
    )
      .map((column) => {
        const value = aggregateOf(rows, name, column);
        const isSafe = typeof value === "bigint" && Number.isSafeInteger(Number(value));
        return [`${name}.${column}`, isSafe ? Number(value) : value];
      })
  );
  return { ...rows[0], ...Object.fromEntries(entries) };
}

/** Returns a condition on groups as one on the names of their values. */
function flat(having: object): object {
  return {
    AND: Object.entries(having).map(([name, value]) => {
      if (name === "NOT") return { NOT: flat(value) };
      if (name === "AND" || name === "OR") return { [name]: value.map(flat) };
      return Object.fromEntries(
        Object.entries(value).map(([aggregate, it]) => [`${aggregate}.${name}`, it]),
      );
    }),
  };
}

function termsOf(part: object): readonly (readonly [string, string])[] {
  return Object.entries(part).flatMap(([name, direction]) =>
    typeof direction === "string"
      ? [[name, direction] as const]
      : Object.entries(direction).map(([column, it]) => [`${name}.${column}`, String(it)] as const)
  );
}
