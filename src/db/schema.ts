/**
 * The tables of models, as SQL.
 *
 * @module
 */
import type { ColumnDefinitionBuilder, Compilable } from "kysely";
import type { ReferenceTarget } from "./field.ts";
import { isGenerated } from "./model.ts";
import type { Table, TableColumn } from "./table.ts";

/**
 * Says how to make tables, with indexes on what refers to others, where they are not there. A
 * generated key is never given out twice.
 *
 * @throws {TypeError} if a table refers to one that is not among them
 */
export function createTables(tables: readonly Table[]): readonly Compilable[] {
  return inOrder(tables).flatMap((table) => [createTable(table), ...createIndexes(table)]);
}

function createTable({ name, columns, connection: { kysely, grammar } }: Table): Compilable {
  let table = kysely.schema.createTable(name).ifNotExists();
  for (const column of columns) {
    const { flags, traits } = column.field;
    const isIndexed = flags.has("unique") || flags.has("primaryKey") ||
      traits.reference !== undefined;
    const type = grammar.columnType(column.field, isIndexed);
    // Kysely takes an expression of any type for a data type.
    table = table.addColumn(
      column.name,
      type as "text",
      (definition) => define(definition, column),
    );
  }
  for (const { name: column, field: { traits: { reference } } } of columns) {
    if (!reference) continue;
    const [target, key] = referenceOf(name, columns, reference.target);
    // The builder cannot follow columns that are added in a loop.
    table = table.addForeignKeyConstraint(
      `${name}_${column}_fkey`.slice(-63),
      [column as never],
      target,
      [key],
      (constraint) => constraint.onDelete(reference.onDelete),
    );
  }
  return grammar.tableOptions ? table.modifyEnd(grammar.tableOptions) : table;
}

/** MySQL has indexes on foreign keys by itself; the others look through the whole table. */
function createIndexes({ name, columns, connection: { kysely, grammar } }: Table): Compilable[] {
  if (grammar.brand === "MySQL") return [];
  return columns.filter(({ field: { flags, traits } }) =>
    traits.reference && !flags.has("unique") && !flags.has("primaryKey")
  ).map((column) =>
    kysely.schema.createIndex(`${name}_${column.name}_idx`.slice(-63)).ifNotExists().on(name)
      .column(column.name)
  );
}

function define(definition: ColumnDefinitionBuilder, column: TableColumn): ColumnDefinitionBuilder {
  const { field, grammar } = column;
  const { flags, traits: { defaultValue } } = field;
  let defined = definition;
  if (!flags.has("nullable")) defined = defined.notNull();
  if (flags.has("primaryKey")) defined = defined.primaryKey();
  if (isGenerated(field)) defined = grammar.generated(defined);
  if (flags.has("unique")) defined = defined.unique();
  if (defaultValue !== undefined && typeof defaultValue !== "function") {
    const encoded = column.codec.encode(defaultValue, field);
    defined = defined.defaultTo(grammar.literal(encoded, field));
  }
  return defined;
}

function referenceOf(
  table: string,
  columns: readonly TableColumn[],
  target: ReferenceTarget | "self",
): readonly [table: string, key: string] {
  if (target !== "self") return [target["~model"].table, target["~model"].primaryKey];
  const key = columns.find(({ field }) => field.flags.has("primaryKey"));
  return [table, String(key?.name)];
}

/** Puts tables after those they refer to. */
function inOrder(tables: readonly Table[]): readonly Table[] {
  const ordered = new Set<Table>();
  const add = (table: Table) => {
    for (const { name, field: { traits: { reference } } } of table.columns) {
      if (!reference || reference.target === "self") continue;
      const target = reference.target["~model"].table;
      const referred = tables.find((other) => other.name === target);
      if (!referred) {
        throw new TypeError(
          `Cannot create tables: ${table.name}.${name} refers to ${target}, which has no model here`,
        );
      }
      add(referred);
    }
    ordered.add(table);
  };
  for (const table of tables) add(table);
  return [...ordered];
}
