/**
 * The types of the columns and the related rows to read.
 *
 * @module
 */
import type { AnyModel } from "./model.ts";
import type { Relation, RelationGraph, RelationsOf } from "./relation.ts";
import type { ColumnName, DeletedAtColumn, Plain, Row, WithDeleted } from "./row.ts";
import type {
  ColumnSpecs,
  ComparableIn,
  GraphSpecs,
  MemberIn,
  MemberSpecs,
  NameIn,
  OrderedIn,
  SpecsOf,
  TableSpecs,
} from "./column_spec.ts";
import type { Orders } from "./order.ts";
import type { Conditions } from "./where.ts";

/** Columns to read: those that are `true`. */
export type Select<K extends string> = { readonly [P in K]: true };

/** Relations to read with each row: `true`, or which of their rows, and what of them. */
export type Include<M extends AnyModel, G extends RelationGraph> =
  // Without relations, an empty object type would accept anything.
  [keyof RelationsOf<M, G>] extends [never] ? Readonly<Record<string, never>>
    :
      & { readonly [N in keyof RelationsOf<M, G>]?: IncludeOf<RelationsOf<M, G>[N], G> }
      & {
        readonly _count?:
          | CountInclude<Extract<MemberSpecs<M, G>["all"], `${string}[]`>, GraphSpecs<G>["all"]>
          | undefined;
      };

/** Relations to many whose rows are counted for each row: `true`, or which of them. */
export type CountInclude<Spec extends string, W extends TableSpecs> = {
  readonly [P in Spec as MemberIn<P>]?: P extends `${string} -> ${infer T}[]`
    ? boolean | undefined | CountedRows<T, SpecsOf<T, W>, W>
    : never;
};

/** The related rows to count. */
export interface CountedRows<T extends string, Spec extends string, W extends TableSpecs> {
  /** The condition; every related row without one. */
  readonly where?: Conditions<T, Spec, W> | undefined;
}

/** The options of a relation to read; `false` and `undefined` omit it. */
export type IncludeOf<R, G extends RelationGraph> = R extends Relation<infer K, infer M> ?
    | boolean
    | undefined
    | (K extends "many" ? RelatedMany<
        M["~model"]["table"],
        MemberSpecs<M, G>["all"],
        GraphSpecs<G>["all"],
        Include<M, G>
      >
      : RelatedOne<ColumnSpecs<M>["all"], Include<M, G>>)
  : never;

/** The parts of a related row to read. */
export interface RelatedOne<Spec extends string, I> {
  /** The columns; all of them unless given. */
  readonly select?: { readonly [K in NameIn<Spec>]?: true } | undefined;
  /** The relations of the row. */
  readonly include?: I | undefined;
}

/**
 * The related rows to read, and their parts. `take` and `skip` count for each row they belong to.
 */
export interface RelatedMany<T extends string, Spec extends string, W extends TableSpecs, I>
  extends RelatedOne<Spec, I> {
  /** The condition; every related row without one. */
  readonly where?: Conditions<T, Spec, W> | undefined;
  /** The order; the primary key comes last, and is the order unless one is given. */
  readonly orderBy?: Orders<ComparableIn<Spec>, OrderedIn<Spec>, W> | undefined;
  /** How many rows at most, 0 or more. */
  readonly take?: number | undefined;
  /** How many rows to leave out first, 0 or more. */
  readonly skip?: number | undefined;
}

/**
 * A known `include`, from which `I` is inferred, or a text that names the unknown relations. It is
 * never `I` itself: the compiler would know all names in it.
 */
export type CheckedInclude<I, Known> = [keyof I] extends [keyof Known]
  ? [I] extends [never] ? I : Known
  : `${Exclude<keyof I, keyof Known> & string} is not a relation`;

/** The parts of each row to read. */
export interface Reading<K extends string, I> {
  /** The columns; all of them unless given. */
  readonly select?: Select<K> | undefined;
  /** The related rows. */
  readonly include?: I | undefined;
}

/** A row as it is read; `S` are the columns of the scope. */
export type Found<M extends AnyModel, G extends RelationGraph, K extends ColumnName<M>, I, S> =
  Plain<Pick<Row<M>, K> & Included<M, G, I, S> & Counted<I>>;

/** The numbers of related rows, if an include counts them. */
export type Counted<I> =
  & {
    [P in keyof I & "_count" as IsRead<I, P> extends true ? P : never]: RelatedCounts<
      Exclude<I[P], undefined>
    >;
  }
  & {
    [P in keyof I & "_count" as IsRead<I, P> extends true ? never : P]?: RelatedCounts<
      Exclude<I[P], undefined>
    >;
  };

/** The numbers of related rows by relation; those that may be omitted are optional. */
export type RelatedCounts<C> = Plain<
  & { -readonly [N in keyof C as IsRead<C, N> extends true ? N : never]: number }
  & { -readonly [N in keyof C as IsRead<C, N> extends true ? never : N]?: number }
>;

/** The related rows as they are read; those that may be omitted are optional. */
export type Included<M extends AnyModel, G extends RelationGraph, I, S> =
  & {
    [P in RelationIn<M, G, I> as IsRead<I, P> extends true ? P : never]: RelatedOf<M, G, I, S, P>;
  }
  & {
    [P in RelationIn<M, G, I> as IsRead<I, P> extends true ? never : P]?: RelatedOf<M, G, I, S, P>;
  };

/** The relations that an include names. */
export type RelationIn<M extends AnyModel, G extends RelationGraph, I> =
  & keyof I
  & keyof RelationsOf<M, G>;

/** Whether an include always reads a relation. */
export type IsRead<I, P extends keyof I> = [Extract<I[P], false | undefined>] extends [never]
  ? Record<never, never> extends Pick<I, P> ? false : true
  : false;

/** The rows that are read of a relation that an include names. */
export type RelatedOf<
  M extends AnyModel,
  G extends RelationGraph,
  I,
  S,
  P extends RelationIn<M, G, I>,
> = Related<RelationsOf<M, G>[P], G, Exclude<I[P], false | undefined>, S>;

/**
 * The rows that are read of a relation. In a scope, a row whose model has its columns
 * may be hidden, and so may one that is marked as deleted.
 */
export type Related<R, G extends RelationGraph, O, S> = R extends Relation<infer K, infer M>
  ? O extends unknown ? K extends "many" ? RelatedRow<M, G, O, S>[]
    :
      | RelatedRow<M, G, O, S>
      | (K extends "one" ? HiddenBy<(S & ColumnName<M>) | MarkOf<M, S>> : null)
  : never
  : never;

/** The value in place of a row that columns of a scope may hide. */
export type HiddenBy<S> = [S] extends [never] ? never : null;

/** The column that may mark a related row as deleted, if such rows are hidden. */
export type MarkOf<M extends AnyModel, S> = WithDeleted extends S ? never : DeletedAtColumn<M>;

/** A related row as it is read. */
export type RelatedRow<M extends AnyModel, G extends RelationGraph, O, S> = Found<
  M,
  G,
  O extends { readonly select: infer C } ? keyof C & ColumnName<M> : ColumnName<M>,
  O extends { readonly include: infer I } ? I : Record<never, never>,
  S
>;
