/**
 * Rows to begin with: some of each tenant, with values that are recognized in answers.
 *
 * @module
 */
import { factoryValue } from "../../factory.ts";
import { testsOf } from "../../../db/model/field_rules.ts";
import { isRequired } from "../../../db/model/model.ts";
import type { Table } from "../../../db/query/table.ts";
import type { TableColumn } from "../../../db/query/table_column.ts";
import type { BodyTexts } from "./body_texts.ts";
import {
  referredTable,
  type Side,
  type Tables,
  tenantColumns,
  type TenantPair,
} from "./tenant_pairs.ts";

/** A row to begin with. */
export interface SeedRow {
  /** The key of its table. */
  readonly table: string;
  readonly side: Side;
  /** Which of the rows of its side it is, from 0. */
  readonly index: number;
  readonly values: Readonly<Record<string, unknown>>;
}

/** What is planned, and why tables have no rows. */
export interface SeedPlan {
  readonly rows: readonly SeedRow[];
  /** The tables without rows, and the reasons. */
  readonly missing: readonly string[];
}

/**
 * How many rows each tenant has in a table, and half of how many a shared table has. No row refers
 * to the last one if possible, so that it can be deleted.
 */
const COUNT = 4;

/**
 * The numbers of the rows. Generated keys follow the largest one, which is no one's, so that they
 * are the same whether or not there are rows of the owner.
 */
const FIRST: Readonly<Record<Side, number>> = {
  owner: 1_000_001,
  stranger: 2_000_001,
  shared: 3_000_001,
};

/**
 * The shared rows to which those of the owner refer, if several rows may refer to one: one with a
 * row of the stranger, and one without any. So counts of related rows, orders by them, and whether
 * there are any, depend on rows of the owner.
 */
const OWNERS_SHARED = [1, 1, COUNT + 1, COUNT + 1];

/** What the texts of the rows have in them. */
export const MARKS: Readonly<Record<Side, string>> = {
  owner: "qzown",
  stranger: "qzstr",
  shared: "qzall",
};

/** Plans rows of all tables, those first to which others refer. */
export function planSeeds(
  tables: Tables,
  { pair, texts }: { readonly pair: TenantPair; readonly texts: BodyTexts },
): SeedPlan {
  const rows: SeedRow[] = [];
  const missing: string[] = [];
  const order = inOrder(tables);
  for (const key of order) {
    const table = tables.get(key)!; // one of those that were put in order
    const sides: readonly Side[] = tenantColumns(table, pair).length > 0
      ? ["owner", "stranger"]
      : ["shared"];
    try {
      const planned: SeedRow[] = [];
      for (const side of sides) {
        const count = side === "shared" ? 2 * COUNT : COUNT;
        for (let index = 0; index < count; index++) {
          const values = valuesOf(table, { key, side, index, tables, pair, texts, rows, planned });
          planned.push({ table: key, side, index, values });
        }
      }
      rows.push(...planned);
    } catch (error) {
      missing.push(`${table.name} has no rows: ${error instanceof Error ? error.message : error}`);
    }
  }
  const all = [...rows, ...tenantRows(tables, { rows, pair, texts })];
  return { rows: order.flatMap((key) => all.filter(({ table }) => table === key)), missing };
}

interface Planning {
  readonly key: string;
  readonly side: Side;
  readonly index: number;
  readonly tables: Tables;
  readonly pair: TenantPair;
  readonly texts: BodyTexts;
  /** The rows of the tables before. */
  readonly rows: readonly SeedRow[];
  /** The rows of this table. */
  readonly planned: readonly SeedRow[];
}

function valuesOf(table: Table, planning: Planning): Readonly<Record<string, unknown>> {
  const entries = table.columns.map((
    column,
  ) => [column.name, columnValue(column, table, planning)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function columnValue(column: TableColumn, table: Table, planning: Planning): unknown {
  const { field, name } = column;
  const { side, index } = planning;
  const claim = claimOf(name, planning);
  if (claim !== undefined) return converted(claim, column);
  if (field.flags.has("deletedAt") || field.flags.has("version")) return undefined;
  if (field.traits.reference) return referenceValue(column, table, planning);
  const isPlain = field.flags.has("default") && field.traits.defaultSql === undefined &&
    typeof field.traits.defaultValue !== "function" && field.traits.clock === undefined;
  if (isPlain && !table.primaryKey.includes(column)) return undefined;
  const n = FIRST[side] + index;
  try {
    return field.kind === "text" && markedText(column, planning) ||
      factoryValue(field, { i: n, name, table: table.name });
  } catch (error) {
    if (isRequired(field)) throw error;
    return undefined;
  }
}

/** Returns the claim whose name a column has: that of the side; of shared rows, that of both. */
function claimOf(name: string, { side, pair }: Planning): unknown {
  const { owner, stranger, columns } = pair;
  if (side !== "shared") return pair[side].claims[name];
  return columns.has(name) ? undefined : stranger.claims[name] ?? owner.claims[name];
}

function converted(claim: unknown, { field: { kind } }: TableColumn): unknown {
  if (kind === "integer") return Number(claim);
  return kind === "bigint" ? BigInt(String(claim)) : String(claim);
}

/** Refers to the row of the same side and number, or to a row that is no one's. */
function referenceValue(column: TableColumn, table: Table, planning: Planning): unknown {
  const { key, side, index, tables, pair, rows, planned } = planning;
  const { field, name } = column;
  const referred = referredTable(tables, { key, column });
  const find = (list: readonly SeedRow[], side: Side, index: number) =>
    list.find((row) => row.table === referred?.key && row.side === side && row.index === index)
      ?.values[referred?.column ?? ""];
  const isAlone = isSingle(name, table, pair);
  const shared = isAlone
    ? index + (side === "stranger" ? COUNT : 0)
    : side === "owner"
    ? OWNERS_SHARED[index] ?? index
    : index;
  const value = referred?.key === key
    ? find(planned, side, isAlone ? index - 1 : 0)
    : find(rows, side, isAlone ? index : Math.min(index, COUNT - 2)) ??
      find(rows, "shared", shared) ??
      (field.flags.has("nullable") ? undefined : find(rows, "stranger", index % COUNT));
  if (value !== undefined || !isRequired(field)) return value;
  throw new TypeError(`its ${name} refers to a row that is missing`);
}

/** Checks whether a column is part of a key of rows of all tenants. */
function isSingle(name: string, table: Table, { columns }: TenantPair): boolean {
  const keys = [
    ...table.keys.values(),
    table.primaryKey,
    ...table.columns.filter(({ field }) => field.flags.has("unique")).map((column) => [column]),
  ].map((key) => key.map((column) => column.name));
  return keys.some((key) => key.includes(name) && !key.some((name) => columns.has(name)));
}

/**
 * Returns a text with the mark of a side, or else one as requests have it; `undefined` if the
 * column admits neither.
 */
function markedText(
  { name, field }: TableColumn,
  { side, index, texts }: Planning,
): string | undefined {
  const mark = `${MARKS[side]}${index + 1}`;
  const { min = 0 } = field.traits.rules?.bounds ?? {};
  const marked = [`${mark}-${name.toLowerCase().replaceAll("_", "-")}`, mark, `${mark}@example.com`]
    .map((text) => text.padEnd(Number(min), "x"));
  const admitted = (text: string) => testsOf(field).every(({ admits }) => admits(text));
  const found = marked.find((text) => admitted(text) && texts.admits(name, text));
  if (found !== undefined) return found;
  const others = texts.samples(name).filter(admitted);
  const offset = { owner: 0, stranger: COUNT, shared: 2 * COUNT }[side];
  return others[offset + index] ?? marked.find(admitted);
}

/** Returns the rows of the tenants themselves, to which the columns of tenants may refer. */
function tenantRows(
  tables: Tables,
  { rows, ...given }: Pick<Planning, "rows" | "pair" | "texts">,
): readonly SeedRow[] {
  const added = new Map<string, SeedRow>();
  for (const row of rows) {
    const table = tables.get(row.table)!; // it was planned
    for (const column of table.columns) {
      const claim = row.values[column.name];
      const { owner, stranger } = given.pair;
      const isClaim = [owner, stranger].some(({ claims }) =>
        String(claims[column.name]) === String(claim)
      );
      const referred = referredTable(tables, { key: row.table, column });
      if (!isClaim || claim === undefined || !referred) continue;
      const { key } = referred;
      const target = tables.get(key);
      const template = rows.find((each) => each.table === key && each.side === "shared");
      if (!target || !template) continue;
      const values = valuesOf(target, {
        ...{ key, side: "shared", index: 2 * COUNT + added.size },
        ...{ ...given, tables, rows, planned: [] },
      });
      const own = { ...values, [referred.column]: claim };
      added.set(`${key} ${claim}`, { ...template, index: -1 - added.size, values: own });
    }
  }
  return [...added.values()];
}

/** Returns the keys of tables, those first to which others refer. */
function inOrder(tables: Tables): readonly string[] {
  const ordered = new Set<string>();
  const visited = new Set<string>();
  const visit = (key: string) => {
    const table = tables.get(key);
    if (!table || visited.has(key)) return;
    visited.add(key);
    for (const column of table.columns) {
      const referred = referredTable(tables, { key, column });
      if (referred) visit(referred.key);
    }
    ordered.add(key);
  };
  for (const key of tables.keys()) visit(key);
  return [...ordered];
}
