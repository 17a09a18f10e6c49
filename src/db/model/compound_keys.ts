/**
 * Keys and indexes of several columns of a model.
 *
 * @module
 */
import type { FieldFlag, FieldKind } from "./field_kind.ts";

/** The keys and indexes of a model whose columns are `C`. */
export interface KeyOptions<C extends string = string> {
  /**
   * The columns of the primary key, if it has several: `["tenant_id", "id"]`. They are neither
   * generated nor updated. A condition on a unique row names them as it does those of `unique`.
   * `false` declares a model without a key, such as one of a view: its repository only reads.
   */
  readonly primaryKey?: readonly C[] | false;
  /**
   * Columns that are unique together: `[["tenant_id", "slug"]]`. A condition on a unique row names
   * them by their names joined by `_`: `{ tenant_id_slug: { tenant_id, slug } }`. Rows that have
   * `null` in one of them are not compared.
   */
  readonly unique?: readonly (readonly C[])[];
  /** Indexes, each of a column or of several: `["name", ["tenant_id", "created_at"]]`. */
  readonly index?: readonly (C | readonly C[])[];
}

/** What the checks of keys need of a field. */
export interface KeyField {
  readonly kind: FieldKind;
  readonly flags: ReadonlySet<FieldFlag>;
  readonly traits: { readonly defaultSql?: unknown };
}

/** A model's name, fields and keys. */
export interface KeyedModel {
  readonly table: string;
  readonly fields: Readonly<Record<string, KeyField>>;
  readonly options: KeyOptions;
}

/** The kinds that not every database can index. */
export const KEYLESS: readonly FieldKind[] = ["json", "blob", "array"];

/** Returns the unique keys of several columns, by the names that conditions have for them. */
export function compoundKeys(options: KeyOptions): ReadonlyMap<string, readonly string[]> {
  return new Map(listsOf(options).map((columns) => [columns.join("_"), columns]));
}

/**
 * Returns the columns of the primary key.
 *
 * @throws {TypeError} if there is not exactly one, or it can be `null`
 */
export function primaryKeyOf({ table, fields, options }: KeyedModel): readonly string[] {
  const keys = Object.keys(fields).filter((name) => fields[name]?.flags.has("primaryKey"));
  if (options.primaryKey === false) {
    const unique = Object.keys(fields).filter((name) => fields[name]?.flags.has("unique"));
    const [other] = [...keys, ...unique, ...compoundKeys(options).keys()];
    if (other === undefined) return [];
    throw new TypeError(`Cannot define ${table}: primaryKey is false, but ${other} is a key`);
  }
  const count = keys.length + (options.primaryKey ? 1 : 0);
  if (count !== 1) {
    throw new TypeError(`Cannot define ${table}: it has ${count} primary keys, not one`);
  }
  const columns = options.primaryKey ?? keys;
  const nullable = columns.find((name) => fields[name]?.flags.has("nullable"));
  if (nullable === undefined) return Object.freeze([...columns]);
  throw new TypeError(`Cannot define ${table}: the primary key ${nullable} is nullable`);
}

/** Returns the lists of the columns of indexes. */
export function indexesOf(
  { index = [] }: KeyOptions,
): readonly (readonly string[])[] {
  return index.map((columns) => typeof columns === "string" ? [columns] : columns);
}

/**
 * Checks the keys of a model.
 *
 * @throws {TypeError} if one has an unknown column, one twice, one that has no index, or too few
 */
export function checkKeys(model: KeyedModel): void {
  const { table, fields, options } = model;
  for (const name of ["primaryKey", "unique", "index"] as const) {
    if (name === "primaryKey" && options[name] === false) continue;
    if (options[name] !== undefined && !Array.isArray(options[name])) {
      throw new TypeError(`Cannot define ${table}: ${name} is not a list`);
    }
  }
  if (options.primaryKey) checkColumns(model, { of: "primaryKey", columns: options.primaryKey });
  for (const columns of options.unique ?? []) checkColumns(model, { of: "unique", columns });
  for (const columns of indexesOf(options)) checkColumns(model, { of: "index", columns });
  const names = listsOf(options).map((columns) => columns.join("_"));
  for (const [index, name] of names.entries()) {
    if (name in fields) {
      throw new TypeError(`Cannot define ${table}: ${name} is a key and a column`);
    }
    if (names.indexOf(name) === index) continue;
    throw new TypeError(`Cannot define ${table}: two keys have the name ${name}`);
  }
}

function listsOf({ primaryKey, unique = [] }: KeyOptions): readonly (readonly string[])[] {
  return primaryKey ? [primaryKey, ...unique] : unique;
}

function checkColumns(
  { table, fields }: KeyedModel,
  { of, columns }: { readonly of: keyof KeyOptions; readonly columns: unknown },
): void {
  const refuse = (reason: string) => new TypeError(`Cannot define ${table}: ${of} ${reason}`);
  const least = of === "index" ? 1 : 2;
  if (!Array.isArray(columns) || columns.length < least) {
    throw refuse(of === "index" ? "has no column" : "has no list of two columns or more");
  }
  for (const [index, name] of columns.entries()) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) throw refuse(`has no column ${JSON.stringify(name)}`);
    if (columns.indexOf(name) < index) throw refuse(`has ${name} twice`);
    if (KEYLESS.includes(field.kind)) throw refuse(`has ${name}, which is ${field.kind}`);
    if (of === "primaryKey" && field.traits.defaultSql !== undefined) {
      // MySQL does not return it: the new row could not be found.
      throw refuse(`has ${name}, whose default is SQL`);
    }
    if (of === "unique" && field.flags.has("deletedAt")) {
      // It is null in all rows that are not marked, which are not compared.
      throw refuse(`has ${name}, which marks rows`);
    }
    if (of !== "index" && field.flags.has("version")) {
      throw refuse(`has ${name}, which each update changes`);
    }
  }
}
