/**
 * Models: declarations of tables.
 *
 * @module
 */
import { checkKeys, KEYLESS, type KeyOptions, primaryKeyOf } from "./compound_keys.ts";
import { Field, IDENTIFIER } from "./field.ts";
import { referenceMistake, type ReferenceTarget } from "./reference.ts";
import { testsOf } from "./field_rules.ts";
import type { FieldDetail, FieldFlag, FieldKind, KindInput, KindValue } from "./field_kind.ts";

/** Any field. */
export type AnyField = Field<FieldKind, FieldFlag, ReferenceTarget | "self", FieldDetail>;

/** The fields of a model by name. */
export type Fields = Readonly<Record<string, AnyField>>;

/** The value that a field of a row holds. */
export type FieldValue<F> = F extends Field<infer K, infer Flag, infer _, infer V>
  ? KindValue<K, V> | ("nullable" extends Flag ? null : never)
  : never;

/** The value that data has for a field. */
export type FieldInput<F> = F extends Field<infer K, infer Flag, infer _, infer V>
  ? KindInput<K, V> | ("nullable" extends Flag ? null : never)
  : never;

/** The direction of an order. */
export type SortOrder = "asc" | "desc";

/** The declaration of a model, besides its name and its fields, whose names are `C`. */
export interface ModelOptions<C extends string = string> extends KeyOptions<C> {
  /** The name of the table in the database; that of the model unless given. */
  readonly table?: string;
  /**
   * The schema of the table on PostgreSQL. The databases of MySQL and SQLite have no schemas: there
   * it precedes the name of the table, as in `audit_logs`. The type of `db.kysely` has `audit.logs`
   * on each database: on those two, refer to the table by `sql.table("audit_logs")`.
   */
  readonly schema?: string;
}

/** The declaration of a model. */
export interface ModelDefinition<
  T extends string = string,
  F extends Fields = Fields,
  O extends ModelOptions = ModelOptions,
> {
  /** The model's name: that of the table, unless `options` has another. */
  readonly table: T;
  /** The fields by name, in the order they were declared. */
  readonly fields: F;
  /** The options. */
  readonly options: O;
  /** The columns of the primary key. */
  readonly primaryKey: readonly string[];
}

/** A column of a model; it builds the same plain values as object notation. */
export class Column<N extends string, V, D extends ModelDefinition = ModelDefinition> {
  /** The column's name. */
  readonly name: N;
  /** The model it is a column of. */
  readonly "~model": D;

  /** Creates a column; {@linkcode model} makes one for each field. */
  constructor(name: N, model: D) {
    this.name = name;
    this["~model"] = model;
  }

  /** A condition: `User.email.equals(e)` is `{ email: { equals: e } }`. */
  equals<const E extends V>(value: E): { readonly [K in N]: { readonly equals: E } } {
    return named(this.name, { equals: value });
  }

  /** An order: `User.email.order("asc")` is `{ email: "asc" }`. */
  order<const O extends SortOrder>(order: O): { readonly [K in N]: O } {
    return named(this.name, order);
  }
}

/** Any model. */
export interface AnyModel {
  /** The declaration; its name cannot be that of a column. */
  readonly "~model": ModelDefinition;
}

/** A model without a key, which is only read. */
export interface KeylessModel extends AnyModel {
  /** The declaration. */
  readonly "~model": ModelDefinition<string, Fields, { readonly primaryKey: false }>;
}

/** A model: its definition, and a {@linkcode Column} for each field. */
export type Model<
  T extends string,
  F extends Fields,
  O extends ModelOptions = Record<never, never>,
> =
  & { readonly "~model": ModelDefinition<T, F, O> }
  & {
    readonly [K in keyof F & string]: Column<K, FieldValue<F[K]>, ModelDefinition<T, F, O>>;
  }
  & VersionMember<F>;

/** The name of the version of a model's rows, if it has one: what the `etag` of a route needs. */
export type VersionMember<F extends Fields> = [VersionName<F>] extends [never] ? unknown : {
  /** The name of the field. */
  readonly "~version": VersionName<F>;
};

/** The name of the field that is the version of rows. */
export type VersionName<F extends Fields> = {
  [K in keyof F & string]: F[K] extends Field<"integer", infer Flag>
    ? "version" extends Flag ? K : never
    : never;
}[keyof F & string];

const RESERVED: readonly string[] = ["AND", "OR", "NOT"];
/** The options that `checkKeys` checks. */
const KEYS: readonly string[] = ["primaryKey", "unique", "index"];

/**
 * Declares a model of a table. Its types are inferred: `Row<typeof User>`, `CreateInput`,
 * `UpdateInput`, `Where`, `FindManyOptions`.
 *
 * @example
 * ```ts
 * import { field, model, type Row } from "@fw/fw/db";
 *
 * const User = model("users", {
 *   id: field.integer().primaryKey(),
 *   email: field.text().unique(),
 *   active: field.boolean().default(true),
 * });
 * const user: Row<typeof User> = { id: 1, email: "ada@example.org", active: true };
 * ```
 *
 * @throws {TypeError} if a name is not an identifier (ASCII letters, digits and `_`, at most 63),
 * two fields have the same column, there is not exactly one primary key, it is nullable, or a key
 * or an index has an unknown column
 */
export function model<
  const T extends string,
  F extends Fields,
  const O extends ModelOptions<keyof F & string> = Record<never, never>,
>(table: T, fields: F, options?: O): Model<T, F, O> {
  if (!IDENTIFIER.test(table)) {
    throw new TypeError(`Cannot define model: ${quoted(table)} is not a table name`);
  }
  for (const [name, value] of Object.entries(fields)) checkField({ table, name, value });
  const columns = Object.entries(fields).map(([name, field]) => columnOf(name, field));
  const twice = columns.find((column, index) => columns.indexOf(column) !== index);
  if (twice) throw new TypeError(`Cannot define ${table}: two fields have the column ${twice}`);
  const marks = namesWith("deletedAt", fields);
  if (marks.length > 1) {
    throw new TypeError(`Cannot define ${table}: ${marks.length} columns mark deleted rows`);
  }
  const versions = namesWith("version", fields);
  if (versions.length > 1) {
    throw new TypeError(
      `Cannot define ${table}: ${versions.length} columns are versions of its rows`,
    );
  }
  checkOptions(table, options ?? {});
  checkKeys({ table, fields, options: options ?? {} });
  const definition: ModelDefinition<T, F, O> = {
    table,
    fields: Object.freeze({ ...fields }),
    // Without options, their type has no member.
    options: Object.freeze({ ...options }) as O,
    primaryKey: primaryKeyOf({ table, fields, options: options ?? {} }),
  };
  checkSelfReferences(definition);
  const members = Object.keys(fields).map((name) => [name, new Column(name, definition)]);
  const [version] = versions;
  // The columns are built from the keys of `fields`, which the type maps over.
  return Object.freeze({
    "~model": definition,
    ...version !== undefined && { "~version": version },
    ...Object.fromEntries(members),
  }) as Model<T, F, O>;
}

/** Returns the name of the column of a field. */
export function columnOf(name: string, { traits }: Pick<AnyField, "traits">): string {
  return traits.column ?? name;
}

/** Checks whether the database generates the value of a field for new rows. */
export function isGenerated({ kind, flags, traits }: AnyField): boolean {
  return (kind === "integer" || kind === "bigint") && flags.has("primaryKey") &&
    !flags.has("default") && traits.reference === undefined;
}

/** Checks whether the database sets the value of a field in rows that are created without one. */
export function isFilled(field: AnyField): boolean {
  return field.traits.defaultSql !== undefined || isGenerated(field);
}

/** Checks whether data that creates a row must have a value of a field. */
export function isRequired(field: AnyField): boolean {
  return !field.flags.has("nullable") && !field.flags.has("default") && !isFilled(field);
}

/** Checks whether at most one row holds each value of a field. */
export function isUnique({ flags }: Pick<AnyField, "flags">): boolean {
  return flags.has("unique") || flags.has("primaryKey");
}

/** Checks whether a condition can have a member of a name that stands for rows or values. */
export function isMemberName(name: string): boolean {
  return IDENTIFIER.test(name) && !RESERVED.includes(name) && !(name in Object.prototype);
}

function checkOptions(model: string, options: ModelOptions): void {
  const { table = model, schema } = options;
  for (const [name, value] of Object.entries(options)) {
    if (KEYS.includes(name)) continue;
    if (name !== "table" && name !== "schema") {
      throw new TypeError(`Cannot define ${model}: there is no option ${quoted(name)}`);
    }
    if (!IDENTIFIER.test(String(value))) {
      throw new TypeError(`Cannot define ${model}: ${quoted(value)} is not the name of a ${name}`);
    }
  }
  if (schema !== undefined && !IDENTIFIER.test(`${schema}_${table}`)) {
    throw new TypeError(`Cannot define ${model}: ${schema}_${table} has over 63 characters`);
  }
}

function checkField(
  { table, name, value }: {
    readonly table: string;
    readonly name: string;
    readonly value: unknown;
  },
): void {
  if (!IDENTIFIER.test(name)) {
    throw new TypeError(`Cannot define ${table}: ${quoted(name)} is not a column name`);
  }
  if (RESERVED.includes(name) || name in Object.prototype) {
    throw new TypeError(`Cannot define ${table}: the column name ${name} is reserved`);
  }
  if (!(value instanceof Field)) {
    throw new TypeError(`Cannot define ${table}: ${name} is not made by field`);
  }
  if (value.flags.has("primaryKey") && KEYLESS.includes(value.kind)) {
    throw new TypeError(
      `Cannot define ${table}: ${name} is ${value.kind}, which is no primary key`,
    );
  }
  if (value.flags.has("unique") && KEYLESS.includes(value.kind)) {
    throw new TypeError(`Cannot define ${table}: ${name} is ${value.kind}, which is not unique`);
  }
  if (value.flags.has("primaryKey") && value.traits.defaultSql !== undefined) {
    // MySQL does not return it: the new row could not be found.
    throw new TypeError(`Cannot define ${table}: the default of the primary key ${name} is SQL`);
  }
  if (value.flags.has("deletedAt") && value.flags.size > 2) {
    throw new TypeError(
      `Cannot define ${table}: ${name} marks rows, and is unique or has a default`,
    );
  }
  const { reference, rules } = value.traits;
  if (value.flags.has("version") && (value.flags.size > 2 || reference || rules)) {
    throw new TypeError(
      `Cannot define ${table}: ${name} is the version of rows, and has another declaration`,
    );
  }
  const { defaultValue } = value.traits;
  if (defaultValue !== undefined && typeof defaultValue !== "function") {
    const broken = testsOf(value).find(({ admits }) => !admits(defaultValue));
    if (broken) {
      throw new TypeError(
        `Cannot define ${table}: ${name} takes ${broken.takes}, unlike its default`,
      );
    }
  }
  if (reference?.onDelete === "set null" && !value.flags.has("nullable")) {
    throw new TypeError(`Cannot define ${table}: ${name} is to be set null, and is not nullable`);
  }
}

function checkSelfReferences(model: ModelDefinition): void {
  for (const [name, field] of Object.entries(model.fields)) {
    const { reference } = field.traits;
    if (reference?.target !== "self") continue;
    const reason = referenceMistake(field, { reference, model });
    if (reason) {
      const { table } = model;
      throw new TypeError(`Cannot define ${table}: ${name} cannot refer to ${table}: ${reason}`);
    }
  }
}

function namesWith(flag: FieldFlag, fields: Fields): readonly string[] {
  return Object.keys(fields).filter((name) => fields[name]!.flags.has(flag));
}

function named<N extends string, V>(name: N, value: V): { readonly [K in N]: V } {
  // A computed key widens to string; this one is exactly N.
  return { [name]: value } as { readonly [K in N]: V };
}

function quoted(name: unknown): string {
  return JSON.stringify(name) ?? String(name);
}
