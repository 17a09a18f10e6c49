/**
 * The models of the tables of an existing database.
 *
 * @module
 */
import type { Grammar } from "../../connection/grammar.ts";
import { KEYLESS } from "../../model/compound_keys.ts";
import { IDENTIFIER } from "../../model/field.ts";
import { isMemberName } from "../../model/model.ts";
import { keyKind } from "../../model/reference.ts";
import { type CodedField, defaultCode, fieldOf, hasList } from "./field_code.ts";
import { inOrder, isSameKey } from "./compare.ts";
import {
  type ForeignKeySchema,
  rowsOf,
  type Schema,
  schemaOf,
  type TableSchema,
} from "./table_schema.ts";
import { OWN_TABLES } from "../own_tables.ts";

/** A reference of a field. */
export interface IntrospectedReference {
  /** The model, `"self"` for that of the field. */
  readonly model: string;
  /** The options of `references`, as code; empty without any. */
  readonly options: string;
}

/** A field of a table. */
export interface IntrospectedField {
  /** The name, which is that of the column. */
  readonly name: string;
  /** The code, without the reference: `field.text().unique()`. */
  readonly code: string;
  /** What it refers to. */
  readonly reference?: IntrospectedReference;
}

/** A model of a table. */
export interface IntrospectedModel {
  /** Its name. */
  readonly name: string;
  /** Its fields. */
  readonly fields: readonly IntrospectedField[];
  /** Its options, as code; empty without any. */
  readonly options: string;
  /** What the model lacks: `photo: point is of no kind`. */
  readonly notes: readonly string[];
}

/** Which tables have models. */
export interface IntrospectOptions {
  /** Other schemas of PostgreSQL, beside the current one. */
  readonly schemas?: readonly string[];
  /** Takes note of a table without a model: `table 2fa, whose name no model can have`. */
  readonly onSkipped?: (table: string) => void;
}

/** Returns the models of tables, each after those that it refers to. */
export function modelsOfTables(
  schema: Schema,
  { grammar, onSkipped = () => {} }: IntrospectOptions & { readonly grammar: Grammar },
): readonly IntrospectedModel[] {
  const tables = [...schema.tables.values()].filter(({ name }) => !OWN_TABLES.includes(name));
  const fields = new Map(tables.map((table) => [
    table.name,
    new Map(table.columns.flatMap((column) => {
      const made = isMemberName(column.name) && fieldOf(column, { table, grammar });
      return made ? [[column.name, made]] as const : [];
    })),
  ]));
  const models: IntrospectedModel[] = [];
  const known = new Set<string>();
  const names = namesOf(tables, grammar);
  for (const table of inOrder(tables)) {
    if (!names.has(table.name)) {
      onSkipped(`table ${table.name}, whose name no model can have`);
      continue;
    }
    models.push(modelOf(table, { tables, fields, known, names, grammar }));
    known.add(table.name);
  }
  for (const { text } of schema.others) if (text.startsWith("table ")) onSkipped(text);
  return models;
}

/** Returns the names of models by those of tables, except of one whose name no model can have. */
function namesOf(
  tables: readonly TableSchema[],
  { brand }: Grammar,
): ReadonlyMap<string, string> {
  const isQualified = ({ name }: TableSchema) => brand === "PostgreSQL" && schemaOf(name) !== "";
  const own = tables.filter((table) => !isQualified(table)).map(({ name }) => name);
  const names = new Map(own.map((name) => [name, name]));
  for (const { name } of tables.filter(isQualified)) {
    const joined = name.replace(".", "_");
    let free = joined;
    for (let n = 2; [...names.values()].includes(free); n++) free = `${joined}_${n}`;
    names.set(name, free);
  }
  return new Map(
    [...names].filter(([table, name]) => IDENTIFIER.test(name) && IDENTIFIER.test(rowsOf(table))),
  );
}

interface Context {
  readonly tables: readonly TableSchema[];
  readonly grammar: Grammar;
  /** The names of the models. */
  readonly names: ReadonlyMap<string, string>;
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, CodedField>>;
  /** The tables whose models come before. */
  readonly known: ReadonlySet<string>;
}

function modelOf(table: TableSchema, context: Context): IntrospectedModel {
  const { grammar } = context;
  const own = context.fields.get(table.name)!;
  const canBeKey = (columns: readonly string[]) =>
    columns.every((column) => own.has(column) && !KEYLESS.includes(own.get(column)!.field.kind));
  const primary = table.primaryKey?.columns ?? [];
  const hasKey = primary.length > 0 && canBeKey(primary);
  const uniques = hasKey ? table.uniques.filter(({ columns }) => canBeKey(columns)) : [];
  const notes: string[] = [];
  const fields = table.columns.flatMap((column): IntrospectedField[] => {
    const made = own.get(column.name);
    if (!made || column.computed !== undefined) {
      if (column.computed === undefined) {
        const reason = isMemberName(column.name)
          ? `${column.type} is the type of no kind of field`
          : "no field can have the name";
        notes.push(`${column.name}: ${reason}`);
      }
      return [];
    }
    const isPrimary = hasKey && primary.join() === column.name;
    const isUnique = uniques.some(({ columns }) => columns.join() === column.name);
    const key = table.foreignKeys.find((key) => key.column === column.name);
    const reference = key && referenceTo(key, { table, context, made });
    if (key && !reference) notes.push(`${column.name}: refers to ${key.table}.${key.key}`);
    if (made.field.kind !== "enum" && hasList(column, table)) {
      notes.push(`${column.name}: a check of values that no enum can have`);
    }
    const isWhole = made.field.kind === "integer" || made.field.kind === "bigint";
    const isGenerated = column.generation !== undefined || column.default?.includes("(") ||
      (grammar.brand === "SQLite" && column.type === "integer" && column.default === undefined);
    const initial = defaultCode(column, made.field, grammar);
    const isComputed = isPrimary && !isWhole && initial.startsWith(".defaultSql(");
    if (isComputed) notes.push(`${column.name}: default ${column.default}`);
    const code = [
      made.code,
      isPrimary ? ".primaryKey()" : "",
      isUnique && !isPrimary ? ".unique()" : "",
      column.isNullable && !primary.includes(column.name) ? ".nullable()" : "",
      isComputed || (primary.includes(column.name) && (isWhole || !isPrimary)) ? "" : initial,
      isComputed && made.field.kind === "uuid" ? ".default(() => crypto.randomUUID())" : "",
      isPrimary && isWhole && !isGenerated && !reference
        ? `.default(() => { throw new TypeError("${column.name} is not generated"); })`
        : "",
    ].join("");
    return [{ name: column.name, code, ...reference && { reference } }];
  });
  const compound = uniques.filter(({ columns }) => columns.length > 1);
  const indexes = table.indexes.filter((index) =>
    canBeKey(index.columns) &&
    !fields.some(({ name, reference }) => reference && index.columns.join() === name) &&
    !table.uniques.some((unique) => isSameKey(unique, index))
  );
  const schema = schemaOf(table.name);
  const list = (columns: readonly string[]) => JSON.stringify(columns);
  const options = [
    ...schema === "" ? [] : [`table: "${rowsOf(table.name)}"`, `schema: "${schema}"`],
    ...!hasKey ? ["primaryKey: false"] : primary.length > 1 ? [`primaryKey: ${list(primary)}`] : [],
    ...compound.length > 0
      ? [`unique: [${compound.map(({ columns }) => list(columns)).join(", ")}]`]
      : [],
    ...indexes.length > 0
      ? [`index: [${indexes.map(({ columns }) => list(columns)).join(", ")}]`]
      : [],
  ];
  return {
    name: context.names.get(table.name)!,
    fields,
    options: options.length > 0 ? `{ ${options.join(", ")} }` : "",
    notes: [...notes, ...table.others.map(({ text }) => text)],
  };
}

/** Returns the reference of a foreign key, if a model can declare it. */
function referenceTo(
  { table: target, key, onDelete }: ForeignKeySchema,
  { table, context: { tables, fields, known, names }, made }: {
    readonly table: TableSchema;
    readonly context: Context;
    readonly made: CodedField;
  },
): IntrospectedReference | undefined {
  const isSelf = target === table.name;
  const other = tables.find(({ name }) => name === target);
  const referred = fields.get(target)?.get(key);
  if (!other || !referred || (!isSelf && !known.has(target))) return undefined;
  if (keyKind(referred.field) !== keyKind(made.field) || onDelete === "set default") {
    return undefined;
  }
  const isPrimary = other.primaryKey?.columns.join() === key;
  const isUnique = other.uniques.some(({ columns }) => columns.join() === key) &&
    !other.columns.some(({ name, isNullable }) => name === key && isNullable);
  if (!isPrimary && !isUnique) return undefined;
  const options = [
    ...onDelete === "cascade" || onDelete === "set null" ? [`onDelete: "${onDelete}"`] : [],
    ...isPrimary ? [] : [`column: "${key}"`],
  ];
  return {
    model: isSelf ? "self" : names.get(target)!,
    options: options.length > 0 ? `{ ${options.join(", ")} }` : "",
  };
}
