/**
 * The types that those of `@fw/fw/db` are made of, for code that is generic over models or declares
 * what it returns.
 *
 * @example
 * ```ts
 * import { field, model } from "@fw/fw/db";
 * import type { ColumnName, KindOf } from "@fw/fw/db/types";
 *
 * const Cat = model("cats", { id: field.integer().primaryKey(), name: field.text() });
 *
 * const column: ColumnName<typeof Cat> = "name";
 * const kind: KindOf<typeof Cat, "name"> = "text";
 * ```
 *
 * @module
 */
export type {
  Aggregated,
  AggregateOptions,
  AggregateOrder,
  Aggregates,
  AverageOf,
  CheckedCount,
  Counts,
  GroupOptions,
  GroupOrder,
  GroupOrders,
  Having,
  HavingAggregates,
  HavingLogic,
  IfAny,
  KindIn,
  NumericIn,
  NumericKind,
  ValueIn,
} from "./model/aggregate.ts";
export type {
  ColumnSpec,
  ColumnSpecs,
  ComparableIn,
  DetailOf,
  GraphSpecs,
  JoinedNames,
  JoinedSpecs,
  KeyColumns,
  KeySpec,
  KindText,
  MemberIn,
  MemberSpecs,
  NameIn,
  NameSpecs,
  NoTables,
  OrderedIn,
  PartsIn,
  RelationsIn,
  RelationSpec,
  SpecsOf,
  SpecTypes,
  SplitParts,
  StoredIn,
  TableIn,
  TablesIn,
  TableSpecs,
  TextIn,
  TypeIn,
  UniqueName,
} from "./model/column_spec.ts";
export type { KeyOptions } from "./model/compound_keys.ts";
export type { OpenDatabase } from "./connection/connection.ts";
export type { DecimalSize } from "./model/stored_value.ts";
export type { DbErrorOptions } from "./errors.ts";
export type { Field, FieldTraits, SqlTexts } from "./model/field.ts";
export type { FieldFactory } from "./model/field_factory.ts";
export type { FlagOf, ReferableColumn, Reference, ReferenceTarget } from "./model/reference.ts";
export type { Bounds, FieldRules, ValueTest } from "./model/field_rules.ts";
export type {
  ElementKind,
  ElementText,
  ElementValue,
  FieldDetail,
  FieldFlag,
  FieldKind,
  FieldValues,
  Joined,
  KindInput,
  KindValue,
  Split,
  ValueLimits,
} from "./model/field_kind.ts";
export type {
  CheckedInclude,
  Counted,
  CountedRows,
  CountInclude,
  Found,
  HiddenBy,
  Include,
  Included,
  IncludeOf,
  IsRead,
  MarkOf,
  Reading,
  Related,
  RelatedCounts,
  RelatedMany,
  RelatedOf,
  RelatedOne,
  RelatedRow,
  RelationIn,
  Select,
} from "./model/include.ts";
export type { ChangeTexts } from "./migrate/diff/change_texts.ts";
export type {
  IntrospectedField,
  IntrospectedReference,
  IntrospectOptions,
} from "./migrate/diff/introspected_models.ts";
export type { MigrationSource, UnmigratedDatabase } from "./migrate/migrations.ts";
export type { ScriptBrand } from "./migrate/script.ts";
export type { ComparedService } from "./schema_diff.ts";
export type {
  AnyField,
  Column,
  FieldInput,
  Fields,
  FieldValue,
  ModelDefinition,
  VersionMember,
  VersionName,
} from "./model/model.ts";
export type {
  CheckedCreate,
  CheckedUpdate,
  CheckedUpsert,
  CheckedWhole,
  ConnectOrCreate,
  CreateMany,
  CreateOf,
  CreateOne,
  CreateRelations,
  KeyIn,
  NamesIn,
  OwnKeys,
  RelatedData,
  RelationNames,
  UniqueOf,
  UpdateMany,
  UpdateOf,
  UpdateOptional,
  UpdateRelations,
} from "./model/nested.ts";
export type { OpenableService } from "./module.ts";
export type {
  AnyColumn,
  AnyRelation,
  IfForeignKey,
  NoRelation,
  OwnerOf,
  RelatedModel,
  Relation,
  RelationGraph,
  RelationKind,
  Relations,
  RelationsOf,
  TargetOf,
  TheirKey,
  ValueOf,
} from "./model/relation.ts";
export type { ManyOf } from "./repository.ts";
export type { PoolUsage } from "../platform/pool_usage.ts";
export type { LockOptions, RowLock } from "./model/row_lock.ts";
export type {
  ChangeOf,
  Checked,
  CheckedPart,
  ColumnInput,
  ColumnName,
  ColumnValue,
  ColumnWith,
  DeletedAtColumn,
  FieldsOf,
  GeneratedColumn,
  KeyOf,
  KindOf,
  ListChange,
  MissingIn,
  Named,
  Plain,
  PlainTypes,
  PrimaryKeyColumn,
  PrimaryKeyOf,
  RawValue,
  RawValues,
  RequiredColumn,
  RowTypes,
  StoredColumn,
  StoredTable,
  TablesOf,
  UniqueColumn,
  UnqualifiedTable,
  VersionColumn,
  WithDeleted,
} from "./model/row.ts";
export type {
  DbServiceClass,
  GraphOf,
  ModelRelations,
  Models,
  Repositories,
  ServiceHooks,
  ServiceOptions,
} from "./service.ts";
export type { CountOrder, Order, Orders, RelatedOrder, TextOrder } from "./model/order.ts";
export type {
  Condition,
  EqualityOperators,
  JsonPathOperators,
  JsonScalar,
  ListOf,
  ListOperators,
  NullOperators,
  Operators,
  OrderOperators,
  QueryMode,
  TextOperators,
} from "./model/value_condition.ts";
export type {
  ComparableColumn,
  Conditions,
  FilterOptions,
  FindOptions,
  KyselyCondition,
  Logic,
  ManyCondition,
  OneCondition,
  OneOperators,
  PartCondition,
  RelationCondition,
  StreamOptions,
  UniqueCondition,
  UniqueConditions,
  UniqueValue,
  VersionedConditions,
} from "./model/where.ts";
export type { TimeLimits } from "./transaction/time_limits.ts";
