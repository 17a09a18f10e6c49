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
// from there, so that the compiler also finds the others that declarations of models name
export type { DbServiceClass, Field } from "./types.ts";
export { DbMigrations } from "./db_migrations.ts";
export type { RollBackOptions } from "./db_migrations.ts";
export type { AnyTables } from "./connection/dialect.ts";
export { DbError } from "./errors.ts";
export type { DbErrorCode } from "./errors.ts";
export { field } from "./model/field_factory.ts";
export type { OnDelete } from "./model/reference.ts";
export type { JsonObject, JsonValue } from "./model/stored_value.ts";
export type { MigrationStatus } from "./migrate/migration_status.ts";
export type { Migrations, MigrationStep } from "./migrate/migrations.ts";
export type { ModelHooks, RowChange } from "./model/hooks.ts";
export { model } from "./model/model.ts";
export type { AnyModel, KeylessModel, Model, ModelOptions, SortOrder } from "./model/model.ts";
export { DbModule } from "./module.ts";
export type { Page, PageQuery } from "./model/page.ts";
export { DbOptions } from "./options.ts";
export { belongsTo, hasMany, hasOne, manyToMany } from "./model/relation.ts";
export type { ManyRows, Repository } from "./repository.ts";
export type { ReadRepository } from "./read_repository.ts";
export type { Change, CreateInput, Row, TableOf, UpdateInput } from "./model/row.ts";
export { diffSchema, introspectModels } from "./schema_diff.ts";
export type { SchemaDiff, SchemaDiffOptions } from "./migrate/diff/schema_diff.ts";
export type { IntrospectedModel } from "./migrate/diff/introspected_models.ts";
export type { MigrationScripts } from "./migrate/diff/migration_scripts.ts";
export { DbService } from "./service.ts";
export type { IsolationLevel, TransactionOptions } from "./transaction/transaction.ts";
export type { FindManyOptions, OrderBy, UniqueWhere, Where } from "./model/where.ts";
