/**
 * The types inferred from a model: its rows, and the data that creates and updates them.
 *
 * @module
 */
import type { ColumnType } from "kysely";
import type { Field } from "./field.ts";
import type { FieldDetail, FieldFlag, FieldKind } from "./field_kind.ts";
import type { JsonValue } from "./stored_value.ts";
import type { AnyModel, FieldInput, FieldValue } from "./model.ts";

/** The fields of a model by column name. */
export type FieldsOf<M extends AnyModel> = M["~model"]["fields"];

/** The name of a column of a model. */
export type ColumnName<M extends AnyModel> = keyof FieldsOf<M> & string;

/** The value of a column. */
export type ColumnValue<M extends AnyModel, K extends ColumnName<M>> = FieldValue<FieldsOf<M>[K]>;

/** The value that data has for a column. */
export type ColumnInput<M extends AnyModel, K extends ColumnName<M>> = FieldInput<FieldsOf<M>[K]>;

/** The kind of a column. */
export type KindOf<M extends AnyModel, K extends ColumnName<M>> = FieldsOf<M>[K]["kind"];

/** A row of a model: a plain object. */
export type Row<M extends AnyModel> = RowTypes<M>["row"];

/**
 * Data that creates a row. A column may be omitted, or be `undefined`, if it is nullable, has a
 * default, or is a primary key of kind integer or bigint, which the database generates.
 */
export type CreateInput<M extends AnyModel> = RowTypes<M, DeletedAtColumn<M>>["create"];

/**
 * Data that updates a row: the columns to set. Others, and those that are `undefined`, stay
 * unchanged. The primary key is a row's identity and cannot be set. A number may be set by a
 * {@linkcode Change}.
 */
export type UpdateInput<M extends AnyModel> = RowTypes<M, DeletedAtColumn<M>>["update"];

/**
 * The types of a model, without the columns `S` of a scope; the data that creates a row may omit
 * the columns `K`, which are given elsewhere. The compiler shows a member of
 * an interface by its columns, where it would show an alias with the whole model: error
 * messages stay short.
 */
export interface RowTypes<M extends AnyModel, S = never, K = never> {
  /** A row. */
  row: { [K in ColumnName<M>]: ColumnValue<M, K> };
  /** Creates a row. */
  create: Plain<
    & { readonly [P in Exclude<RequiredColumn<M>, S | K>]: ColumnInput<M, P> }
    & {
      readonly [
        P in Exclude<ColumnName<M>, Exclude<RequiredColumn<M>, K> | VersionColumn<M> | S>
      ]?:
        | ColumnInput<M, P>
        | undefined;
    }
  >;
  /** Updates a row. */
  update: {
    readonly [K in Exclude<ColumnName<M>, PrimaryKeyColumn<M> | VersionColumn<M> | S>]?:
      | ColumnInput<M, K>
      | ChangeOf<KindOf<M, K>, NonNullable<ColumnInput<M, K>>>
      | undefined;
  };
  /** The values of a scope. */
  scope: { [K in ColumnName<M>]: NonNullable<ColumnValue<M, K>> };
  /** The columns. */
  column: keyof FieldsOf<M> & string;
}

/**
 * Data of type `D` if it is fit for `Input`; otherwise a text that names the columns that are
 * missing or unknown, for the compiler to show.
 */
export type Checked<D, Input> = string extends keyof D ? [D] extends [Input] ? D : Input
  : [keyof D] extends [keyof Input] ? [D] extends [Input] ? D
    : [MissingIn<D, Input>] extends [never] ? Input
    : `${MissingIn<D, Input>} is missing`
  : `${Exclude<keyof D, keyof Input> & string} is not a column to set`;

/** An object whose names are inferred. */
export type Named<K extends string> = { readonly [P in K]?: unknown };

/** Data of type `D` if it is fit for `Whole`, or for a `Part` of it; see {@linkcode Checked}. */
export type CheckedPart<D, Whole, Part> = [D, keyof D] extends [Whole, keyof Whole] ? D
  : Checked<D, Part>;

/** The columns that data must have, and does not have, or not always. */
export type MissingIn<D, Input> = D extends unknown ?
    & {
      [K in keyof Input]-?: Record<never, never> extends Pick<Input, K> ? never
        : K extends keyof D ? undefined extends D[K] ? K : never
        : K;
    }[keyof Input]
    & string
  : never;

/**
 * An intersection as one object, which the compiler shows by its members; see {@linkcode RowTypes}.
 */
export type Plain<T> = PlainTypes<T>["plain"];

/** The types of {@linkcode Plain}. */
export interface PlainTypes<T> {
  /** The object. */
  plain: { [K in keyof T]: T[K] };
}

/** The changes that a column of a kind may have. */
export type ChangeOf<K extends FieldKind, V> = K extends "integer" | "bigint" | "real" | "decimal"
  ? Change<V>
  : K extends "array" ? ListChange<V>
  : never;

/** Replaces a list, or adds to its end; `null` counts as empty. */
export type ListChange<V> =
  | { readonly set: V; readonly push?: undefined }
  | {
    readonly push: V | (V extends readonly (infer E)[] ? E : never);
    readonly set?: undefined;
  };

/** Increments or decrements the stored number atomically; `null` stays `null`. */
export type Change<V> =
  | { readonly increment: V; readonly decrement?: undefined }
  | { readonly decrement: V; readonly increment?: undefined };

/** The columns whose field is declared to be one of `Flag`. */
export type ColumnWith<M extends AnyModel, Flag extends FieldFlag> = {
  [K in ColumnName<M>]: FieldsOf<M>[K] extends Field<FieldKind, infer Own, infer _, FieldDetail>
    ? Own & Flag extends never ? never : K
    : never;
}[ColumnName<M>];

/** The columns of the primary key. */
export type PrimaryKeyColumn<M extends AnyModel> =
  | ColumnWith<M, "primaryKey">
  | (PrimaryKeyOf<M>[number] & ColumnName<M>);

/** The columns of a primary key of several columns, as a list. */
export type PrimaryKeyOf<M extends AnyModel> = M["~model"]["options"] extends
  { readonly primaryKey: infer L extends readonly string[] } ? L : never;

/** The column that marks deleted rows: data sets it in a repository `withDeleted()` only. */
export type DeletedAtColumn<M extends AnyModel> = ColumnWith<M, "deletedAt">;

/** The version of rows, which data cannot set. */
export type VersionColumn<M extends AnyModel> = ColumnWith<M, "version">;

/** Stands among the columns that data cannot set for a repository that hides no rows. */
export type WithDeleted = "~withDeleted";

/** The keys of several columns of a model, each a list of their names. */
export type KeyOf<M extends AnyModel> = M["~model"]["options"] extends
  { readonly unique: readonly (infer L)[] } ? L | PrimaryKeyOf<M> : PrimaryKeyOf<M>;

/** The columns that hold each value in one row only. */
export type UniqueColumn<M extends AnyModel> = ColumnWith<M, "primaryKey" | "unique">;

/** The columns that a new row must be given. */
export type RequiredColumn<M extends AnyModel> = Exclude<
  ColumnName<M>,
  ColumnWith<M, "nullable" | "default"> | GeneratedColumn<M>
>;

/** The columns that the database generates. */
export type GeneratedColumn<M extends AnyModel> = {
  [K in ColumnWith<M, "primaryKey">]: FieldsOf<M>[K] extends
    Field<"integer" | "bigint", FieldFlag, infer R> ? [R] extends [never] ? K : never
    : never;
}[ColumnWith<M, "primaryKey">];

/**
 * A value as Kysely returns it: a whole number is a `bigint` or text where a number would not be
 * exact, a boolean of SQLite and MySQL is 0 or 1, other types that they lack are text, and a
 * decimal of SQLite is a whole number in units of its last place.
 */
export interface RawValues {
  /** A number, where that is exact. */
  integer: number | bigint | string;
  /** A number, where that is exact. */
  bigint: number | bigint | string;
  /** Text. */
  text: string;
  /** Text. */
  enum: string;
  /** 0 or 1 on SQLite and MySQL. */
  boolean: boolean | 0 | 1;
  /** A number. */
  real: number;
  /** Text, and a whole number on SQLite. */
  decimal: string | number | bigint;
  /** Text on SQLite and MySQL. */
  json: JsonValue;
  /** Text on SQLite. */
  timestamp: Date | string;
  /** Text on SQLite. */
  date: Date | string;
  /** Text. */
  time: string;
  /** Text. */
  uuid: string;
  /** Bytes. */
  blob: Uint8Array;
  /** Text of JSON on SQLite and MySQL. */
  array: readonly unknown[] | string;
}

/** A value of a column as Kysely returns it. */
export type RawValue<M extends AnyModel, K extends ColumnName<M>> =
  | RawValues[KindOf<M, K>]
  | Extract<ColumnValue<M, K>, null>;

/** The name of the column of a field. */
export type StoredColumn<M extends AnyModel, K extends ColumnName<M>> = FieldsOf<M>[K] extends
  Field<FieldKind, FieldFlag, infer _, infer _V, infer N> ? string extends N ? K : N : never;

/** The name of the table of a model, after that of its schema. */
export type StoredTable<M extends AnyModel> = M["~model"]["options"] extends
  { readonly schema: infer S extends string } ? `${S}.${UnqualifiedTable<M>}` : UnqualifiedTable<M>;

/** The name of the table of a model, without that of its schema. */
export type UnqualifiedTable<M extends AnyModel> = M["~model"]["options"] extends
  { readonly table: infer T extends string } ? T : M["~model"]["table"];

/** A model's table for Kysely, with the types that the driver reads and takes. */
export type TableOf<M extends AnyModel> = {
  [K in ColumnName<M> as StoredColumn<M, K>]: ColumnType<
    RawValue<M, K>,
    RawValue<M, K> | (K extends RequiredColumn<M> ? never : undefined),
    RawValue<M, K>
  >;
};

/** The tables of a set of models, for Kysely. */
export type TablesOf<Models extends Readonly<Record<string, AnyModel>>> = {
  [K in keyof Models as StoredTable<Models[K]>]: TableOf<Models[K]>;
};
