/**
 * The types of the schemas that come from a model.
 *
 * @module
 */
import type * as v from "valibot";
import type { AnyModel, FieldInput, FieldValue } from "../model/model.ts";
import type {
  ColumnName,
  ColumnWith,
  FieldsOf,
  GeneratedColumn,
  Plain,
  PrimaryKeyColumn,
  RequiredColumn,
} from "../model/row.ts";
import type { ReceivedValue, SentValue } from "./value_schemas.ts";

/** Which columns a schema has, whose names are `C`, and what it has besides. */
export interface SchemaOptions<C extends string = string> {
  /** The columns, in place of those that it has otherwise. */
  readonly pick?: readonly C[];
  /** Columns that it does not have. */
  readonly omit?: readonly C[];
  /** Columns that may be missing. */
  readonly optional?: readonly C[];
  /** Schemas of further members, or of columns, by name. */
  readonly extend?: v.ObjectEntries;
}

/** A schema of valibot, whose types are plain objects. */
export type ModelSchema<Input, Output> = v.GenericSchema<Plain<Input>, Plain<Output>>;

/** The schema of {@linkcode schemaOf}. */
export type RowSchema<M extends AnyModel, O extends SchemaOptions> = ModelSchema<
  RowShape<M, O, "value"> & Extension<O, "input">,
  RowShape<M, O, "sent"> & Extension<O, "output">
>;

/** The schema of {@linkcode createSchemaOf}. */
export type CreateSchema<M extends AnyModel, O extends SchemaOptions> = ModelSchema<
  CreateShape<M, O, "received"> & Extension<O, "input">,
  CreateShape<M, O, "input"> & Extension<O, "output">
>;

/** The schema of {@linkcode updateSchemaOf}. */
export type UpdateSchema<M extends AnyModel, O extends SchemaOptions> = ModelSchema<
  UpdateShape<M, O, "received"> & Extension<O, "input">,
  UpdateShape<M, O, "input"> & Extension<O, "output">
>;

/** The schema of {@linkcode keySchemaOf}. */
export type KeySchema<M extends AnyModel> = ModelSchema<
  { [K in PrimaryKeyColumn<M>]: string },
  { [K in PrimaryKeyColumn<M>]: FieldValue<FieldsOf<M>[K]> }
>;

/** The forms of the values of a field. */
export interface FieldForms<F> {
  /** That of rows. */
  value: FieldValue<F>;
  /** That of data. */
  input: FieldInput<F>;
  /** That of JSON that is sent. */
  sent: SentValue<F>;
  /** That of JSON that is received. */
  received: ReceivedValue<F>;
}

/** The name of a form. */
export type FieldForm = keyof FieldForms<unknown>;

/** The columns of a row. */
export type RowShape<M extends AnyModel, O extends SchemaOptions, Form extends FieldForm> = Shape<
  M,
  Chosen<ColumnName<M>, O>,
  Optional<O>,
  Form
>;

/** The columns of data that creates a row. */
export type CreateShape<M extends AnyModel, O extends SchemaOptions, Form extends FieldForm> =
  Shape<
    M,
    Chosen<GivenColumn<M>, O>,
    Exclude<ColumnName<M>, RequiredColumn<M>> | Optional<O>,
    Form
  >;

/** The columns of data that updates a row. */
export type UpdateShape<M extends AnyModel, O extends SchemaOptions, Form extends FieldForm> =
  Shape<M, Chosen<Exclude<GivenColumn<M>, PrimaryKeyColumn<M>>, O>, ColumnName<M>, Form>;

/** Columns in a form, of which some may be missing. */
export type Shape<M extends AnyModel, Columns, Missing, Form extends FieldForm> =
  & { [K in Exclude<Columns, Missing> & ColumnName<M>]: FieldForms<FieldsOf<M>[K]>[Form] }
  & {
    [K in Columns & Missing & ColumnName<M>]?: FieldForms<FieldsOf<M>[K]>[Form] | undefined;
  };

/** The columns that a schema has, of those that it would have without options. */
export type Chosen<Columns, O extends SchemaOptions> = Exclude<
  O extends { readonly pick: readonly (infer C)[] } ? C : Columns,
  | (O extends { readonly omit: readonly (infer C)[] } ? C : never)
  | (O extends { readonly extend: infer E } ? keyof E : never)
>;

/** The columns of the option `optional`. */
export type Optional<O extends SchemaOptions> = O extends
  { readonly optional: readonly (infer C)[] } ? C : never;

/** The members of `extend`. */
export type Extension<O extends SchemaOptions, Side extends "input" | "output"> = O extends
  { readonly extend: infer E extends v.ObjectEntries }
  ? Side extends "input" ? v.InferInput<v.ObjectSchema<E, undefined>>
  : v.InferOutput<v.ObjectSchema<E, undefined>>
  : unknown;

/** The columns that neither the database nor the repository sets. */
export type GivenColumn<M extends AnyModel> = Exclude<
  ColumnName<M>,
  GeneratedColumn<M> | ColumnWith<M, "clock" | "deletedAt" | "version">
>;
