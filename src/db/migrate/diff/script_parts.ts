/**
 * What the scripts of all databases have in common.
 *
 * @module
 */
import type { SchemaChange } from "./compare.ts";
import type { Rename } from "./rename.ts";
import {
  type ColumnSchema,
  type ForeignKeySchema,
  quoted,
  quotedTable,
  rowsOf,
  type Schema,
  type TableSchema,
} from "./table_schema.ts";
import type { Brand } from "./table_ddl.ts";

/** What a script is written for. */
export interface ScriptOptions {
  /** The tables before the renames. */
  readonly from: Schema;
  /** The tables after. */
  readonly to: Schema;
  /** The renames, which come first. */
  readonly renames: readonly Rename[];
  /** The values of new columns in the rows that exist, as SQL: by `users.age`. */
  readonly fills: ReadonlyMap<string, string>;
}

/** A script: its change, and the statements, without semicolons. */
export interface Script {
  /** What it changes. */
  readonly change: SchemaChange;
  /** Its statements. */
  readonly statements: readonly string[];
  /** What it drops, beside what the models no longer declare. */
  readonly losses?: readonly string[];
}

/** Whether rows that exist have no value for a new column. */
export function isUnfilled(column: ColumnSchema): boolean {
  return !column.isNullable && column.default === undefined && column.generation === undefined &&
    column.computed === undefined;
}

/** Returns the name of the check that a column is not null, until it is that by its definition. */
export function notNullName({ name }: ColumnSchema): string {
  return `${name.slice(0, 50)}_not_null`;
}

/** Returns the statements of renames. */
export function renameStatements(renames: readonly Rename[], brand: Brand): readonly string[] {
  return renames.map(({ table, from, to }) =>
    table === undefined
      ? `alter table ${quotedTable(from, brand)} rename to ${quoted(rowsOf(to), brand)}`
      : `alter table ${quotedTable(table, brand)} rename column ${quoted(from, brand)} to ${
        quoted(to, brand)
      }`
  );
}

/** A foreign key, and its table. */
export interface TableKey {
  /** The table. */
  readonly table: TableSchema;
  /** The foreign key. */
  readonly key: ForeignKeySchema;
}

/** Returns the foreign keys of tables to those after them: of tables that refer to each other. */
export function laterKeys(tables: readonly TableSchema[]): readonly TableKey[] {
  return tables.flatMap((table, place) => {
    const later = tables.slice(place + 1);
    return table.foreignKeys.filter((key) => later.some(({ name }) => name === key.table))
      .map((key) => ({ table, key }));
  });
}

/** Returns tables without some foreign keys, which are added once all tables are there. */
export function withoutKeys(
  tables: readonly TableSchema[],
  keys: readonly TableKey[],
): readonly TableSchema[] {
  return tables.map((table) => ({
    ...table,
    foreignKeys: table.foreignKeys.filter((key) => !keys.some((it) => it.key === key)),
  }));
}

/** Checks whether SQL contains the name of a table or a column, as it is or in quotes. */
export function mentions(sql: string, name: string): boolean {
  const forms = [name, name.replaceAll('"', '""'), name.replaceAll("`", "``")]
    .map((form) => form.replaceAll(/\W/g, "\\$&"));
  return new RegExp(`(?<!\\w)(?:${forms.join("|")})(?!\\w)`, "i").test(sql);
}
