/**
 * Fields on the command line: `title:text:2..80`, `views:integer=0`, `author:references:user`.
 *
 * @module
 */
import { EntityName } from "../../project/entity_name.ts";
import { CliError } from "../../terminal/cli_error.ts";
import { mistakeOf } from "./field_mistake.ts";

/** The kinds of fields, as the `field` of models has them. */
export const FIELD_KINDS = [
  "text",
  "integer",
  "bigint",
  "boolean",
  "real",
  "decimal",
  "enum",
  "json",
  "timestamp",
  "date",
  "time",
  "uuid",
  "blob",
] as const;

/** A kind of field. */
export type SpecKind = (typeof FIELD_KINDS)[number];

/** A field to generate. */
export interface FieldSpec {
  /** The name of the field and of its column. */
  readonly name: string;
  /** Its kind; that of the key of another model if it is a reference. */
  readonly kind: SpecKind;
  /** Whether it may be `null`. */
  readonly isNullable: boolean;
  /** Whether at most one row has each value. */
  readonly isUnique: boolean;
  /** Whether a text is an email address. */
  readonly isEmail: boolean;
  /** The smallest value, or number of characters. */
  readonly min?: string;
  /** The largest value, or number of characters. */
  readonly max?: string;
  /** The digits of a decimal: all, and after the point. */
  readonly size?: readonly [precision: number, scale: number];
  /** The values of an enum. */
  readonly values: readonly string[];
  /** The default, as it was written. */
  readonly default?: string;
  /** The model that it refers to. */
  readonly reference?: EntityName;
}

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;
/** A number as code has it, without leading zeros; not -0, which databases store as 0. */
const NUMBER = /^(?!-0(?:\.0+)?$)-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const WHOLE = /^(?:0|-?[1-9]\d*)$/;
const RANGE = /^(-?[\d.]*?)\.\.(-?[\d.]*)$/;
/** The kinds whose values have bounds, or whose length has. */
const BOUNDED: readonly SpecKind[] = ["text", "integer", "bigint", "real", "decimal"];
/** Names with another meaning in conditions of repositories, or those that every model has. */
const TAKEN: readonly string[] = ["AND", "OR", "NOT", "id", "Id", "iD", "ID"];

/** Options of {@linkcode readField}. */
export interface FieldOptions {
  /** The names that a field cannot have; default those with another meaning in a model. */
  readonly taken?: readonly string[];
}

/**
 * Reads fields such as `title:text`, `body:text?`, `views:integer=0` and `slug:text:unique`.
 *
 * @throws {CliError} if one is invalid, or two have the same name
 */
export function readFields(
  texts: readonly string[],
  options: FieldOptions = {},
): readonly FieldSpec[] {
  const fields = texts.map((text) => readField(text, options));
  checkNames(fields);
  return fields;
}

/**
 * Checks that no two fields have the same name: SQLite and MySQL ignore the case of columns.
 *
 * @throws {CliError} naming the second one
 */
export function checkNames(fields: readonly FieldSpec[]): void {
  const folded = fields.map(({ name }) => name.toLowerCase());
  const twice = fields.find((_, i) => folded.indexOf(folded[i]!) !== i);
  if (twice !== undefined) throw new CliError(`Cannot generate two fields named ${twice.name}`);
}

/**
 * Reads a field: a name, a kind, options that colons separate, `?` if it may be `null`, and a
 * default after `=`. The kind `number` is `real`.
 *
 * @throws {CliError} if it is invalid
 */
export function readField(text: string, { taken = TAKEN }: FieldOptions = {}): FieldSpec {
  const refuse = (reason: string) =>
    new CliError(`Cannot read the field ${JSON.stringify(text)}: ${reason}`);
  const [, declaration = "", mark, given] = /^([^=]*?)(\?)?(?:=(.*))?$/s.exec(text) ?? [];
  const [name = "", word = "text", ...options] = declaration.split(":");
  const isTaken = taken.includes(name) || name in Object.prototype;
  if (!NAME.test(name) || isTaken) {
    throw refuse(`${JSON.stringify(name)} is not the name of a field`);
  }
  if (word === "references") {
    return readReference(name, { options, isNullable: Boolean(mark), refuse });
  }
  const kind = word === "number" ? "real" : FIELD_KINDS.find((it) => it === word);
  if (!kind) {
    throw refuse(
      `there is no kind ${word}; the kinds are ${FIELD_KINDS.join(", ")} and references`,
    );
  }
  const spec = options.reduce((spec, option) => withOption(spec, { option, refuse }), {
    ...plainField(name, kind),
    isNullable: Boolean(mark),
  });
  if (kind === "enum" && spec.values.length === 0) {
    throw refuse("it has no values, as in status:enum:draft,published");
  }
  if (kind === "decimal" && !spec.size) throw refuse("it has no size, as in price:decimal:12,2");
  if (given !== undefined && !isDefault(given, spec)) {
    throw refuse(`its default is not of kind ${kind}`);
  }
  const field = given === undefined ? spec : { ...spec, default: given };
  const mistake = mistakeOf(field);
  if (mistake !== undefined) throw refuse(mistake);
  return field;
}

/** Returns a field without options. */
export function plainField(name: string, kind: SpecKind): FieldSpec {
  return { name, kind, isNullable: false, isUnique: false, isEmail: false, values: [] };
}

interface OptionText {
  readonly option: string;
  readonly refuse: (reason: string) => CliError;
}

function withOption(spec: FieldSpec, { option, refuse }: OptionText): FieldSpec {
  const { kind } = spec;
  if (option === "unique" && kind !== "json" && kind !== "blob") return { ...spec, isUnique: true };
  if (option === "email" && kind === "text") return { ...spec, isEmail: true };
  if (kind === "enum") {
    const values = option.split(",");
    const isList = new Set(values).size === values.length && values.every(isListed);
    if (!isList) {
      throw refuse(
        "its values are empty, equal, or have other characters than letters, digits, -, _ and spaces",
      );
    }
    return { ...spec, values };
  }
  const [, precision, scale] = /^(\d+),(\d+)$/.exec(option) ?? [];
  if (kind === "decimal" && precision !== undefined) {
    return { ...spec, size: [Number(precision), Number(scale)] };
  }
  const [range, min = "", max = ""] = RANGE.exec(option) ?? [];
  if (range !== undefined && BOUNDED.includes(kind)) {
    const isRange = [min, max].every((bound) => bound === "" || isBound(bound, kind));
    if (!isRange || (min === "" && max === "")) throw refuse(`${option} is not a range`);
    return { ...spec, ...min !== "" && { min }, ...max !== "" && { max } };
  }
  throw refuse(`a field of kind ${kind} has no option ${JSON.stringify(option)}`);
}

function readReference(
  name: string,
  { options: [model = name, ...options], isNullable, refuse }: {
    readonly options: readonly string[];
    readonly isNullable: boolean;
    readonly refuse: OptionText["refuse"];
  },
): FieldSpec {
  const other = options.find((option) => option !== "unique");
  if (other !== undefined) throw refuse(`a reference has no option ${JSON.stringify(other)}`);
  return {
    ...plainField(name.endsWith("_id") ? name : `${name}_id`, "integer"),
    isNullable,
    isUnique: options.includes("unique"),
    reference: EntityName.parse(model).singular(),
  };
}

function isListed(value: string): boolean {
  return /^[\w -]{1,100}$/.test(value);
}

function isBound(text: string, kind: SpecKind): boolean {
  const isWhole = kind === "text" || kind === "integer" || kind === "bigint";
  return (isWhole ? WHOLE : NUMBER).test(text) && (kind !== "text" || !text.startsWith("-"));
}

/** The forms of defaults that are not texts. */
const DEFAULTS: Partial<Record<SpecKind, RegExp>> = {
  integer: WHOLE,
  bigint: WHOLE,
  boolean: /^(?:true|false)$/,
  real: NUMBER,
  decimal: NUMBER,
  timestamp: /^now$/,
  uuid: /^random$/,
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^\d\d:\d\d:\d\d$/,
  json: /^\b$/,
  blob: /^\b$/,
};

function isDefault(text: string, { kind, values }: FieldSpec): boolean {
  if (kind === "enum") return values.includes(text);
  return kind === "text" || DEFAULTS[kind]!.test(text);
}
