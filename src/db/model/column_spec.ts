/**
 * Columns and relations as text, such as `"email: text"` and `"posts -> posts[]"`. The types of
 * conditions and orders are made of them: the compiler shows the type
 * `Conditions<"users", "id: integer" | "email: text">` as it is written here, and one that is made
 * of a model with everything that the model declares.
 *
 * @module
 */
import type { Field } from "./field.ts";
import type { ElementValue, FieldFlag, FieldKind, FieldValues, Split } from "./field_kind.ts";
import type { AnyModel } from "./model.ts";
import type { Relation, RelationGraph, RelationsOf } from "./relation.ts";
import type {
  ColumnName,
  ColumnValue,
  FieldsOf,
  KeyOf,
  KindOf,
  RawValues,
  StoredColumn,
  StoredTable,
  UniqueColumn,
} from "./row.ts";

/** The kind of a column, such as `"text"`, `"text[]"` or `"enum(draft|published)"`. */
export type KindText<M extends AnyModel, K extends ColumnName<M>> = KindOf<M, K> extends "enum"
  ? `enum(${DetailOf<M, K>})`
  : KindOf<M, K> extends "array" ? `${DetailOf<M, K>}[]`
  : KindOf<M, K>;

/** The values of an enum, or the kind of the elements of an array. */
export type DetailOf<M extends AnyModel, K extends ColumnName<M>> = FieldsOf<M>[K] extends
  Field<FieldKind, FieldFlag, infer _, infer V extends string> ? V : never;

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
  /** Those that are unique, and the keys of several columns. */
  // The compiler shows types that are made of a union of both by their aliases.
  unique: {
    [K in UniqueName<M>]: K extends ColumnName<M> ? ColumnSpec<M, K> : KeySpec<M, K, KeyOf<M>>;
  }[UniqueName<M>];
}

/** The names of unique columns, and of keys of several columns. */
export type UniqueName<M extends AnyModel> = UniqueColumn<M> | JoinedNames<KeyOf<M>>;

/** The key `K` of several columns, such as `"tenant_id_slug: (tenant_id: text) & (slug: text)"`. */
export type KeySpec<M extends AnyModel, K extends string, L> = L extends readonly string[]
  ? K extends JoinedNames<L> ? `${K}: ${JoinedSpecs<M, L>}` : never
  : never;

/** The name of a key: those of its columns joined by `_`. */
export type JoinedNames<L> = L extends
  readonly [infer First extends string, ...infer Others extends readonly string[]]
  ? Others["length"] extends 0 ? First : `${First}_${JoinedNames<Others>}`
  : never;

/** The columns of a key. */
export type JoinedSpecs<M extends AnyModel, L extends readonly string[]> = L extends
  readonly [infer First extends ColumnName<M>, ...infer Others extends readonly string[]]
  ? `(${ColumnSpec<M, First>})${Others["length"] extends 0 ? "" : ` & ${JoinedSpecs<M, Others>}`}`
  : never;

/** The columns of a key, without their parentheses. */
export type PartsIn<Spec extends string> = Spec extends `${string}: (${infer List})`
  ? SplitParts<List>
  : never;

/** The parts of a list that `) & (` separates: no value of an enum has a parenthesis. */
export type SplitParts<List extends string> = List extends `${infer First}) & (${infer Others}`
  ? First | SplitParts<Others>
  : List;

/** The columns of the unique column or key `K`. */
export type KeyColumns<Spec extends string, K extends string> = [
  Extract<Spec, `${K}: (${string})`>,
] extends [never] ? K
  :
    | NameIn<Exclude<Spec, `${string}: (${string})`>> & K
    | NameIn<PartsIn<Extract<Spec, `${K}: (${string})`>>>;

/** A relation: its name and the table of its rows, and `[]` if they are many. */
export type RelationSpec<R, N extends keyof R & string> = R[N] extends Relation<infer K, infer M>
  ? `${N} -> ${M["~model"]["table"]}${K extends "many" ? "[]" : ""}`
  : never;

/** The columns and the relations of a model; an interface as {@linkcode ColumnSpecs} is. */
export interface MemberSpecs<M extends AnyModel, G extends RelationGraph> {
  /** All of them. */
  all:
    | ColumnSpecs<M>["all"]
    | {
      [N in keyof RelationsOf<M, G> & string]: RelationSpec<RelationsOf<M, G>, N>;
    }[keyof RelationsOf<M, G> & string];
}

/**
 * The columns and the relations of tables, such as `"users.id: integer"`, and their names in the
 * database, if those are others: `"users.name=full_name"`, `"users=auth.accounts"`. The compiler
 * shows an object in a long type as `{ ...; }`.
 */
export interface TableSpecs {
  /** All of them. */
  readonly of: string;
}

/** The {@linkcode TableSpecs} of a service; an interface as {@linkcode ColumnSpecs} is. */
export interface GraphSpecs<G extends RelationGraph> {
  /** All tables. */
  all: {
    readonly of: {
      [T in keyof G & string]:
        | `${T}.${MemberSpecs<G[T]["model"], G>["all"]}`
        | NameSpecs<T, G[T]["model"]>;
    }[keyof G & string];
  };
}

/** The names of a table and of its columns, where they are not those of the model. */
export type NameSpecs<T extends string, M extends AnyModel> =
  | (StoredTable<M> extends T ? never : `${T}=${StoredTable<M>}`)
  | {
    [K in ColumnName<M>]: StoredColumn<M, K> extends K ? never : `${T}.${K}=${StoredColumn<M, K>}`;
  }[ColumnName<M>];

/** The tables of models without a service: none. */
export type NoTables = GraphSpecs<Record<never, never>>["all"];

/** The columns and the relations of a table. */
export type SpecsOf<T extends string, W extends TableSpecs> = W["of"] extends infer Of
  ? Of extends `${T}.${infer Spec}` ? Spec : never
  : never;

/** The names of models. */
export type TableIn<W extends TableSpecs> = W["of"] extends infer Of
  ? Of extends `${infer T}.${string}` ? T extends `${string}=${string}` ? never : T : never
  : never;

/** The name in the database of a model or a field, of which `Spec` may have another. */
export type StoredIn<Name extends string, Spec> = [Extract<Spec, `${Name}=${string}`>] extends
  [never] ? Name
  : Spec extends `${Name}=${infer Stored}` ? Stored
  : never;

/** Tables for Kysely, with the values that the driver reads. */
export type TablesIn<W extends TableSpecs> = {
  readonly [T in TableIn<W> as StoredIn<T, W["of"]>]: {
    readonly [P in SpecsOf<T, W> as StoredIn<NameIn<P>, SpecsOf<T, W>>]:
      | RawValues[TypeIn<P>["kind"]]
      | Extract<TypeIn<P>["value"], null>;
  };
};

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

/** The name of a column or a relation. */
export type MemberIn<Spec extends string> = Spec extends `${infer Name} -> ${string}` ? Name
  : NameIn<Spec>;

/** The kind and the value of a column. */
export type TypeIn<Spec extends string> = Spec extends `${string}: enum(${infer List})${infer End}`
  ? End extends "" | "?"
    ? { readonly kind: "enum"; readonly value: Split<List> | (End extends "?" ? null : never) }
  : { readonly kind: "array"; readonly value: Split<List>[] | (End extends "[]?" ? null : never) }
  : Spec extends `${string}: ${infer T}[]${infer End}` ? {
      readonly kind: "array";
      readonly value: ElementValue<T>[] | (End extends "?" ? null : never);
    }
  : Spec extends `${string}: ${infer T extends keyof SpecTypes}` ? SpecTypes[T]
  : never;

/** The relations. */
export type RelationsIn<Spec extends string> = Extract<Spec, `${string} -> ${string}`>;

/** The columns of text, and the relations: orders by them have more than a direction. */
export type OrderedIn<Spec extends string> = Extract<
  Spec,
  `${string} -> ${string}` | `${string}: text` | `${string}: text?`
>;

/** The columns of text. */
export type TextIn<Spec extends string> = Extract<Spec, `${string}: text` | `${string}: text?`>;

/** The names of the columns that can be compared: all but those of JSON and arrays. */
export type ComparableIn<Spec extends string> = NameIn<
  Exclude<Spec, `${string}: json${"" | "?"}` | `${string}[]${"" | "?"}`>
>;
