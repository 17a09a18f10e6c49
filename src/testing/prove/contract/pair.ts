/**
 * Something before and after a change.
 *
 * @module
 */

/** What the base has, and what it has become. */
export interface Pair<T> {
  readonly base: T;
  readonly current: T;
}
