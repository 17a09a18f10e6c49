/**
 * The types of what is read: columns, and related rows.
 *
 * @module
 */
import type { AnyModel } from "./model.ts";
import type { AnyRelation, Relation } from "./relation.ts";
import type { ColumnName, Row } from "./row.ts";
import type { OrderBy, Where } from "./where.ts";

/** Relations by name. */
export type Relations = Readonly<Record<string, AnyRelation>>;

/** The relations of models by table. */
export type RelationGraph = Readonly<Record<string, Relations>>;

/** The relations of a model. */
export type RelationsOf<M extends AnyModel, G extends RelationGraph> = M["~model"]["table"] extends
  keyof G ? G[M["~model"]["table"]] : Record<never, never>;

/** The model that a relation leads to. */
export type RelatedModel<R> = R extends Relation<infer _, infer M> ? M : never;

/** Columns to read: those that are `true`. */
export type Select<K extends string> = { readonly [P in K]: true };

/** Relations to read with each row: `true`, or which of their rows, and what of them. */
export type Include<M extends AnyModel, G extends RelationGraph> =
  // Without relations, what would be left takes anything.
  [keyof RelationsOf<M, G>] extends [never] ? Readonly<Record<string, never>>
    : { readonly [N in keyof RelationsOf<M, G>]?: IncludeOf<RelationsOf<M, G>[N], G> };

/** What is said of a relation to read. */
export type IncludeOf<R, G extends RelationGraph> = R extends Relation<infer K, infer M>
  ? true | (K extends "many" ? RelatedMany<M, G> : RelatedOne<M, G>)
  : never;

/** What to read of a related row. */
export interface RelatedOne<M extends AnyModel, G extends RelationGraph> {
  /** The columns; all of them unless given. */
  readonly select?: { readonly [K in ColumnName<M>]?: true } | undefined;
  /** The relations of the row. */
  readonly include?: Include<M, G> | undefined;
}

/** Which related rows to read, and what of them. `take` and `skip` count for each row they belong to. */
export interface RelatedMany<M extends AnyModel, G extends RelationGraph> extends RelatedOne<M, G> {
  /** The condition; every related row without one. */
  readonly where?: Where<M> | undefined;
  /** The order; the primary key comes last, and is the order unless one is given. */
  readonly orderBy?: OrderBy<M> | readonly OrderBy<M>[] | undefined;
  /** How many rows at most, 0 or more. */
  readonly take?: number | undefined;
  /** How many rows to leave out first, 0 or more. */
  readonly skip?: number | undefined;
}

/** What to read of each row. */
export interface Reading<K extends string, I> {
  /** The columns; all of them unless given. */
  readonly select?: Select<K> | undefined;
  /** The related rows. */
  readonly include?: I | undefined;
}

/** A row as it is read; `N` is what stands for a related row that is out of scope. */
export type Found<M extends AnyModel, G extends RelationGraph, K extends ColumnName<M>, I, N> =
  Plain<
    Pick<Row<M>, K> & Included<M, G, I, N>
  >;

/** The related rows as they are read. */
export type Included<M extends AnyModel, G extends RelationGraph, I, N> = {
  [P in keyof I & keyof RelationsOf<M, G>]: Related<RelationsOf<M, G>[P], G, I[P], N>;
};

/** What is read of a relation. */
export type Related<R, G extends RelationGraph, O, N> = R extends Relation<infer K, infer M>
  ? K extends "many" ? RelatedRow<M, G, O, N>[]
  : RelatedRow<M, G, O, N> | (K extends "one" ? N : null)
  : never;

/** A related row as it is read. */
export type RelatedRow<M extends AnyModel, G extends RelationGraph, O, N> = Found<
  M,
  G,
  O extends { readonly select: infer S } ? keyof S & ColumnName<M> : ColumnName<M>,
  O extends { readonly include: infer I } ? I : Record<never, never>,
  N
>;

/** Shows an intersection as one object. */
export type Plain<T> = { [K in keyof T]: T[K] };
