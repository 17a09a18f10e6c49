/**
 * Changes of a document, as they are reported.
 *
 * @module
 */
import { type Direction, type RuleName, RULES, type SchemaDifference } from "./rules.ts";

/** A change of an operation, or of the whole document. */
export interface Change {
  /** The operation in the base, such as `GET /orders/{id}`; `API` for the whole document. */
  readonly operation: string;
  /** The place in it: `query "page"`, `body items[].count`, `200 total`; empty for all of it. */
  readonly where: string;
  /** What has changed, in words that follow the place: `lost "total"`. */
  readonly change: string;
  /** The rule that it falls under. */
  readonly rule: RuleName;
  /** Whether it breaks clients. */
  readonly isBreaking: boolean;
  /** Why it does, or does not. */
  readonly reason: string;
}

/** A place in an operation: where it is, and who sends it. */
export interface Place {
  readonly where: string;
  readonly direction: Direction;
}

/** A change at a place. */
export type PlacedChange = Omit<Change, "operation">;

/** Creates a change at a place. */
export function changed({ where, direction }: Place, rule: RuleName, change: string): PlacedChange {
  const { reason, [direction]: isBreaking } = RULES[rule];
  return { where, change, rule, isBreaking, reason };
}

/**
 * Creates the changes at a place whose schema has changed. Differences with the same words, such as
 * those of a type that is replaced, are one change.
 */
export function changesOf(
  place: Place,
  differences: readonly SchemaDifference[],
): readonly PlacedChange[] {
  const byText = new Map<string, PlacedChange>();
  for (const { path, rule, change } of differences) {
    const step = /^[.(]/.test(path) ? ` ${path.replace(/^\./, "")}` : path;
    const made = changed({ ...place, where: place.where + step }, rule, change);
    const key = `${made.where}\n${change}`;
    if (made.isBreaking || !byText.has(key)) byText.set(key, made);
  }
  return [...byText.values()];
}
