/**
 * Schemas that come from a model: of its rows, of the data that creates and changes them, and of
 * its key.
 *
 * @module
 */
import * as v from "valibot";
import type { FieldFlag } from "../model/field_kind.ts";
import { type AnyField, type AnyModel, isGenerated, isRequired } from "../model/model.ts";
import type { PrimaryKeyColumn, RowTypes } from "../model/row.ts";
import type {
  CreateSchema,
  KeySchema,
  RowSchema,
  SchemaOptions,
  UpdateSchema,
} from "./schema_types.ts";
import { receivedSchema, sentSchema, textSchema, type ValueSchema } from "./value_schemas.ts";

/**
 * Returns the schema of the rows of a model, for responses: it has the columns, or some of them,
 * and drops others. A `bigint` is sent as text, a `blob` as base64.
 *
 * A value of JSON that does not satisfy its schema is an error; rules of fields do not apply, as
 * rows are read as they are.
 *
 * @example
 * ```ts
 * import { dto } from "@fw/fw";
 * import { field, model } from "@fw/fw/db";
 * import { createSchemaOf, schemaOf } from "@fw/fw/db/schemas";
 * import * as v from "valibot";
 *
 * const User = model("users", {
 *   id: field.integer().primaryKey(),
 *   name: field.text({ min: 2, max: 80 }),
 *   password: field.text(),
 * });
 *
 * export const UserRow = dto("UserRow", schemaOf(User, { omit: ["password"] }));
 * export const CreateUserDto = dto("CreateUserDto", createSchemaOf(User));
 *
 * console.assert(v.safeParse(CreateUserDto, { name: "A", password: "…" }).success === false);
 * ```
 *
 * @throws {TypeError} if an option is unknown, or names a column that the model does not have
 */
export function schemaOf<
  M extends AnyModel,
  const O extends SchemaOptions<RowTypes<M>["column"]> = Record<never, never>,
>(model: M, options?: O): RowSchema<M, O> {
  const names = Object.keys(model["~model"].fields);
  return objectSchema(model, { names, options, schemaOf: sentSchema });
}

/**
 * Returns the schema of the JSON that creates a row: of the columns that neither the database nor
 * the repository sets (no generated key, `createdAt`, `updatedAt`, `deletedAt` or `version`), with
 * the rules of their fields. Those that are nullable or have a default may be missing. Its output
 * is data of `create`: a `bigint` is read from text, a `Date` from text of RFC 3339, bytes from
 * base64.
 *
 * `pick` may name the columns that it does not have otherwise. JSON is checked by its schema if
 * that is one of valibot that only checks, else by the repository.
 *
 * @throws {TypeError} if an option is unknown, or names a column that the model does not have
 */
export function createSchemaOf<
  M extends AnyModel,
  const O extends SchemaOptions<RowTypes<M>["column"]> = Record<never, never>,
>(model: M, options?: O): CreateSchema<M, O> {
  return objectSchema(model, { names: givenColumns(model), options, schemaOf: createdSchema });
}

/**
 * Returns the schema of the JSON that changes a row: the columns of {@linkcode createSchemaOf}
 * without the primary key, all of which may be missing. Its output is data of `update`.
 *
 * @throws {TypeError} if an option is unknown, or names a column that the model does not have, or
 * one of the primary key
 */
export function updateSchemaOf<
  M extends AnyModel,
  const O extends SchemaOptions<Exclude<RowTypes<M>["column"], PrimaryKeyColumn<M>>> = Record<
    never,
    never
  >,
>(model: M, options?: O): UpdateSchema<M, O> {
  const { table, primaryKey } = model["~model"];
  const key = options?.pick?.find((name) => primaryKey.includes(name));
  if (key) {
    throw new TypeError(`Cannot make a schema of ${table}: ${key} is its key, which never changes`);
  }
  const names = givenColumns(model).filter((name) => !primaryKey.includes(name));
  const schemaOf = (field: AnyField) => v.optional(receivedSchema(field));
  return objectSchema(model, { names, options, schemaOf });
}

/**
 * Returns the schema of the primary key in a path or a query, such as that of `/:id`: its columns,
 * read from text.
 *
 * @throws {TypeError} if the model has no key
 */
export function keySchemaOf<M extends AnyModel>(model: M): KeySchema<M> {
  const { table, primaryKey: names } = model["~model"];
  if (names.length === 0) {
    throw new TypeError(`Cannot make a schema of the key of ${table}: there is none`);
  }
  // No key is JSON or a list.
  const schemaOf = (field: AnyField) => textSchema(field) as ValueSchema;
  return objectSchema(model, { names, schemaOf });
}

const SET_BY_REPOSITORIES: readonly FieldFlag[] = ["clock", "deletedAt", "version"];
const OPTIONS: readonly string[] = ["pick", "omit", "optional", "extend"];

interface ObjectParts {
  /** The columns without options. */
  readonly names: readonly string[];
  readonly options?: SchemaOptions | undefined;
  readonly schemaOf: (field: AnyField) => ValueSchema;
}

function objectSchema<S>(model: AnyModel, { names, options = {}, schemaOf }: ObjectParts): S {
  const { table, fields } = model["~model"];
  checkOptions(options, model);
  const { pick = names, omit = [], optional = [], extend = {} } = options;
  const chosen = Object.keys(fields).filter((name) => pick.includes(name) && !omit.includes(name));
  const entries = chosen.map((name) => {
    const schema = schemaOf(fields[name]!);
    return [name, optional.includes(name) ? v.optional(schema) : schema] as const;
  });
  const missing = optional.find((name) => !chosen.includes(name));
  if (missing) {
    throw new TypeError(
      `Cannot make a schema of ${table}: ${missing} is optional, and not part of it`,
    );
  }
  // The types of the schemas are those that the fields declare.
  return v.object({ ...Object.fromEntries(entries), ...extend }) as S;
}

function checkOptions(options: SchemaOptions, { "~model": { table, fields } }: AnyModel): void {
  for (const [name, value] of Object.entries(options)) {
    if (!OPTIONS.includes(name)) {
      throw new TypeError(`Cannot make a schema of ${table}: there is no option ${name}`);
    }
    const columns: readonly string[] = name === "extend" ? [] : value;
    const unknown = columns.find((column) => !Object.hasOwn(fields, column));
    if (unknown !== undefined) {
      throw new TypeError(`Cannot make a schema of ${table}: there is no column ${unknown}`);
    }
  }
}

/** Returns the columns that neither the database nor the repository sets. */
function givenColumns({ "~model": { fields } }: AnyModel): readonly string[] {
  return Object.keys(fields).filter((name) => {
    const field = fields[name]!;
    return !isGenerated(field) && !SET_BY_REPOSITORIES.some((flag) => field.flags.has(flag));
  });
}

/** Returns the schema of a column in the data of a new row. */
function createdSchema(field: AnyField): ValueSchema {
  const schema = receivedSchema(field);
  if (isRequired(field)) return schema;
  const { defaultValue } = field.traits;
  // A document shows the default; one that JSON does not have is set by the repository.
  const isJson = ["string", "number", "boolean"].includes(typeof defaultValue);
  return isJson ? v.optional(schema, defaultValue) : v.optional(schema);
}
