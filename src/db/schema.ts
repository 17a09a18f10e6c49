/**
 * The tables of models, as SQL.
 *
 * @module
 */
import type { ColumnDefinitionBuilder } from "kysely";
import { isGenerated } from "./model.ts";
import { compile, type Statement } from "./operation.ts";
import type { Table, TableColumn } from "./table.ts";

/** Says how to make a table if it is not there. A generated key is never given out twice. */
export function createTable({ name, columns, connection }: Table): Statement {
  let table = connection.kysely.schema.createTable(name).ifNotExists();
  for (const column of columns) {
    table = table.addColumn(
      column.name,
      column.dialect.columnTypes[column.field.kind],
      (definition) => define(definition, column),
    );
  }
  return compile(table.modifyEnd(connection.dialect.tableOptions));
}

function define(definition: ColumnDefinitionBuilder, column: TableColumn): ColumnDefinitionBuilder {
  const { flags, defaultValue } = column.field;
  let defined = definition;
  if (!flags.has("nullable")) defined = defined.notNull();
  if (flags.has("primaryKey")) defined = defined.primaryKey();
  if (isGenerated(column.field)) defined = defined.autoIncrement();
  if (flags.has("unique")) defined = defined.unique();
  if (flags.has("default")) {
    defined = defined.defaultTo(column.encode(defaultValue, "create table"));
  }
  return defined;
}
