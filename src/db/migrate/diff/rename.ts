/**
 * Tables and columns that have another name in the models than in the migrations.
 *
 * @module
 */
import {
  type ForeignKeySchema,
  type KeySchema,
  mapTables,
  type Schema,
  schemaOf,
} from "./table_schema.ts";

/** A table, or a column of a table, that gets another name. */
export interface Rename {
  /** The table of a column, by its new name. */
  readonly table?: string;
  /** The name. */
  readonly from: string;
  /** The new one. */
  readonly to: string;
}

/**
 * Reads names and new ones of some tables, and of their columns: `users:people`,
 * `users.name:full_name`, `audit.logs:audit.records`.
 *
 * @throws {TypeError} if one has another form, or is that of another schema
 */
export function readRenames(
  texts: readonly string[],
  { tables: known }: Pick<Schema, "tables">,
): readonly Rename[] {
  const pairs = texts.map((text) => {
    const [from = "", to = "", ...others] = text.split(":");
    if (from === "" || to === "" || others.length > 0) {
      throw new TypeError(`Cannot rename: ${JSON.stringify(text)} is not old:new`);
    }
    return { from, to };
  });
  const tables = pairs.filter(({ to, from }) =>
    known.has(from) || (!from.includes(".") && !to.includes("."))
  );
  const moved = tables.find(({ from, to }) => schemaOf(from) !== schemaOf(to));
  if (moved) throw new TypeError(`Cannot rename ${moved.from}: ${moved.to} is of another schema`);
  const newName = (table: string) => tables.find(({ from }) => from === table)?.to ?? table;
  const columns = pairs.filter((pair) => !tables.includes(pair)).map(({ from, to }) => {
    const [table, column] = split(from);
    const [owner, name] = split(to);
    if (table === "" || (owner !== "" && newName(table) !== newName(owner))) {
      throw new TypeError(`Cannot rename: ${from}:${to} is not table.old:new`);
    }
    return { table: newName(table), from: column, to: name };
  });
  return [...tables, ...columns];
}

/** Returns the renames that undo others. */
export function inverseOf(renames: readonly Rename[]): readonly Rename[] {
  return renames.map(({ table, from, to }) =>
    table === undefined
      ? { from: to, to: from }
      : { table: oldName(table, renames), from: to, to: from }
  );
}

/** Returns the name that a table has before renames. */
export function oldName(name: string, renames: readonly Rename[]): string {
  return renames.find(({ table, to }) => table === undefined && to === name)?.from ?? name;
}

/**
 * Returns tables as they are after renames.
 *
 * @throws {TypeError} if one is missing, or the new name is taken
 */
export function renamed(schema: Schema, renames: readonly Rename[]): Schema {
  return renames.reduce(
    (before, rename) =>
      rename.table === undefined
        ? withTable(before, rename)
        : withColumn(before, { ...rename, table: rename.table }),
    schema,
  );
}

function withTable(schema: Schema, { from, to }: Rename): Schema {
  if (!schema.tables.has(from)) throw missing(`table ${from}`);
  if (schema.tables.has(to)) throw taken(`${from} to ${to}`);
  const renamedKey = (key: ForeignKeySchema) => key.table === from ? { ...key, table: to } : key;
  const { tables } = mapTables(schema, (table) => ({
    ...table,
    name: table.name === from ? to : table.name,
    foreignKeys: table.foreignKeys.map(renamedKey),
  }));
  return {
    tables,
    others: schema.others.map((it) => it.table === from ? { ...it, table: to } : it),
  };
}

function withColumn(schema: Schema, { table: name, from, to }: Required<Rename>): Schema {
  const own = schema.tables.get(name);
  if (!own?.columns.some((column) => column.name === from)) throw missing(`${name}.${from}`);
  if (own.columns.some((column) => column.name === to)) {
    throw taken(`${name}.${from} to ${to}`);
  }
  const newName = (column: string) => column === from ? to : column;
  const ofKey = (key: KeySchema) => ({ ...key, columns: key.columns.map(newName) });
  return mapTables(schema, (table) => ({
    ...table,
    ...table.name === name && {
      columns: table.columns.map((column) => ({ ...column, name: newName(column.name) })),
      primaryKey: table.primaryKey && ofKey(table.primaryKey),
      uniques: table.uniques.map(ofKey),
      indexes: table.indexes.map(ofKey),
      checks: table.checks.map((check) => ({ ...check, column: newName(check.column) })),
    },
    foreignKeys: table.foreignKeys.map((key) => ({
      ...key,
      column: table.name === name ? newName(key.column) : key.column,
      key: key.table === name ? newName(key.key) : key.key,
    })),
  }));
}

function split(name: string): readonly [table: string, column: string] {
  const dot = name.lastIndexOf(".");
  return [name.slice(0, Math.max(0, dot)), name.slice(dot + 1)];
}

function missing(what: string): TypeError {
  return new TypeError(`Cannot rename ${what}: the migrations have none`);
}

function taken(what: string): TypeError {
  return new TypeError(`Cannot rename ${what}: the migrations have that already`);
}
