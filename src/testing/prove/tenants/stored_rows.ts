/**
 * The rows of all tables at one time, and what has changed in them since another time.
 *
 * @module
 */
import type { Table } from "../../../db/query/table.ts";
import { referredTable, type Tables, tenantColumns, type TenantPair } from "./tenant_pairs.ts";

/** Rows by the key of their table and their own key, as the driver reads them. */
export type StoredRows = ReadonlyMap<string, ReadonlyMap<string, StoredRow>>;

interface StoredRow {
  readonly values: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Reads the rows of all tables. */
export async function readRows(tables: Tables): Promise<StoredRows> {
  const all = new Map<string, ReadonlyMap<string, StoredRow>>();
  for (const [key, table] of tables) {
    const rows = await table.connection.kysely.selectFrom(table.source).selectAll().execute();
    all.set(
      key,
      new Map(rows.map((values: Record<string, unknown>) => [
        textOf(table.primaryKey.map(({ column }) => values[column])),
        { values, text: textOf(values) },
      ])),
    );
  }
  return all;
}

/** The rows to compare. */
export interface Comparison {
  readonly before: StoredRows;
  readonly after: StoredRows;
  readonly tables: Tables;
  readonly pair: TenantPair;
}

/** Returns what was done to rows of the owner, in words, and new references to them. */
export function changesOf(comparison: Comparison): readonly string[] {
  const { before, after, tables, pair } = comparison;
  const changes = [...tables].flatMap(([key, table]) => {
    const was = owned(before.get(key), table, pair);
    const is = owned(after.get(key), table, pair);
    const now = after.get(key);
    const words = [
      ...[...was.keys()].some((id) => !now?.has(id)) ? ["deletes"] : [],
      ...[...was].some(([id, { text }]) => now?.has(id) && now.get(id)?.text !== text)
        ? ["changes"]
        : [],
      ...[...is.keys()].some((id) => !was.has(id)) ? ["adds"] : [],
    ];
    return words.map((word) =>
      word === "adds"
        ? `${pair.stranger.name} adds a row to those of ${pair.owner.name} (${table.name})`
        : `${pair.stranger.name} ${word} a row of ${pair.owner.name} (${table.name})`
    );
  });
  return [...changes, ...newReferences(comparison)];
}

function newReferences({ before, after, tables, pair }: Comparison): readonly string[] {
  return [...tables].flatMap(([key, table]) =>
    table.columns.flatMap((column) => {
      const referred = referredTable(tables, { key, column });
      const target = tables.get(referred?.key ?? "");
      if (!referred || !target || pair.columns.has(column.name)) return [];
      const their = target.columns.find(({ name }) => name === referred.column)?.column ?? "";
      const theirs = [before, after].flatMap((rows) =>
        [...owned(rows.get(referred.key), target, pair).values()]
          .map(({ values }) => textOf(values[their]))
      );
      const ids = new Set(theirs);
      const isOwned = owned(after.get(key), table, pair);
      const found = [...after.get(key) ?? []].some(([id, { values, text }]) =>
        !isOwned.has(id) && before.get(key)?.get(id)?.text !== text &&
        ids.has(textOf(values[column.column]))
      );
      const { owner, stranger } = pair;
      return found
        ? [
          `a row of ${stranger.name} refers to one of ${owner.name} (${table.name}.${column.name})`,
        ]
        : [];
    })
  );
}

/** Returns the rows of the owner. */
function owned(
  rows: ReadonlyMap<string, StoredRow> = new Map(),
  table: Table,
  pair: TenantPair,
): ReadonlyMap<string, StoredRow> {
  const names = tenantColumns(table, pair);
  const columns = table.columns.filter(({ name }) => names.includes(name));
  if (columns.length === 0) return new Map();
  return new Map(
    [...rows].filter(([, { values }]) =>
      columns.every(({ name, column }) =>
        String(values[column]) === String(pair.owner.claims[name])
      )
    ),
  );
}

/** Writes values as text, in which they differ if they do. */
function textOf(value: unknown): string {
  return JSON.stringify(
    value,
    (_, each) =>
      typeof each === "bigint"
        ? String(each)
        : each instanceof Uint8Array
        ? [...each].join(" ")
        : each,
  ) ?? "";
}
