/**
 * Schemas that come from models: of rows, of the data that creates and changes them, of keys, of
 * lists and of their pages. They need valibot, which is imported with them.
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
 * const UserRow = dto("UserRow", schemaOf(User, { omit: ["password"] }));
 * const CreateUserDto = dto("CreateUserDto", createSchemaOf(User));
 *
 * console.assert(v.is(UserRow, { id: 1, name: "Ada" }));
 * console.assert(!v.is(CreateUserDto, { name: "A", password: "secret" }));
 * ```
 *
 * @module
 */
export type {
  ListColumn,
  ListInput,
  ListOptions,
  NullableColumn,
  OneOrMany,
  PageKind,
  RangeColumn,
  SortText,
  ValueText,
} from "./list_input.ts";
export { listOf } from "./list_query.ts";
export type { ListQuery, ListSchema } from "./list_query.ts";
export { createSchemaOf, keySchemaOf, schemaOf, updateSchemaOf } from "./model_schemas.ts";
export { pageOf } from "./page.ts";
export type { PageSchema } from "./page.ts";
export type {
  Chosen,
  CreateSchema,
  CreateShape,
  Extension,
  FieldForm,
  FieldForms,
  GivenColumn,
  KeySchema,
  ModelSchema,
  Optional,
  RowSchema,
  RowShape,
  SchemaOptions,
  Shape,
  UpdateSchema,
  UpdateShape,
} from "./schema_types.ts";
export type {
  NullOf,
  ReceivedKind,
  ReceivedValue,
  SentKind,
  SentValue,
  TextInJson,
} from "./value_schemas.ts";
