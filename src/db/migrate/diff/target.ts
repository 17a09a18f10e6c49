/**
 * What the tables of migrations are to become: as the models have them, without a change of what
 * models accept or cannot declare.
 *
 * @module
 */
import type { Grammar } from "../../connection/grammar.ts";
import type { Table } from "../../query/table.ts";
import type { TableColumn } from "../../query/table_column.ts";
import { folded } from "../catalogue.ts";
import { sizeOf, type StoredType, typeMismatch } from "../column_type.ts";
import { OWN_TABLES } from "../own_tables.ts";
import { isSameCheck, isSameColumn, isSameForeignKey, isSameKey } from "./compare.ts";
import type { Rename } from "./rename.ts";
import {
  byName,
  type ColumnSchema,
  type ForeignKeySchema,
  type KeySchema,
  type Schema,
  type TableSchema,
} from "./table_schema.ts";

/** The tables of a change. */
export interface Target {
  /** The tables after. */
  readonly to: Schema;
  /** The names of the tables before that are not compared. */
  readonly excluded: ReadonlySet<string>;
  /** What was not compared: `view active_users`. */
  readonly notCompared: readonly string[];
}

/** What the target depends on. */
export interface TargetOptions {
  /** The tables of the models. */
  readonly tables: readonly Table[];
  /** The SQL of the database. */
  readonly grammar: Grammar;
  /** The renames, which `current` has had. */
  readonly renames: readonly Rename[];
  /** The names of tables without a model; `*` at the end stands for any text. */
  readonly externalTables: readonly string[];
}

/** The types that `createTables()` uses. */
const OWN_TYPES: Readonly<Record<Grammar["brand"], RegExp>> = {
  PostgreSQL:
    /^(?:bigint|text|boolean|double precision|numeric\(\d+, \d+\)|jsonb|timestamptz\(3\)|date|time\(3\)|uuid|bytea)(?:\[\])?$/,
  MySQL:
    /^(?:bigint|longtext|varchar\(255\)|boolean|double|decimal\(\d+, \d+\)|json|datetime\(3\)|date|time\(3\)|char\(36\)|longblob)$/,
  SQLite: /^(?:integer|text|real|blob)$/,
};

/** Returns what `current` becomes: `desired`, as far as models declare it. */
export function targetOf(
  { current, desired }: { readonly current: Schema; readonly desired: Schema },
  options: TargetOptions,
): Target {
  const { tables, grammar, externalTables } = options;
  const isExternal = (name: string) =>
    OWN_TABLES.includes(name) || externalTables.some((pattern) => isMatch(name, pattern));
  // A model without a key may be one of a table that migrations create.
  const keyless = tables.filter(({ primaryKey }) => primaryKey.length === 0);
  const isCompared = (name: string) =>
    desired.tables.has(name) ||
    (!isExternal(name) && !keyless.some(({ source }) => isSame(source, name, grammar)));
  // A model refers to one of another model, and to a key that cannot be null.
  const isDeclarable = ({ table, key, onDelete }: ForeignKeySchema) => {
    if (!desired.tables.has(table)) return isCompared(table);
    const { columns = [], primaryKey } = current.tables.get(table) ?? {};
    const isNullable = columns.some((column) => column.name === key && column.isNullable);
    return onDelete !== "set default" && (!isNullable || primaryKey?.columns.join() === key);
  };
  const notCompared: string[] = current.others.map(({ text }) => text);
  const targets = Array.from(desired.tables.values(), (wanted) => {
    const found = current.tables.get(wanted.name);
    const model = tables.find(({ source }) => isSame(source, wanted.name, grammar));
    return found && model
      ? tableTarget({ found, wanted }, { ...options, model, notCompared, isDeclarable })
      : wanted;
  });
  const excluded = [...current.tables.keys()].filter((name) => !isCompared(name));
  const isDropped = (name: string) =>
    current.tables.has(name) && !desired.tables.has(name) && isCompared(name);
  for (const name of excluded) if (!OWN_TABLES.includes(name)) notCompared.push(`table ${name}`);
  return {
    to: {
      tables: byName(targets),
      others: current.others.filter(({ table }) => table === undefined || !isDropped(table)),
    },
    excluded: new Set(excluded),
    notCompared,
  };
}

/** Returns tables without some of them. */
export function without(schema: Schema, names: ReadonlySet<string>): Schema {
  return { ...schema, tables: new Map([...schema.tables].filter(([name]) => !names.has(name))) };
}

interface TableOptions extends TargetOptions {
  readonly model: Table;
  readonly notCompared: string[];
  /** Checks whether a model can declare a reference. */
  readonly isDeclarable: (key: ForeignKeySchema) => boolean;
}

function tableTarget(
  { found, wanted }: { readonly found: TableSchema; readonly wanted: TableSchema },
  { model, grammar, renames, notCompared, isDeclarable }: TableOptions,
): TableSchema {
  const { name } = found;
  notCompared.push(...found.others.map(({ text }) => text));
  const columns = wanted.columns.map((column) => {
    const before = found.columns.find((it) => it.name === column.name);
    const field = model.columns.find((it) => isSame(it.column, column.name, grammar));
    if (!before || !field) return column;
    const isKey = found.primaryKey?.columns.join() === before.name;
    const wanted = { ...column, ...scaleOf(field) };
    const after = columnTarget({ before, wanted }, { field, isKey });
    if (after.type !== column.type) {
      notCompared.push(`${name}.${after.name}: ${after.type} for ${column.type}`);
    } else if (after.collation !== column.collation) {
      notCompared.push(`${name}.${after.name}: collation ${after.collation ?? "of the table"}`);
    }
    if (hasKeyDefault({ before, wanted: column }, { isKey })) {
      notCompared.push(`${name}.${after.name}: default ${before.default}`);
    }
    return after;
  });
  const computed = found.columns.filter((column) =>
    column.computed !== undefined && !columns.some((it) => it.name === column.name)
  );
  notCompared.push(...computed.map((column) => `${name}.${column.name}: a computed column`));
  const undeclared = found.foreignKeys.filter((key) => !isDeclarable(key));
  for (const { column, table, key } of undeclared) {
    notCompared.push(`reference ${name}.${column} to ${table}.${key}`);
  }
  // Parts of a renamed table get the names of createTables(), so that the old ones are free.
  const isRenamed = renames.some(({ table, to }) => (table ?? to) === name);
  const kept = <P extends { readonly name: string }>(
    before: readonly P[],
    after: readonly P[],
    isSame: (one: P, other: P) => boolean,
  ) =>
    after.map((part) => {
      const own = before.find((it) => isSame(it, part));
      return own ? isRenamed ? { ...own, name: part.name } : own : part;
    });
  const hasNativeEnum = (column: string) =>
    columns.some((it) => it.name === column && it.values !== undefined);
  const isSamePrimary = found.primaryKey && wanted.primaryKey &&
    hasSameColumns(found.primaryKey, wanted.primaryKey);
  return {
    ...found,
    columns: [...columns, ...computed],
    primaryKey: isSamePrimary && !isRenamed ? found.primaryKey : wanted.primaryKey,
    uniques: kept(found.uniques, wanted.uniques, isSameKey),
    indexes: kept(
      found.indexes,
      wanted.indexes,
      (one, other) => isSameKey(one, other) && isImplicit(one, found) === isImplicit(other, wanted),
    ),
    checks: kept(
      found.checks,
      wanted.checks.filter(({ column }) => !hasNativeEnum(column)),
      isSameCheck,
    ),
    foreignKeys: [
      ...undeclared,
      ...kept(
        found.foreignKeys,
        wanted.foreignKeys,
        (one, other) => isSameForeignKey({ ...one, rest: "" }, { ...other, rest: "" }),
      ),
    ],
  };
}

function columnTarget(
  { before, wanted }: { readonly before: ColumnSchema; readonly wanted: ColumnSchema },
  { field: { field, grammar }, isKey }: { readonly field: TableColumn; readonly isKey: boolean },
): ColumnSchema {
  if (isSameColumn(before, wanted)) return before;
  const isAccepted = !OWN_TYPES[grammar.brand].test(before.type) &&
    typeMismatch(storedType(before, grammar), field, grammar) === undefined;
  const isGenerated = wanted.generation !== undefined &&
    (before.generation !== undefined || isFunction(before.default) ||
      (grammar.brand === "SQLite" && isKey && before.type === wanted.type));
  const isSameDefault = isAccepted && valueOf(before.default) === valueOf(wanted.default);
  return {
    ...wanted,
    ...isSameDefault && { default: before.default },
    ...(isAccepted || before.type === wanted.type) && {
      type: before.type,
      collation: before.collation,
      values: before.values,
    },
    ...isGenerated && { generation: before.generation, default: before.default },
    ...hasKeyDefault({ before, wanted }, { isKey }) && { default: before.default },
  };
}

/** Checks whether a column is a key that the database computes, which no model can declare. */
function hasKeyDefault(
  { before, wanted }: { readonly before: ColumnSchema; readonly wanted: ColumnSchema },
  { isKey }: { readonly isKey: boolean },
): boolean {
  return isKey && wanted.generation === undefined && wanted.default === undefined &&
    before.generation === undefined && isFunction(before.default);
}

/** Returns the scale of what SQLite stores as a whole number. */
function scaleOf({ field: { kind, traits: { size } }, grammar }: TableColumn) {
  if (grammar.brand !== "SQLite") return {};
  return { scale: kind === "decimal" ? size.scale : 0 };
}

/** Returns the type of a column as {@linkcode typeMismatch} knows it. */
export function storedType(
  { type, values }: ColumnSchema,
  { brand }: Pick<Grammar, "brand">,
): StoredType {
  const [name = ""] = /^[^([]+/.exec(type) ?? [];
  const short = SHORT_NAMES[brand][name.trim()] ?? name.trim();
  return {
    declared: type,
    name: values ? "enum" : type.endsWith("[]") ? `_${short}` : short,
    size: sizeOf(type),
  };
}

const SHORT_NAMES: Readonly<Record<Grammar["brand"], Readonly<Record<string, string>>>> = {
  PostgreSQL: {
    smallint: "int2",
    integer: "int4",
    bigint: "int8",
    boolean: "bool",
    "double precision": "float8",
    real: "float4",
    character: "bpchar",
  },
  MySQL: { boolean: "tinyint" },
  SQLite: {},
};

/**
 * Returns a default without the cast of a literal to its type, `'new'` of `'new'::state`, and
 * without the parentheses that MySQL needs around one of a long text.
 */
export function withoutCast(expression: string): string {
  return expression.replace(/^\(('(?:''|[^'])*')\)$/, "$1").replace(
    /^(E?'(?:''|[^'])*')::(?:"(?:""|[^"])*"|[\w .()[\],])+$/,
    "$1",
  );
}

/** Returns a default without its cast; SQLite has true and false for 1 and 0. */
function valueOf(expression: string | undefined): string | undefined {
  const plain = expression === undefined ? undefined : withoutCast(expression);
  return plain === "true" ? "1" : plain === "false" ? "0" : plain;
}

function isFunction(expression: string | undefined): boolean {
  return expression?.includes("(") ?? false;
}

/** Whether MySQL has created an index for a foreign key; it drops it where another one will do. */
function isImplicit({ name }: KeySchema, { foreignKeys }: TableSchema): boolean {
  return name !== "" && foreignKeys.some((key) => key.name === name);
}

function hasSameColumns(one: KeySchema, other: KeySchema): boolean {
  return one.columns.length === other.columns.length &&
    one.columns.every((column) => other.columns.includes(column));
}

function isSame(one: string, other: string, grammar: Grammar): boolean {
  return folded(one, grammar) === folded(other, grammar);
}

function isMatch(name: string, pattern: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
