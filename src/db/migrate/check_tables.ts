/**
 * Compares the tables of a database with the models.
 *
 * @module
 */
import type { DbConnection } from "../connection/connection.ts";
import { DbError } from "../errors.ts";
import { isGenerated } from "../model/model.ts";
import type { Table } from "../query/table.ts";
import type { TableColumn } from "../query/table_column.ts";
import { folded, readTables, type StoredColumn, type StoredTable } from "./catalogue.ts";
import { kindOf, typeMismatch } from "./column_type.ts";
import { referenceOf } from "./schema.ts";

/**
 * Checks that models can read and write their tables.
 *
 * @throws {DbError} `Database`, with a line for each difference
 */
export async function checkTables(
  connection: DbConnection,
  tables: readonly Table[],
): Promise<void> {
  if (tables.length === 0) return;
  const stored = await readTables(connection, tables.map(({ source }) => source));
  const differences = tables.flatMap((table) => {
    const found = stored.get(folded(table.source, connection.grammar));
    return found ? tableDifferences(table, found) : [`${labelOf(table)}: the table is missing`];
  });
  if (differences.length === 0) return;
  const places = differences.length === 1 ? "1 place" : `${differences.length} places`;
  throw new DbError(
    "Database",
    [`Cannot use tables: they differ from the models in ${places}`, ...differences].join("\n  "),
  );
}

/**
 * Lists the differences of a table; of a view, and of what is only read, those of the columns that
 * it can be read by.
 */
function tableDifferences(table: Table, stored: StoredTable): readonly string[] {
  const { grammar } = table.connection;
  const isRead = stored.isView || table.primaryKey.length === 0;
  const known = new Set(table.columns.map(({ column }) => folded(column, grammar)));
  const ofColumns = table.columns.flatMap((column) => {
    const found = stored.columns.find(({ name }) =>
      folded(name, grammar) === folded(column.column, grammar)
    );
    const reasons = !found ? ["the column is missing"] : [
      ...typeDifferences(column, found),
      ...isRead ? [] : [
        ...valueDifferences(column, found),
        ...keyDifferences(column, stored),
        ...referenceDifferences(column, { table, stored }),
      ],
    ];
    const label = labelOf({ name: column.name, source: column.column });
    return reasons.map((reason) => `${table.name}.${label}: ${reason}`);
  });
  const ofKeys = isRead ? [] : [
    ...Array.from(
      table.keys.values(),
      (columns) =>
        columns === table.primaryKey
          ? primaryKeyDifference(columns, stored)
          : uniqueDifference(columns, stored),
    ),
    ...table.indexes.map((columns) => indexDifference(columns, stored)),
  ];
  const required = stored.columns.filter((column) =>
    !isRead && !known.has(folded(column.name, grammar)) && !column.isNullable &&
    !column.isFilled && !column.isComputed
  );
  const engine = stored.unsafeEngine;
  return [
    ...engine === undefined
      ? []
      : [`${labelOf(table)}: the table has the engine ${engine}, which has no transactions`],
    ...ofColumns,
    ...ofKeys.flatMap((reason) => reason === undefined ? [] : [`${labelOf(table)}: ${reason}`]),
    ...required.map(({ name }) =>
      `${table.name}.${name}: the column is not null and has no default, the model lacks it`
    ),
  ];
}

/** Returns the name of a model or a field, and that in the database, if it is another. */
function labelOf({ name, source }: Pick<Table, "name" | "source">): string {
  return name === source ? name : `${name} (${source})`;
}

function typeDifferences({ field, grammar }: TableColumn, { type }: StoredColumn): string[] {
  const reason = typeMismatch(type, field, grammar);
  return reason === undefined ? [] : [`${reason}, the model has ${kindOf(field)}`];
}

function valueDifferences({ field }: TableColumn, stored: StoredColumn): readonly string[] {
  const isNullable = field.flags.has("nullable");
  return [
    ...stored.isNullable && !isNullable ? ["the column is nullable, the field is not"] : [],
    ...!stored.isNullable && isNullable ? ["the column is not null, the field is nullable"] : [],
    ...stored.isComputed ? ["the column is computed, the model writes it"] : [],
    ...field.traits.defaultSql !== undefined && !stored.isFilled
      ? ["the column has no default, the model has one in SQL"]
      : [],
    ...isGenerated(field) && (!stored.isFilled || stored.isConstant)
      ? ["the column is not generated, the model has a generated key"]
      : [],
  ];
}

function keyDifferences(column: TableColumn, stored: StoredTable): readonly string[] {
  const { flags } = column.field;
  const difference = flags.has("primaryKey")
    ? primaryKeyDifference([column], stored)
    : flags.has("unique")
    ? uniqueDifference([column], stored)
    : undefined;
  return difference === undefined ? [] : [difference];
}

/** Returns why columns are not the primary key. */
function primaryKeyDifference(
  columns: readonly TableColumn[],
  { primaryKey, primaryKeyFlaw }: StoredTable,
): string | undefined {
  if (primaryKey.length === columns.length && hasAll(primaryKey, columns)) {
    return primaryKeyFlaw && `the primary key is ${primaryKeyFlaw}`;
  }
  const key = primaryKey.length === 0
    ? "there is no primary key"
    : `the primary key is (${primaryKey.join(", ")})`;
  const [column] = columns;
  return `${key}, the model has ${columns.length === 1 ? column!.column : `(${listOf(columns)})`}`;
}

/** Returns why a column is not unique, or columns together. */
function uniqueDifference(
  columns: readonly TableColumn[],
  { indexes }: StoredTable,
): string | undefined {
  const own = indexes.filter((index) =>
    index.isUnique && index.columns.length === columns.length && hasAll(index.columns, columns)
  );
  const [first] = own;
  const [subject, declared] = columns.length === 1
    ? ["the column", "the field"]
    : [`(${listOf(columns)})`, "the model's"];
  if (!first) return `${subject} is not unique, ${declared} is`;
  return own.some(({ flaw }) => flaw === undefined)
    ? undefined
    : `${subject} is unique, but ${first.flaw}`;
}

/** Returns why rows cannot be found by columns: an index that has more columns has them first. */
function indexDifference(
  columns: readonly TableColumn[],
  { indexes }: StoredTable,
): string | undefined {
  const isFound = indexes.some((index) =>
    columns.every((column, place) => hasAll(index.columns.slice(place, place + 1), [column]))
  );
  return isFound ? undefined : `there is no index on (${listOf(columns)}), the model has one`;
}

function hasAll(
  names: readonly (string | null)[],
  columns: readonly TableColumn[],
): boolean {
  return columns.every(({ column, grammar }) =>
    names.some((name) => name !== null && folded(name, grammar) === folded(column, grammar))
  );
}

function listOf(columns: readonly TableColumn[]): string {
  return columns.map(({ name }) => name).join(", ");
}

function referenceDifferences(
  { column: name, field: { traits: { reference } }, grammar }: TableColumn,
  { table, stored }: { readonly table: Table; readonly stored: StoredTable },
): readonly string[] {
  if (!reference) return [];
  const [target, key] = referenceOf(reference, table);
  const isSame = (one: string, other: string) => folded(one, grammar) === folded(other, grammar);
  const ofColumn = stored.references.filter(({ column }) => isSame(column, name));
  const found = ofColumn.find((it) =>
    isSame(it.table, target) &&
    (it.key === "" ? reference.column === undefined : isSame(it.key, key))
  );
  if (found) {
    const onDelete = found.onDelete === "no action" ? "restrict" : found.onDelete;
    return onDelete === reference.onDelete
      ? []
      : [`the foreign key has on delete ${onDelete}, the model ${reference.onDelete}`];
  }
  const [other] = ofColumn;
  return other
    ? [`the foreign key refers to ${other.table}.${other.key}, the model to ${target}.${key}`]
    : [`there is no foreign key, the model refers to ${target}.${key}`];
}
