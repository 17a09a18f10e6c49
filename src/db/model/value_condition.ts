/**
 * The types of conditions on the value of a column, as plain values.
 *
 * @module
 */
import type { FieldKind } from "./field_kind.ts";

/**
 * A condition on a column of a kind: a value to equal, or operators. A JSON column takes no value.
 */
export type Condition<K extends FieldKind, V> =
  | (K extends "json" ? Extract<V, null> : K extends "array" ? ListOf<V> : V)
  | Operators<K, V>;

/** A list that is not changed. */
export type ListOf<V> = V extends readonly (infer E)[] ? readonly E[] : V;

/** The operators on a column of a kind that holds `V`; each one given must hold. */
export type Operators<K extends FieldKind, V> = K extends "json"
  ? NullOperators<V> | JsonPathOperators
  : K extends "array" ? ListOperators<V, V extends readonly (infer E)[] ? E : never>
  :
    & EqualityOperators<V>
    & (K extends "boolean" | "blob" | "enum" ? unknown : OrderOperators<NonNullable<V>>)
    & (K extends "text" ? TextOperators : unknown);

/** A value in JSON that can be compared. */
export type JsonScalar = string | number | boolean | null;

/**
 * The operators on the value at a path in a JSON column; each one given must hold. If there is no
 * value, none of them but `isSet: false` holds, nor does their `NOT`. A value of another type is
 * unequal, and neither less nor greater: the string `"1"` is not the number 1.
 */
export interface JsonPathOperators {
  /** Names of members, and indexes of elements: `["tags", 0]`; `[]` is the whole value. */
  readonly path: readonly (string | number)[];
  /** Is the value; `null` is that of JSON. */
  readonly equals?: JsonScalar;
  /** Is another value. */
  readonly not?: JsonScalar;
  /** Is a number that is less. */
  readonly lt?: number;
  /** Is a number that is less or equal. */
  readonly lte?: number;
  /** Is a number that is greater. */
  readonly gt?: number;
  /** Is a number that is greater or equal. */
  readonly gte?: number;
  /** Is a string that contains the text. */
  readonly string_contains?: string;
  /** Is a string that begins with the text. */
  readonly string_starts_with?: string;
  /** Is a string that ends with the text. */
  readonly string_ends_with?: string;
  /** Is a list that has the value, or each of several, among its elements. */
  readonly array_contains?: JsonScalar | readonly JsonScalar[];
  /** Whether there is a value; `null` of JSON is one. */
  readonly isSet?: boolean;
}

/** The operators on a JSON column. */
export interface NullOperators<V> {
  /** A path makes it a condition on the value there; see `JsonPathOperators`. */
  readonly path?: undefined;
  /** `null` means IS NULL. */
  readonly equals?: Extract<V, null>;
  /** `null` means IS NOT NULL. */
  readonly not?: Extract<V, null>;
  /** Whether it is `null`. */
  readonly isNull?: boolean;
}

/** The operators on an array. */
export interface ListOperators<V, E> {
  /** Has these elements in this order; `null` means IS NULL. */
  readonly equals?: ListOf<V>;
  /** Is another list; `null` means IS NOT NULL. */
  readonly not?: ListOf<V>;
  /** Has the element. */
  readonly has?: E;
  /** Has each of the elements; every row meets an empty list. */
  readonly hasEvery?: readonly E[];
  /** Has at least one of the elements; no row meets an empty list. */
  readonly hasSome?: readonly E[];
  /** `true`: has no elements; `false`: has some. Neither is met by `null`. */
  readonly isEmpty?: boolean;
  /** Whether it is `null`. */
  readonly isNull?: boolean;
}

/** The operators on every column but those of JSON and arrays. */
export interface EqualityOperators<V> {
  /** Is the value; `null` means IS NULL. */
  readonly equals?: V;
  /** Is another value; `null` means IS NOT NULL. */
  readonly not?: V;
  /** Is one of the values; an empty list matches no row. */
  readonly in?: readonly NonNullable<V>[];
  /** Is not among the values; an empty list matches every row. */
  readonly notIn?: readonly NonNullable<V>[];
  /** Whether it is `null`. */
  readonly isNull?: boolean;
}

/** The operators on numbers, text, timestamps and UUIDs. */
export interface OrderOperators<V> {
  /** Is less. */
  readonly lt?: V;
  /** Is less or equal. */
  readonly lte?: V;
  /** Is greater. */
  readonly gt?: V;
  /** Is greater or equal. */
  readonly gte?: V;
}

/** The operators on text. They have no wildcards: `%`, `_`, `*` and `?` stand for themselves. */
export interface TextOperators {
  /** Contains the text. */
  readonly contains?: string;
  /** Begins with the text. */
  readonly startsWith?: string;
  /** Ends with the text. */
  readonly endsWith?: string;
  /** Whether case counts in the other operators; `"default"` unless given. */
  readonly mode?: QueryMode;
}

/**
 * How text is compared: exactly, by code point, or with the ASCII letters A to Z in lower case.
 * Other letters are compared exactly in both modes.
 */
export type QueryMode = "default" | "insensitive";
