/**
 * Knowing which guards and extractors let nobody pass without an identity.
 *
 * @module
 */

const NEEDS_IDENTITY = Symbol("fw.needsIdentity");

/** Marks a guard or an extractor that refuses a caller without an identity, in place. */
export function needingIdentity<T extends object>(guardOrExtractor: T): T {
  return Object.assign(guardOrExtractor, { [NEEDS_IDENTITY]: true });
}

/** Tells whether a guard or an extractor is marked so. */
export function needsIdentity(guardOrExtractor: unknown): boolean {
  // a class that extends one of them may let anybody pass
  return typeof guardOrExtractor === "function" && Object.hasOwn(guardOrExtractor, NEEDS_IDENTITY);
}
