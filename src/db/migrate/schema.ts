/**
 * The tables of models, as SQL.
 *
 * @module
 */
import {
  type ColumnDefinitionBuilder,
  type Compilable,
  CompiledQuery,
  type Expression,
  sql,
} from "kysely";
import { hexOf } from "../connection/codecs.ts";
import type { DbConnection } from "../connection/connection.ts";
import { type Reference, referredColumn } from "../model/reference.ts";
import { isGenerated, isUnique } from "../model/model.ts";
import { fnv1a, hexOfHash } from "../../platform/hash.ts";
import { sourceOf, type Table } from "../query/table.ts";
import type { TableColumn } from "../query/table_column.ts";
import { changeSchema } from "./schema_change.ts";

const MAX_NAME = 63;
const SQL_NAMES = { PostgreSQL: "postgres", MySQL: "mysql", SQLite: "sqlite" } as const;

/**
 * Creates missing tables, with their indexes and those of references, while no other instance does
 * so. Generated keys are never reused. Models without a key have no table here.
 *
 * @throws {TypeError} if a table refers to one that is not among them, or inside a transaction
 * @throws {DbError} if it fails
 */
export async function createTables(
  connection: DbConnection,
  tables: readonly Table[],
): Promise<void> {
  const action = "create tables";
  const statements = tableStatements(tables);
  await changeSchema(connection, {
    action,
    async run(kysely) {
      try {
        for (const statement of statements) {
          await kysely.executeQuery(CompiledQuery.raw(statement));
        }
      } catch (error) {
        throw connection.failure(action, error);
      }
    },
  });
}

/**
 * Returns the statements that create missing tables, with their indexes and their schemas.
 *
 * @throws {TypeError} if a table refers to one that is not among them
 */
export function tableStatements(tables: readonly Table[]): readonly string[] {
  // Those without a key may be views.
  const created = tables.filter(({ primaryKey }) => primaryKey.length > 0);
  const schemas = new Set(
    created.flatMap(({ source, rows }) =>
      source === rows ? [] : [source.slice(0, -rows.length - 1)]
    ),
  );
  return [
    ...Array.from(schemas, createSchema),
    ...inOrder(created).flatMap((table) => [createTable(table), ...createIndexes(table)])
      .map((query) => query.compile().sql),
  ];
}

/** Without a check, it would need the permission to create a schema that exists. */
function createSchema(name: string): string {
  return `do $fw$ begin
  if to_regnamespace('"${name}"') is null then create schema "${name}"; end if;
end $fw$`;
}

function createTable(definition: Table): Compilable {
  const { source, rows, columns, keys, primaryKey, connection: { kysely, grammar } } = definition;
  let table = kysely.schema.createTable(source).ifNotExists();
  for (const column of columns) {
    const type = grammar.columnType(column.field, column.isIndexed);
    // Kysely accepts an expression of any type as a data type.
    table = table.addColumn(
      column.column,
      type as "text",
      (definition) => define(definition, column),
    );
  }
  for (const { column, field: { traits: { reference } } } of columns) {
    if (!reference) continue;
    const [target, key] = referenceOf(reference, definition);
    // The builder cannot follow columns that are added in a loop.
    table = table.addForeignKeyConstraint(
      uniqueName(rows, [column], "fkey"),
      [column as never],
      target,
      [key],
      // With RESTRICT, some databases do not delete rows that only refer to each other.
      (constraint) =>
        constraint.onDelete(reference.onDelete === "restrict" ? "no action" : reference.onDelete),
    );
  }
  for (const key of keys.values()) {
    const names = columnsOf(key);
    table = key === primaryKey
      ? table.addPrimaryKeyConstraint(uniqueName(rows, names, "pkey"), names as never[])
      : table.addUniqueConstraint(uniqueName(rows, names, "key"), names as never[]);
  }
  if (grammar.brand === "MySQL") {
    // It has no CREATE INDEX IF NOT EXISTS.
    for (const names of definition.indexes.map(columnsOf)) {
      table = table.addIndex(uniqueName(rows, names, "idx"), names as never[]);
    }
  }
  return grammar.tableOptions ? table.modifyEnd(grammar.tableOptions) : table;
}

function createIndexes(table: Table): Compilable[] {
  const { source, rows, connection: { kysely, grammar } } = table;
  if (grammar.brand === "MySQL") return [];
  return [...referenceIndexes(table), ...table.indexes.map(columnsOf)].map((names) =>
    kysely.schema.createIndex(uniqueName(rows, names, "idx")).ifNotExists().on(source)
      .columns(names)
  );
}

/** MySQL creates indexes on foreign keys itself; the others would scan the whole table. */
function referenceIndexes({ columns, keys, indexes }: Table): readonly string[][] {
  const leading = new Set([...keys.values(), ...indexes].map(([first]) => first));
  return columns
    .filter((column) =>
      column.field.traits.reference && !isUnique(column.field) && !leading.has(column)
    )
    .map(({ column }) => [column]);
}

function columnsOf(columns: readonly TableColumn[]): string[] {
  return columns.map(({ column }) => column);
}

function define(definition: ColumnDefinitionBuilder, column: TableColumn): ColumnDefinitionBuilder {
  const { field, grammar } = column;
  const { flags, traits: { defaultValue, defaultSql, list, of } } = field;
  let defined = definition;
  if (!flags.has("nullable")) defined = defined.notNull();
  if (flags.has("primaryKey")) defined = defined.primaryKey();
  if (isGenerated(field)) defined = grammar.generated(defined);
  if (flags.has("unique")) defined = defined.unique();
  // A schema may convert its value.
  if (defaultValue !== undefined && typeof defaultValue !== "function" && of === undefined) {
    defined = defined.defaultTo(defaultLiteral(defaultValue, column));
  }
  const condition = list === undefined ? boundsOf(column) : listedIn(list, column);
  if (condition) defined = defined.check(condition);
  if (defaultSql !== undefined) {
    // MySQL and SQLite accept most expressions in parentheses only.
    const text = typeof defaultSql === "string" ? defaultSql : defaultSql[SQL_NAMES[grammar.brand]];
    defined = defined.defaultTo(sql.raw(`(${text})`));
  }
  return defined;
}

function listedIn(list: string, { column }: TableColumn): Expression<unknown> {
  const values = list.split("|").map((value) => sql.lit(value));
  return sql`${sql.ref(column)} in (${sql.join(values)})`;
}

/** Returns the condition that a value, or the number of characters of a text, is within bounds. */
function boundsOf(column: TableColumn): Expression<unknown> | undefined {
  const { field: { kind, traits: { rules } }, grammar: { brand } } = column;
  const { min, max } = rules?.bounds ?? {};
  const isText = kind === "text";
  // length() of MySQL counts bytes
  const length = sql.raw(brand === "SQLite" ? "length" : "char_length");
  const value = isText ? sql`${length}(${sql.ref(column.column)})` : sql.ref(column.column);
  const literal = (bound: unknown) =>
    sql.raw(String(isText ? bound : defaultLiteral(bound, column)));
  const parts = [
    ...min === undefined ? [] : [sql`${value} >= ${literal(min)}`],
    ...max === undefined ? [] : [sql`${value} <= ${literal(max)}`],
  ];
  return parts.length > 0 ? sql.join(parts, sql` and `) : undefined;
}

function defaultLiteral(value: unknown, { field, codec, grammar }: TableColumn): unknown {
  // Codecs encode these for binding, which may differ from a literal.
  if (typeof value === "bigint" || field.kind === "integer") return value;
  if (!(value instanceof Uint8Array)) return grammar.literal(codec.encode(value, field), field);
  const hex = hexOf(value);
  return grammar.brand === "PostgreSQL" ? `\\x${hex}` : sql`(x${sql.lit(hex)})`;
}

/** Returns a name that is unique in the database, of at most 63 characters, PostgreSQL's limit. */
function uniqueName(
  table: string,
  columns: readonly string[],
  suffix: "fkey" | "idx" | "key" | "pkey",
): string {
  const column = columns.join("_");
  const plain = `${table}_${column}_${suffix}`;
  // If the table's name has no underscore, no other table and column have this name.
  const isPlain = !table.includes("_") && columns.length === 1;
  if (plain.length <= MAX_NAME && isPlain) return plain;
  const end = `_${hexOfHash(fnv1a(`${table}.${columns.join(".")}`))}_${suffix}`;
  return `${table}_${column}`.slice(0, MAX_NAME - end.length) + end;
}

/** Returns the table and the column that a column of a table refers to. */
export function referenceOf(
  reference: Reference,
  table: Table,
): readonly [table: string, key: string] {
  const { source, primaryKey, connection: { grammar } } = table;
  const { target, column } = reference;
  if (target === "self") {
    const key = column === undefined ? primaryKey[0]! : table.column(column, "refer");
    return [source, key.column];
  }
  const name = referredColumn(target["~model"], reference);
  return [
    sourceOf(target["~model"], grammar),
    target["~model"].fields[name]?.traits.column ?? name,
  ];
}

/** Sorts tables after those they refer to. */
function inOrder(tables: readonly Table[]): readonly Table[] {
  const ordered = new Set<Table>();
  const add = (table: Table) => {
    if (ordered.has(table)) return;
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
