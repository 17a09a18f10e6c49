/**
 * Columns as text, such as `"email: text"`. The types of conditions and orders are made of them:
 * the compiler shows the type `Conditions<"id: integer" | "email: text">` as it is written here,
 * and one that is made of a model with everything that the model declares.
 *
 * @module
 */
import type { FieldKind, FieldValues, Split } from "./field_kind.ts";
import type { AnyModel } from "./model.ts";
import type { ColumnName, ColumnValue, FieldsOf, KindOf, UniqueColumn } from "./row.ts";

/** The kind of a column, with the values of an enum: `"enum(draft|published)"`. */
export type KindText<M extends AnyModel, K extends ColumnName<M>> = KindOf<M, K> extends "enum"
  ? `enum(${NonNullable<FieldsOf<M>[K]["traits"]["list"]>})`
  : KindOf<M, K>;

/** A column: its name and kind, and `?` if it is nullable, such as `"nick: text?"`. */
export type ColumnSpec<M extends AnyModel, K extends ColumnName<M>> = null extends ColumnValue<M, K>
  ? `${K}: ${KindText<M, K>}?`
  : `${K}: ${KindText<M, K>}`;

/**
 * The columns of a model. They are members of an interface, as the compiler would show an alias by
 * its name and the whole model.
 */
export interface ColumnSpecs<M extends AnyModel> {
  /** All columns. */
  all: { [K in ColumnName<M>]: ColumnSpec<M, K> }[ColumnName<M>];
  /** Those that are unique. */
  unique: { [K in UniqueColumn<M>]: ColumnSpec<M, K> }[UniqueColumn<M>];
}

/** The kinds of columns, with and without `?`. */
export type SpecTypes =
  & { readonly [K in FieldKind]: { readonly kind: K; readonly value: FieldValues[K] } }
  & {
    readonly [K in FieldKind as `${K}?`]: {
      readonly kind: K;
      readonly value: FieldValues[K] | null;
    };
  };

/** The name of a column. */
export type NameIn<Spec extends string> = Spec extends `${infer Name}: ${string}` ? Name : never;

/** The kind and the value of a column. */
export type TypeIn<Spec extends string> = Spec extends `${string}: enum(${infer List})${infer End}`
  ? { readonly kind: "enum"; readonly value: Split<List> | (End extends "?" ? null : never) }
  : Spec extends `${string}: ${infer T extends keyof SpecTypes}` ? SpecTypes[T]
  : never;

/** The names of the columns that can be compared: all but those of JSON. */
export type ComparableIn<Spec extends string> = NameIn<
  Exclude<Spec, `${string}: json` | `${string}: json?`>
>;
