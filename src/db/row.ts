/**
 * The types inferred from a model: its rows, and what creates and updates them.
 *
 * @module
 */
import type { ColumnType } from "kysely";
import type { Field, FieldFlag } from "./field.ts";
import type { FieldKind } from "./field_kind.ts";
import type { AnyModel, FieldValue } from "./model.ts";

/** The fields of a model by column name. */
export type FieldsOf<M extends AnyModel> = M["~model"]["fields"];

/** The name of a column of a model. */
export type ColumnName<M extends AnyModel> = keyof FieldsOf<M> & string;

/** The value of a column. */
export type ColumnValue<M extends AnyModel, K extends ColumnName<M>> = FieldValue<FieldsOf<M>[K]>;

/** A row of a model: a plain object. */
export type Row<M extends AnyModel> = { [K in ColumnName<M>]: ColumnValue<M, K> };

/**
 * What creates a row. A column may be left out, or be `undefined`, if it is nullable, has a default,
 * or is an integer primary key, which the database generates.
 */
export type CreateInput<M extends AnyModel> =
  & { readonly [K in RequiredColumn<M>]: ColumnValue<M, K> }
  & { readonly [K in Exclude<ColumnName<M>, RequiredColumn<M>>]?: ColumnValue<M, K> | undefined };

/**
 * What updates a row: the columns to set. What is left out, or is `undefined`, stays as it is. The
 * primary key is a row's identity, so it is not among them.
 */
export type UpdateInput<M extends AnyModel> = {
  readonly [K in Exclude<ColumnName<M>, PrimaryKeyColumn<M>>]?: ColumnValue<M, K> | undefined;
};

/** The columns whose field is declared to be one of `Flag`. */
export type ColumnWith<M extends AnyModel, Flag extends FieldFlag> = {
  [K in ColumnName<M>]: FieldsOf<M>[K] extends Field<FieldKind, infer Own>
    ? Own & Flag extends never ? never : K
    : never;
}[ColumnName<M>];

/** The column of the primary key. */
export type PrimaryKeyColumn<M extends AnyModel> = ColumnWith<M, "primaryKey">;

/** The columns that hold each value in one row only. */
export type UniqueColumn<M extends AnyModel> = ColumnWith<M, "primaryKey" | "unique">;

/** The columns that a new row must be given. */
export type RequiredColumn<M extends AnyModel> = Exclude<
  ColumnName<M>,
  ColumnWith<M, "nullable" | "default"> | GeneratedColumn<M>
>;

/** The columns that the database generates. */
export type GeneratedColumn<M extends AnyModel> = {
  [K in PrimaryKeyColumn<M>]: FieldsOf<M>[K] extends Field<"integer", FieldFlag> ? K : never;
}[PrimaryKeyColumn<M>];

/** A value as the driver reads it: SQLite and MySQL give 0 or 1 for a boolean. */
export type RawValue<V> = V extends boolean ? V | 0 | 1 : V;

/** A model's table as Kysely sees it: what the driver reads and takes. */
export type TableOf<M extends AnyModel> = {
  [K in ColumnName<M>]: ColumnType<
    RawValue<ColumnValue<M, K>>,
    ColumnValue<M, K> | (K extends RequiredColumn<M> ? never : undefined),
    ColumnValue<M, K>
  >;
};

/** The tables of a set of models, for Kysely. */
export type TablesOf<Models extends Readonly<Record<string, AnyModel>>> = {
  [K in keyof Models as Models[K]["~model"]["table"]]: TableOf<Models[K]>;
};
