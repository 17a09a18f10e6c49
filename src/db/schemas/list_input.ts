/**
 * The types of lists: their options, and their parameters.
 *
 * @module
 */
import type { AnyModel } from "../model/model.ts";
import type { Field } from "../model/field.ts";
import type { FieldFlag } from "../model/field_kind.ts";
import type { ColumnName, ColumnValue, FieldsOf, KindOf, Plain } from "../model/row.ts";

/** The columns by which lists are filtered and sorted: all but those of JSON, arrays and bytes. */
export type ListColumn<M extends AnyModel> = {
  [K in ColumnName<M>]: KindOf<M, K> extends "json" | "array" | "blob" ? never : K;
}[ColumnName<M>];

/** How a page of a list begins: after a row, or after a number of rows. */
export type PageKind = "cursor" | "offset";

/** Which lists of a model a client can ask for. */
export interface ListOptions<
  Filter extends string,
  Sort extends string,
  Kind extends PageKind = PageKind,
> {
  /** The columns that parameters filter by. */
  readonly filter?: readonly Filter[];
  /** The columns that `sort` can have; without one, there is no such parameter. */
  readonly sort?: readonly Sort[];
  /** The order without `sort`, such as `"-created_at"`; the primary key unless given. */
  readonly defaultSort?: string;
  /** How a page begins; by default by a cursor. */
  readonly page?: Kind;
  /** The most rows of a page; 100 by default. */
  readonly max?: number;
  /** The rows of a page without `limit`; 20 by default, or `max` if that is less. */
  readonly defaultLimit?: number;
  /** Whether the rows on all pages are counted; by default only for pages by an offset. */
  readonly total?: boolean;
}

/** The parameters of a list. */
export type ListInput<
  M extends AnyModel,
  Filter extends string,
  Sort extends string,
  Kind extends PageKind,
> = Plain<
  & { readonly [K in Filter & ColumnName<M>]?: OneOrMany<ValueText<M, K>> }
  & {
    readonly [
      K in Filter & RangeColumn<M> as `${K}[${"gt" | "gte" | "lt" | "lte"}]`
    ]?: ValueText<M, K>;
  }
  & { readonly [K in Filter & NullableColumn<M> as `${K}[isNull]`]?: boolean | "true" | "false" }
  & { readonly [K in [Sort] extends [never] ? never : "sort"]?: SortText<Sort> }
  & { readonly limit?: number | `${number}` }
  & { readonly [K in Kind]?: K extends "cursor" ? string : number | `${number}` }
>;

/** A value, or several of which one is met. */
export type OneOrMany<V> = V | readonly V[];

/** An order: columns, each with `-` before it if it is descending, separated by commas. */
export type SortText<Column extends string> =
  | Column
  | `-${Column}`
  | `${Column},${string}`
  | `-${Column},${string}`;

/**
 * The columns that are compared by `gt`, `gte`, `lt` and `lte`: numbers and times that are not
 * references.
 */
export type RangeColumn<M extends AnyModel> = {
  [K in ColumnName<M>]: FieldsOf<M>[K] extends Field<
    "integer" | "bigint" | "real" | "decimal" | "timestamp" | "date" | "time",
    FieldFlag,
    infer R
  > ? [R] extends [never] ? K : never
    : never;
}[ColumnName<M>];

/** The columns that are nullable. */
export type NullableColumn<M extends AnyModel> = {
  [K in ColumnName<M>]: null extends ColumnValue<M, K> ? K : never;
}[ColumnName<M>];

/** A value of a column as a client writes it. */
export type ValueText<M extends AnyModel, K extends ColumnName<M>> = KindOf<M, K> extends
  "integer" | "real" ? number | `${number}`
  : KindOf<M, K> extends "bigint" ? bigint | number | `${bigint}`
  : KindOf<M, K> extends "boolean" ? boolean | "true" | "false"
  : KindOf<M, K> extends "enum" ? Exclude<ColumnValue<M, K>, null>
  : string;
