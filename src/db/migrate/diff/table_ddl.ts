/**
 * The SQL of tables and their parts.
 *
 * @module
 */
import type { Grammar } from "../../connection/grammar.ts";
import {
  type CheckSchema,
  COLUMN,
  type ColumnSchema,
  type ForeignKeySchema,
  type KeySchema,
  quoted,
  quotedTable,
  rowsOf,
  type TableSchema,
} from "./table_schema.ts";

/** Which database the SQL is for. */
export type Brand = Pick<Grammar, "brand">;

/** The table of a part, and the database. */
export interface TableAndBrand {
  /** The table. */
  readonly table: TableSchema;
  /** The database. */
  readonly brand: Brand;
}

/** Returns a list of columns: `("a", "b")`. */
export function listed(columns: readonly string[], brand: Brand): string {
  return `(${columns.map((column) => quoted(column, brand)).join(", ")})`;
}

/**
 * Returns the definition of a column: `"age" bigint default 0 not null`. That of a primary key
 * omits that it is not null.
 */
export function columnDefinition(
  column: ColumnSchema,
  brand: Brand,
  { isKey = false }: { readonly isKey?: boolean } = {},
): string {
  const { name, computed, generation, isNullable } = column;
  const isSerial = generation?.endsWith("serial") ?? false;
  return [
    quoted(name, brand),
    isSerial ? generation : typeOf(column, brand),
    computed,
    brand.brand === "PostgreSQL" && !isSerial ? generation : undefined,
    column.default === undefined ? undefined : `default ${defaultOf(column)}`,
    isNullable
      ? /^timestamp/.test(column.type) && brand.brand === "MySQL" ? "null" : ""
      : isKey
      ? ""
      : "not null",
    brand.brand === "MySQL" ? generation : undefined,
  ].filter(Boolean).join(" ");
}

/** Returns the SQL after `default`; PostgreSQL casts a text to the type that it has. */
export function defaultOf({ default: expression = "null" }: ColumnSchema): string {
  return expression.replace(/^('(?:''|[^'])*')::text$/, "$1");
}

/** Types of SQLite that are words, with a size; any other text can be a type, in quotes. */
const PLAIN_TYPE =
  /^(?:(?:unsigned )?(?:big |tiny )?int(?:eger)?|double precision|(?:big|small|tiny|medium)int|(?:n?var|n)?char|n?text|clob|blob|real|double|float|numeric|decimal|bool(?:ean)?|date(?:time)?|time(?:stamp)?|uuid|jsonb?|any|)(?: ?\(\d+(?:, ?\d+)?\))?$/;

/** Returns the type of a column, with its collation. */
export function typeOf({ type, collation }: ColumnSchema, brand: Brand): string {
  if (brand.brand !== "SQLite") {
    return collation === undefined ? type : `${type} collate ${collation}`;
  }
  const plain = PLAIN_TYPE.test(type) ? type : quoted(type, brand);
  if (collation === undefined) return plain;
  return `${plain} collate ${/^\w+$/.test(collation) ? collation : quoted(collation, brand)}`;
}

/** Returns the condition of a check. */
export function conditionOf({ column, condition }: CheckSchema, brand: Brand): string {
  const short = condition
    .replace(/^\0 = any \(array\[(.+)\]\)$/, "\0 in ($1)")
    .replaceAll(/('(?:''|[^'])*')::(?:text|character varying)/g, "$1");
  return short.replaceAll(COLUMN, () => quoted(column, brand)); // a name can have `$&`
}

/** Returns a check: `constraint "cats_age_check" check ("age" >= 0)`. */
export function checkDefinition(check: CheckSchema, of: TableAndBrand): string {
  const { brand } = of;
  return `${constraint(checkName(check, of), brand)}check (${conditionOf(check, brand)})`;
}

/** Returns the name of a check; on MySQL, where that of the catalogue is a number, a new one. */
export function checkName(
  check: CheckSchema,
  { table: { name }, brand: { brand } }: TableAndBrand,
): string {
  if (brand !== "MySQL") return check.name;
  return `${name}_${check.column}`.slice(0, 56) + "_check";
}

/** Returns a foreign key. */
export function foreignKeyDefinition(
  { name, column, table, key, onDelete, rest }: ForeignKeySchema,
  brand: Brand,
): string {
  const effect = onDelete === "no action" || onDelete === "restrict"
    ? ""
    : ` on delete ${onDelete}`;
  return `${constraint(name, brand)}foreign key ${listed([column], brand)} references ` +
    `${quotedTable(table, brand)} ${listed([key], brand)}${effect}${rest}`;
}

/** Returns a unique key of a table. */
export function uniqueDefinition({ name, columns }: KeySchema, brand: Brand): string {
  return `${constraint(name, brand)}unique ${listed(columns, brand)}`;
}

/** Returns a primary key of a table. */
export function primaryKeyDefinition({ name, columns }: KeySchema, brand: Brand): string {
  const named = brand.brand === "PostgreSQL" ? constraint(name, brand) : "";
  return `${named}primary key ${listed(columns, brand)}`;
}

/** Returns the statement that creates an index. */
export function createIndex(
  { name, columns }: KeySchema,
  { table, brand, isUnique = false, concurrently = false }: {
    readonly table: string;
    readonly brand: Brand;
    readonly isUnique?: boolean;
    readonly concurrently?: boolean;
  },
): string {
  const kind = `create ${isUnique ? "unique " : ""}index ${concurrently ? "concurrently " : ""}`;
  return `${kind}${quoted(name, brand)} on ${quotedTable(table, brand)} ${listed(columns, brand)}`;
}

/** Whether a unique key of a table is an index that no constraint has. */
export function isUniqueIndex({ isIndex = false }: KeySchema, { brand }: Brand): boolean {
  return isIndex && brand !== "MySQL";
}

/** Returns the statements that create a table, with its indexes. */
export function createTable(
  table: TableSchema,
  { brand, as = table.name }: {
    readonly brand: Brand;
    /** Its name, if it is not that of the table. */
    readonly as?: string;
  },
): readonly string[] {
  const { primaryKey, columns } = table;
  const isPlainKey = primaryKey?.columns.length === 1 &&
    (brand.brand !== "PostgreSQL" || primaryKey.name === `${rowsOf(table.name)}_pkey`);
  const lines = [
    ...columns.map((column) => {
      const isKey = isPlainKey && column.name === primaryKey.columns[0];
      const definition = columnDefinition(column, brand, { isKey });
      if (!isKey) return definition;
      const generation = brand.brand === "SQLite" ? ` ${column.generation ?? ""}` : "";
      return `${definition} primary key${generation}`.trimEnd();
    }),
    ...primaryKey && !isPlainKey ? [primaryKeyDefinition(primaryKey, brand)] : [],
    ...table.uniques.filter((key) => !isUniqueIndex(key, brand))
      .map((key) => uniqueDefinition(key, brand)),
    ...table.checks.map((check) => checkDefinition(check, { table, brand })),
    ...table.foreignKeys.map((key) => foreignKeyDefinition(key, brand)),
    ...brand.brand === "MySQL"
      ? explicitIndexes(table)
        .map(({ name, columns }) => `index ${quoted(name, brand)} ${listed(columns, brand)}`)
      : [],
    ...table.others.flatMap(({ sql, isInside }) => isInside && sql ? [sql] : []),
  ];
  return [
    `create table ${quotedTable(as, brand)} (\n  ${lines.join(",\n  ")}\n)${table.options}`,
    ...as === table.name ? createIndexes(table, brand) : [],
  ];
}

/** Returns the statements that create the indexes of a table. */
export function createIndexes(table: TableSchema, brand: Brand): readonly string[] {
  const { name } = table;
  return [
    ...table.uniques.filter((key) => isUniqueIndex(key, brand))
      .map((key) => createIndex(key, { table: name, brand, isUnique: true })),
    ...brand.brand === "MySQL"
      ? []
      : table.indexes.map((key) => createIndex(key, { table: name, brand })),
    ...table.others.flatMap(({ sql, isInside }) => sql && !isInside ? [sql] : []),
  ];
}

/** Returns the indexes that MySQL does not create itself, for a foreign key. */
function explicitIndexes({ indexes, foreignKeys }: TableSchema): readonly KeySchema[] {
  return indexes.filter((index) => !foreignKeys.some(({ name }) => name === index.name));
}

function constraint(name: string, brand: Brand): string {
  return name === "" ? "" : `constraint ${quoted(name, brand)} `;
}
