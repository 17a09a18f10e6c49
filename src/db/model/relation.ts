/**
 * Relations between the rows of models.
 *
 * @module
 */
import type { Field } from "./field.ts";
import type { ReferenceTarget } from "./reference.ts";
import type { FieldFlag, FieldKind } from "./field_kind.ts";
import { type AnyModel, type Column, isUnique, type ModelDefinition } from "./model.ts";

/** How many rows a relation has: exactly one, at most one, or any number. */
export type RelationKind = "one" | "optional" | "many";

/** Any column. */
export type AnyColumn = Column<string, unknown, ModelDefinition>;

/** The model of a column. */
export type OwnerOf<C extends AnyColumn> = { readonly "~model": C["~model"] };

/** The value of a column. */
export type ValueOf<C extends AnyColumn> = C extends Column<string, infer V, ModelDefinition> ? V
  : never;

/** The model that a column refers to. */
export type TargetOf<C extends AnyColumn> = C extends Column<infer N, infer _, infer D>
  ? D["fields"][N] extends Field<FieldKind, FieldFlag, infer R>
    ? R extends "self" ? { readonly "~model": D }
    : R extends AnyModel ? R
    : never
  : never
  : never;

/** The text of a foreign key of related rows; see {@linkcode Relation}. */
export type TheirKey<C extends AnyColumn> = `their ${C["name"]}${null extends ValueOf<C> ? "?"
  : ""}`;

/** A relation that does not exist, for the compiler to show. */
export interface NoRelation<Reason extends string> {
  /** Why it does not exist. */
  readonly "~reason": Reason;
}

/** The relation `R`, if a column is a foreign key. */
export type IfForeignKey<C extends AnyColumn, R> = [TargetOf<C>] extends [never]
  ? NoRelation<`${C["name"]} does not refer to a model`>
  : R;

/**
 * A relation to rows of a model. `F` is the foreign key: `"own author_id"` of the model itself,
 * `"their author_id"` of the related rows, with `?` if it is nullable, or `"join"`.
 */
export interface Relation<K extends RelationKind, M extends AnyModel, F extends string = string> {
  /** The foreign key; there is no such value. */
  readonly "~key"?: F;
  /** How many rows it has. */
  readonly kind: K;
  /** The model of the related rows. */
  readonly target: M;
  /** The model that has the relation. */
  readonly source: AnyModel;
  /** The column that refers from one to the other, or from the join model to `source`. */
  readonly foreignKey: AnyColumn;
  /** Whether the foreign key is of `source`. */
  readonly isOwn: boolean;
  /** The column that refers from the join model to `target`. */
  readonly through?: AnyColumn;
}

/** Any relation. */
export type AnyRelation = Relation<RelationKind, AnyModel>;

/** Relations by name. */
export type Relations = Readonly<Record<string, AnyRelation>>;

/** A model of a service, and its relations. */
export interface RelatedModel {
  /** The model. */
  readonly model: AnyModel;
  /** The relations. */
  readonly relations: Relations;
}

/** The models of a service by table. */
export type RelationGraph = Readonly<Record<string, RelatedModel>>;

/** The relations of a model. */
export type RelationsOf<M extends AnyModel, G extends RelationGraph> = M["~model"]["table"] extends
  keyof G ? G[M["~model"]["table"]]["relations"] : Record<never, never>;

/**
 * The row that a foreign key refers to: `belongsTo(Post.author_id)` is the author of a post, `null`
 * where the key is.
 *
 * @throws {TypeError} if the column is not a reference
 */
export function belongsTo<const C extends AnyColumn>(
  column: C,
): IfForeignKey<
  C,
  Relation<null extends ValueOf<C> ? "optional" : "one", TargetOf<C>, `own ${C["name"]}`>
> {
  const kind = fieldOf(column).flags.has("nullable") ? "optional" : "one";
  return relation({
    kind,
    target: targetOf(column),
    source: ownerOf(column),
    foreignKey: column,
    isOwn: true,
  });
}

/**
 * The rows whose foreign key refers to a row: `hasMany(Post.author_id)` is the posts of a user.
 *
 * @throws {TypeError} if the column is not a reference
 */
export function hasMany<const C extends AnyColumn>(
  column: C,
): IfForeignKey<C, Relation<"many", OwnerOf<C>, TheirKey<C>>> {
  return relation({
    kind: "many",
    source: targetOf(column),
    target: ownerOf(column),
    foreignKey: column,
    isOwn: false,
  });
}

/**
 * The one row whose unique foreign key refers to a row, or `null`: `hasOne(Profile.user_id)` is the
 * profile of a user.
 *
 * @throws {TypeError} if the column is not a reference, or is not unique
 */
export function hasOne<const C extends AnyColumn>(
  column: C,
): IfForeignKey<C, Relation<"optional", OwnerOf<C>, TheirKey<C>>> {
  if (!isUnique(fieldOf(column))) {
    throw new TypeError(`Cannot relate ${nameOf(column)}: it is not unique`);
  }
  return relation({
    kind: "optional",
    target: ownerOf(column),
    source: targetOf(column),
    foreignKey: column,
    isOwn: false,
  });
}

/**
 * The rows that a join model relates to a row: `manyToMany(PostTag.post_id, PostTag.tag_id)` is the
 * tags of a post, and with the two the other way round the posts of a tag.
 *
 * @throws {TypeError} if a column is not a reference, or they are of different models
 */
export function manyToMany<const C extends AnyColumn, const T extends AnyColumn>(
  column: C,
  through: T,
): IfForeignKey<C, IfForeignKey<T, Relation<"many", TargetOf<T>, "join">>> {
  const [source, target] = [targetOf(column), targetOf(through)];
  if (column["~model"] !== through["~model"]) {
    throw new TypeError(`Cannot relate ${nameOf(column)}: ${nameOf(through)} is of another model`);
  }
  return relation({
    kind: "many",
    target,
    source,
    foreignKey: column,
    isOwn: false,
    through,
  });
}

function relation<R>(parts: AnyRelation): R {
  // The type of the relation follows from the types of the columns.
  return parts as R;
}

function ownerOf(column: AnyColumn): AnyModel {
  return { "~model": column["~model"] };
}

function targetOf(column: AnyColumn): AnyModel {
  const target = fieldOf(column).traits.reference?.target;
  if (target === undefined) {
    throw new TypeError(`Cannot relate ${nameOf(column)}: it is not a reference`);
  }
  // The target is a model, of which fields know a part of the type.
  return target === "self" ? ownerOf(column) : target as ReferenceTarget as AnyModel;
}

function fieldOf(column: AnyColumn): ModelDefinition["fields"][string] {
  // JavaScript and modules that import each other can pass `undefined`, and a model is no column.
  const field = (column as AnyColumn | undefined | null)?.["~model"]?.fields[column.name];
  if (field) return field;
  throw new TypeError(
    `Cannot relate ${column === null ? "null" : typeof column}: it is not a column`,
  );
}

function nameOf({ name, "~model": { table } }: AnyColumn): string {
  return `${table}.${name}`;
}
