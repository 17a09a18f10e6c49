/**
 * The tables of a database, as its catalogue describes them.
 *
 * @module
 */
import type { DbConnection } from "../connection/connection.ts";
import type { Grammar } from "../connection/grammar.ts";
import {
  CATALOGUE_QUERIES,
  type ColumnRow,
  type KeyRow,
  type ReferenceRow,
} from "./catalogue_queries.ts";
import { sizeOf, type StoredType } from "./column_type.ts";

/** A column of a table. */
export interface StoredColumn {
  /** Its name. */
  readonly name: string;
  /** Its type. */
  readonly type: StoredType;
  /** Whether it can be null. */
  readonly isNullable: boolean;
  /** Whether rows that are created without it have a value: a default, or a generated one. */
  readonly isFilled: boolean;
  /** Whether they all have the same value: a default that calls no function. */
  readonly isConstant: boolean;
  /** Whether it is computed from other columns, and cannot be written. */
  readonly isComputed: boolean;
}

/** A foreign key, column by column. */
export interface StoredReference {
  /** Its column. */
  readonly column: string;
  /** The table that it refers to; in another schema, after the name of that. */
  readonly table: string;
  /** The column that it refers to. */
  readonly key: string;
  /** The effect of deleting a row that it refers to: `no action`. */
  readonly onDelete: string;
}

/** An index. */
export interface StoredIndex {
  /** The columns; an expression, or the beginning of text, is `null`. */
  readonly columns: readonly (string | null)[];
  /** Whether its columns are unique together. */
  readonly isUnique: boolean;
  /** Why it is less than the model needs: `deferrable`. */
  readonly flaw: string | undefined;
}

/** A table, or a view. */
export interface StoredTable {
  /** Whether it is a view or a foreign table, which have no constraints. */
  readonly isView: boolean;
  /** The engine, if that has no transactions. */
  readonly unsafeEngine: string | undefined;
  /** The columns. */
  readonly columns: readonly StoredColumn[];
  /** The columns of the primary key, in its order; empty without one. */
  readonly primaryKey: readonly string[];
  /** Why the primary key is less than the model needs: `deferrable`. */
  readonly primaryKeyFlaw: string | undefined;
  /** The indexes, that of the primary key among them. */
  readonly indexes: readonly StoredIndex[];
  /** The columns of foreign keys. */
  readonly references: readonly StoredReference[];
}

/**
 * Reads the tables with some names, of the schemas that the connection searches; a missing one is
 * not in the result.
 *
 * @throws {DbError} if it fails
 */
export async function readTables(
  { kysely, grammar }: DbConnection,
  names: readonly string[],
): Promise<ReadonlyMap<string, StoredTable>> {
  const queries = CATALOGUE_QUERIES[grammar.brand](names);
  const { rows: columns } = await queries.columns.execute(kysely);
  const { rows: keys } = await queries.keys.execute(kysely);
  const { rows: references } = await queries.references.execute(kysely);
  const ofTable = (name: string) => (row: { readonly table_name: string }) =>
    row.table_name === name;
  const byName = Map.groupBy(columns, ({ table_name }) => table_name);
  return new Map(Array.from(byName, ([name, own]) => {
    const rows = { keys: keys.filter(ofTable(name)), references: references.filter(ofTable(name)) };
    return [folded(name, grammar), tableOf(own, rows)];
  }));
}

/** Returns a name for a comparison: only PostgreSQL distinguishes names by case. */
export function folded(name: string, { brand }: Pick<Grammar, "brand">): string {
  return brand === "PostgreSQL" ? name : name.toLowerCase();
}

function tableOf(
  columns: readonly ColumnRow[],
  { keys, references }: {
    readonly keys: readonly KeyRow[];
    readonly references: readonly ReferenceRow[];
  },
): StoredTable {
  const byKey = [...Map.groupBy(keys, ({ key_name }) => key_name).values()];
  const primary = keys.filter(({ is_primary }) => isSet(is_primary));
  return {
    isView: isSet(columns[0]?.is_view),
    unsafeEngine: columns[0]?.unsafe_engine ?? undefined,
    columns: columns.map((row) => ({
      name: row.column_name,
      type: { declared: row.declared, name: row.type_name.toLowerCase(), size: sizeOf(row.sized) },
      isNullable: isSet(row.is_nullable),
      isFilled: isSet(row.is_filled),
      isConstant: isSet(row.is_constant),
      isComputed: isSet(row.is_computed),
    })),
    primaryKey: primary.map(({ column_name }) => String(column_name)),
    primaryKeyFlaw: primary[0]?.flaw ?? undefined,
    indexes: byKey.map((rows) => ({
      columns: rows.map(({ column_name }) => column_name),
      isUnique: isSet(rows[0]?.is_unique),
      // Each column that can be null may have one.
      flaw: rows.find(({ flaw }) => flaw != null)?.flaw ?? undefined,
    })),
    references: references.map((row) => ({
      column: row.column_name,
      table: row.target_table,
      // SQLite's reference to a primary key that it does not name.
      key: row.target_column ?? "",
      onDelete: row.on_delete.toLowerCase(),
    })),
  };
}

/** Checks whether a value is true; databases without booleans have numbers, some drivers text. */
export function isSet(value: unknown): boolean {
  return Number(value) !== 0;
}
