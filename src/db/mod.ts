/**
 * The database layer: models, and repositories of their rows, over SQL databases.
 *
 * @module
 */
export { DbConnection } from "./connection.ts";
export type { AnyTables } from "./connection.ts";
export type { Codec, Dialect, DriverRow, TextMatch } from "./dialect.ts";
export { DbError } from "./errors.ts";
export type { DbErrorCode, DbErrorOptions, DbFailure } from "./errors.ts";
export { Field, field } from "./field.ts";
export type { FieldFactory, FieldFlag } from "./field.ts";
export type { FieldKind, FieldValues } from "./field_kind.ts";
export { Column, model } from "./model.ts";
export type { AnyModel, Fields, FieldValue, Model, ModelDefinition, SortOrder } from "./model.ts";
export { DbModule } from "./module.ts";
export type { OpenableService } from "./module.ts";
export type { Statement } from "./operation.ts";
export { DbOptions } from "./options.ts";
export { Repository } from "./repository.ts";
export type {
  ColumnName,
  ColumnValue,
  ColumnWith,
  CreateInput,
  FieldsOf,
  GeneratedColumn,
  PrimaryKeyColumn,
  RawValue,
  RequiredColumn,
  Row,
  TableOf,
  TablesOf,
  UniqueColumn,
  UpdateInput,
} from "./row.ts";
export { DbService } from "./service.ts";
export type { DbServiceClass, Models, Repositories } from "./service.ts";
export type {
  EqualityOperators,
  FindManyOptions,
  Operators,
  OrderBy,
  OrderOperators,
  TextOperators,
  UniqueCondition,
  UniqueWhere,
  Where,
} from "./where.ts";
