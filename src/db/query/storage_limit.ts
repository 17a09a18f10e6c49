/**
 * Limits of stored values beyond those of their kind.
 *
 * @module
 */
import type { Grammar } from "../connection/grammar.ts";
import { textOfAtMost, type ValueTest } from "../model/field_rules.ts";
import { type AnyField, isGenerated } from "../model/model.ts";

/**
 * How many of the largest generated keys cannot be given: generated keys follow the largest one,
 * and must not reach numbers that cannot be read.
 */
const RESERVED_KEYS = 2 ** 32;
const MAX_INT64 = 2n ** 63n - 1n;

/** Returns the limit of the values that a column stores, if it has one. */
export function storageLimit(
  { field, isIndexed, grammar: { maxIndexedText } }: {
    readonly field: AnyField;
    readonly isIndexed: boolean;
    readonly grammar: Grammar;
  },
): ValueTest | undefined {
  if (isGenerated(field)) {
    const largest = field.kind === "bigint"
      ? MAX_INT64 - BigInt(RESERVED_KEYS)
      : Number.MAX_SAFE_INTEGER - RESERVED_KEYS;
    return { takes: `at most ${largest}`, admits: (key) => (key as number | bigint) <= largest };
  }
  if (maxIndexedText === undefined || field.kind !== "text" || !isIndexed) return undefined;
  return textOfAtMost(maxIndexedText);
}
