/**
 * Repositories of models without a key, such as those of views.
 *
 * @module
 */
import type { AnyModel } from "./model/model.ts";
import type { RelationGraph } from "./model/relation.ts";
import type { ColumnName, DeletedAtColumn, RowTypes, WithDeleted } from "./model/row.ts";
import type { ComparableColumn } from "./model/where.ts";
import type { Repository } from "./repository.ts";

/**
 * The rows of a model without a key, or those of a scope. It has no writes, and nothing that needs
 * a key: neither `findUnique` nor `stream`, and its pages need `skip`. See {@linkcode Repository}.
 */
export interface ReadRepository<
  M extends AnyModel,
  S extends ColumnName<M> | WithDeleted = DeletedAtColumn<M>,
  G extends RelationGraph = Record<never, never>,
> extends
  Pick<
    Repository<M, S, G>,
    "findFirst" | "findMany" | "page" | "count" | "aggregate" | "groupBy" | "exists"
  > {
  /** Returns a repository of the rows that have these values; see `scoped` of `Repository`. */
  scoped<K extends Exclude<ComparableColumn<M>, S | DeletedAtColumn<M>>>(
    values: { [P in K]: RowTypes<M>["scope"][P] },
  ): ReadRepository<M, S | K, G>;
  /** Returns a repository that also reads the rows that are marked as deleted. */
  withDeleted(): ReadRepository<M, Exclude<S, DeletedAtColumn<M>> | WithDeleted, G>;
}
