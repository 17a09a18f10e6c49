/**
 * The types of data that writes related rows with a row.
 *
 * @module
 */
import type { MarkOf } from "./include.ts";
import type { ColumnSpecs } from "./column_spec.ts";
import type { AnyModel, KeylessModel } from "./model.ts";
import type { Relation, RelationGraph, RelationKind, RelationsOf } from "./relation.ts";
import type { Checked, CheckedPart, ColumnName, MissingIn, RowTypes } from "./row.ts";
import type { UniqueConditions } from "./where.ts";

/** The names of the relations of a model. */
export type RelationNames<M extends AnyModel, G extends RelationGraph> =
  & keyof RelationsOf<M, G>
  & string;

/** The names of the relations of a model; `never` without a service, for generic code. */
export type NamesIn<M extends AnyModel, G extends RelationGraph> = [keyof G] extends [never] ? never
  : RelationNames<M, G>;

/** The condition that names a row of a model. */
export type UniqueOf<M extends AnyModel> = UniqueConditions<ColumnSpecs<M>["unique"]>;

/** The foreign key that a relation of the model sets in its own row, for the names `N`. */
export type OwnKeys<M extends AnyModel, G extends RelationGraph, N = RelationNames<M, G>> = {
  [P in RelationNames<M, G> & N]: RelationsOf<M, G>[P] extends
    Relation<RelationKind, AnyModel, `own ${infer F}`> ? F & ColumnName<M> : never;
}[RelationNames<M, G> & N];

/** A row to connect, or to create if it does not exist. */
export interface ConnectOrCreate<C, U> {
  /** Which row to connect. */
  readonly where: U;
  /** The data of a new row, which has the value of `where`. */
  readonly create: C;
}

/** What to write of a relation to one with a new row: one of these. */
export interface CreateOne<C, U> {
  /** Creates the related row. */
  readonly create?: C | undefined;
  /** Relates a row that exists. */
  readonly connect?: U | undefined;
  /** Relates a row that exists, or creates it. */
  readonly connectOrCreate?: ConnectOrCreate<C, U> | undefined;
}

/** What to write of a relation to many with a new row. */
export interface CreateMany<C, U> {
  /** Creates related rows. */
  readonly create?: C | readonly C[] | undefined;
  /** Relates rows that exist. */
  readonly connect?: U | readonly U[] | undefined;
  /** Relates rows that exist, or creates them. */
  readonly connectOrCreate?:
    | ConnectOrCreate<C, U>
    | readonly ConnectOrCreate<C, U>[]
    | undefined;
}

/** What to write of a relation to at most one with a row that exists: one of these. */
export interface UpdateOptional<C, U> extends CreateOne<C, U> {
  /** Relates no row. */
  readonly disconnect?: true | undefined;
}

/** What to write of a relation to many with a row that exists, in the order `set` first. */
export interface UpdateMany<C, U> extends CreateMany<C, U> {
  /** Relates these rows, and no others. */
  readonly set?: U | readonly U[] | undefined;
  /** Relates these rows no longer; others are left out. */
  readonly disconnect?: U | readonly U[] | undefined;
}

/** The relations that the data of a new row can have, without those of the foreign keys `K`. */
export type CreateRelations<M extends AnyModel, G extends RelationGraph, S, K = never> = {
  readonly [
    N in RelationNames<M, G> as RelationsOf<M, G>[N] extends
      Relation<RelationKind, AnyModel, `own ${K & string}`> | Relation<RelationKind, KeylessModel>
      ? never
      : N
  ]?: CreateOf<RelationsOf<M, G>[N], G, S> | undefined;
};

/** The relations that the data of an update can have. */
export type UpdateRelations<M extends AnyModel, G extends RelationGraph, S> = {
  readonly [
    N in RelationNames<M, G> as RelationsOf<M, G>[N] extends Relation<RelationKind, KeylessModel>
      ? never
      : N
  ]?: UpdateOf<RelationsOf<M, G>[N], G, S> | undefined;
};

/** The data of a related row, which the foreign key `K` relates: its columns and its relations. */
export type RelatedData<M extends AnyModel, G extends RelationGraph, S, K> =
  & RowTypes<M, ((S | K) & ColumnName<M>) | MarkOf<M, S>, OwnKeys<M, G>>["create"]
  & CreateRelations<M, G, S, K>;

/** The foreign key of related rows that refers to a row. */
export type KeyIn<F> = F extends `their ${infer K}?` ? K : F extends `their ${infer K}` ? K : never;

/** What to write of a relation with a new row. */
export type CreateOf<R, G extends RelationGraph, S> = R extends Relation<infer K, infer M, infer F>
  ? K extends "many" ? CreateMany<RelatedData<M, G, S, KeyIn<F>>, UniqueOf<M>>
  : CreateOne<RelatedData<M, G, S, KeyIn<F>>, UniqueOf<M>>
  : never;

/** What to write of a relation with a row that exists; without `null`, it is not disconnected. */
export type UpdateOf<R, G extends RelationGraph, S> = R extends Relation<infer K, infer M, infer F>
  ? F extends `their ${string}?` | "join"
    ? K extends "many" ? UpdateMany<RelatedData<M, G, S, KeyIn<F>>, UniqueOf<M>>
    : UpdateOptional<RelatedData<M, G, S, KeyIn<F>>, UniqueOf<M>>
  : F extends `own ${string}`
    ? K extends "optional" ? UpdateOptional<RelatedData<M, G, S, never>, UniqueOf<M>>
    : CreateOf<R, G, S>
  : CreateOf<R, G, S>
  : never;

/** The data that creates a row, also with relations: see {@linkcode Checked}. */
export type CheckedCreate<D, M extends AnyModel, G extends RelationGraph, S> = [
  keyof D & NamesIn<M, G>,
] extends [never] ? Checked<D, RowTypes<M, S>["create"]>
  : CheckedWhole<
    D,
    RowTypes<M, S, OwnKeys<M, G, keyof D>>["create"] & CreateRelations<M, G, S>
  >;

/** The data that creates a row in an upsert by the columns `K`; see {@linkcode CheckedCreate}. */
export type CheckedUpsert<D, M extends AnyModel, G extends RelationGraph, S, K> = [
  keyof D & NamesIn<M, G>,
] extends [never] ? CheckedPart<D, RowTypes<M, S>["create"], RowTypes<M, S, K>["create"]>
  : CheckedWhole<
    D,
    RowTypes<M, S, K | OwnKeys<M, G, keyof D>>["create"] & CreateRelations<M, G, S>
  >;

/** The data that updates a row, also with relations: see {@linkcode Checked}. */
export type CheckedUpdate<D, M extends AnyModel, G extends RelationGraph, S> = [
  keyof D & NamesIn<M, G>,
] extends [never] ? Checked<D, RowTypes<M, S>["update"]>
  : CheckedWhole<D, RowTypes<M, S>["update"] & UpdateRelations<M, G, S>>;

/**
 * The type of data with relations, whose members the compiler checks; or a text that names those
 * that are missing or unknown.
 */
export type CheckedWhole<D, Input> = [keyof D] extends [keyof Input]
  ? [MissingIn<D, Input>] extends [never] ? Input : `${MissingIn<D, Input>} is missing`
  : `${Exclude<keyof D, keyof Input> & string} is not a column to set`;
