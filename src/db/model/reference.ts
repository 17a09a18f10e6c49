/**
 * References of fields: which columns of other models they can hold the values of.
 *
 * @module
 */
import type { FieldFlag, FieldKind } from "./field_kind.ts";
import type { DecimalSize } from "./stored_value.ts";

/** The effect of deleting a row on those that refer to it: by default the deletion fails. */
export type OnDelete = "restrict" | "cascade" | "set null";

/** The model that a field refers to. */
export interface ReferenceTarget {
  /** The model's definition. */
  readonly "~model": {
    /** The model's name. */
    readonly table: string;
    /** The names of the table and of its schema, and the keys. */
    readonly options: {
      readonly table?: string;
      readonly schema?: string;
      readonly primaryKey?: unknown;
      readonly unique?: unknown;
      readonly index?: unknown;
    };
    /** The columns of the primary key. */
    readonly primaryKey: readonly string[];
    /** The fields by column name. */
    readonly fields: Readonly<
      Record<string, {
        readonly kind: FieldKind;
        readonly flags: ReadonlySet<FieldFlag>;
        readonly traits: { readonly size: DecimalSize; readonly column?: string };
      }>
    >;
  };
}

/** A reference to a row of another model, or of the field's own. */
export interface Reference<R extends ReferenceTarget | "self" = ReferenceTarget | "self"> {
  /** The model, or `"self"`. */
  readonly target: R;
  /** The effect of deleting the row that it refers to. */
  readonly onDelete: OnDelete;
  /** The unique column whose value it holds, if that is not the primary key. */
  readonly column?: string | undefined;
}

/** The unique columns of a model, to which others can refer; any text for `"self"`. */
export type ReferableColumn<T extends ReferenceTarget | "self"> = T extends ReferenceTarget ? {
    [K in keyof T["~model"]["fields"] & string]: "unique" extends FlagOf<T["~model"]["fields"][K]>
      ? K
      : never;
  }[keyof T["~model"]["fields"] & string]
  : string;

/** A flag of a field. */
export type FlagOf<F> = F extends { readonly flags: ReadonlySet<infer Flag> } ? Flag : never;

/** Returns the column of a model whose value a reference holds. */
export function referredColumn(
  { primaryKey: [key = ""] }: Pick<ReferenceTarget["~model"], "primaryKey">,
  { column = key }: Pick<Reference, "column">,
): string {
  return column;
}

/** Returns why a field cannot refer to a model, if so. */
export function referenceMistake(
  field: Parameters<typeof keyKind>[0],
  { reference: { column }, model }: {
    readonly reference: Pick<Reference, "column">;
    readonly model: Omit<ReferenceTarget["~model"], "options" | "table">;
  },
): string | undefined {
  const { primaryKey, fields } = model;
  if (primaryKey.length === 0) return "it has no key";
  if (column === undefined && primaryKey.length > 1) {
    return `its key has ${primaryKey.length} columns`;
  }
  const name = referredColumn(model, { column });
  const referred = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!referred) return `it has no column ${JSON.stringify(name)}`;
  if (!referred.flags.has("unique") && !referred.flags.has("primaryKey")) {
    return `its ${name} is not unique`;
  }
  if (referred.flags.has("nullable")) return `its ${name} is nullable`;
  const [kind, own] = [keyKind(referred), keyKind(field)];
  const what = column === undefined ? "key" : column;
  return kind === own ? undefined : `its ${what} is ${kind}, the field ${own}`;
}

/** Returns the kind of a key, by which references must agree; SQLite stores decimals by scale. */
export function keyKind(
  { kind, traits: { size } }: Pick<ReferenceTarget["~model"]["fields"][string], "kind" | "traits">,
): string {
  return kind === "decimal" ? `decimal of scale ${size.scale}` : kind;
}
