/**
 * The database layer: models, and repositories of their rows, over SQL databases.
 *
 * @example
 * ```ts
 * import { DbOptions, DbService, field, model } from "@fw/fw/db";
 *
 * const Cat = model("cats", { id: field.integer().primaryKey(), name: field.text() });
 * class Db extends DbService.with({ cat: Cat }) {}
 *
 * await using db = await Db.open(DbOptions.fromUrl("sqlite::memory:"));
 * await db.createTables();
 * await db.cat.create({ data: { name: "Tom" } });
 * console.assert(await db.cat.count({ where: { name: "Tom" } }) === 1);
 * ```
 *
 * @module
 */
export type { DecimalSize } from "./model/decimal.ts";
export type { OpenDatabase } from "./connection/connection.ts";
export { DbMigrations } from "./db_migrations.ts";
export type { RollBackOptions } from "./db_migrations.ts";
export type { AnyTables } from "./connection/dialect.ts";
export { DbError } from "./errors.ts";
export type { DbErrorCode, DbErrorOptions } from "./errors.ts";
export { field } from "./model/field.ts";
export type {
  Field,
  FieldFactory,
  FieldFlag,
  FieldTraits,
  OnDelete,
  Reference,
  ReferenceTarget,
} from "./model/field.ts";
export type { FieldKind, FieldValues } from "./model/field_kind.ts";
export type {
  Found,
  HiddenBy,
  Include,
  Included,
  IncludeOf,
  IsSaid,
  Reading,
  Related,
  RelatedMany,
  RelatedOf,
  RelatedOne,
  RelatedRow,
  RelationGraph,
  RelationIn,
  Relations,
  RelationsOf,
  Select,
} from "./model/include.ts";
export type { JsonObject, JsonValue } from "./model/json_value.ts";
export type { MigrationStatus } from "./migrate/migration_status.ts";
export type { Migrations, MigrationSource, MigrationStep } from "./migrate/migrations.ts";
export { model } from "./model/model.ts";
export type {
  AnyField,
  AnyModel,
  Column,
  Fields,
  FieldValue,
  Model,
  ModelDefinition,
  SortOrder,
} from "./model/model.ts";
export { DbModule } from "./module.ts";
export type { OpenableService } from "./module.ts";
export { DbOptions } from "./options.ts";
export type { UnmigratedDatabase } from "./options.ts";
export { belongsTo, hasMany, hasOne, manyToMany } from "./model/relation.ts";
export type {
  AnyColumn,
  AnyRelation,
  IfForeignKey,
  NoRelation,
  OwnerOf,
  Relation,
  RelationKind,
  TargetOf,
  ValueOf,
} from "./model/relation.ts";
export type { ManyRows, Repository } from "./repository.ts";
export type {
  Change,
  ChangeOf,
  ColumnName,
  ColumnValue,
  ColumnWith,
  CreateInput,
  FieldsOf,
  GeneratedColumn,
  KindOf,
  PrimaryKeyColumn,
  RawValue,
  RawValues,
  RequiredColumn,
  Row,
  TableOf,
  TablesOf,
  UniqueColumn,
  UpdateInput,
} from "./model/row.ts";
export { DbService } from "./service.ts";
export type { DbServiceClass, GraphOf, ModelRelations, Models, Repositories } from "./service.ts";
export type { IsolationLevel, TransactionOptions } from "./transaction/transaction.ts";
export type {
  ComparableColumn,
  Condition,
  EqualityOperators,
  FindManyOptions,
  NullOperators,
  Operators,
  OrderBy,
  OrderOperators,
  TextOperators,
  UniqueCondition,
  UniqueWhere,
  Where,
} from "./model/where.ts";
