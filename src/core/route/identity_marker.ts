/**
 * Knowing which guards and extractors let nobody pass without an identity.
 *
 * @module
 */

const REQUIRES_IDENTITY = Symbol("fw.requiresIdentity");
const ACCEPTS_IDENTITY = Symbol("fw.acceptsIdentity");

/** Marks a guard or an extractor that refuses a caller without an identity, in place. */
export function markRequiresIdentity<T extends object>(guardOrExtractor: T): T {
  return Object.assign(guardOrExtractor, { [REQUIRES_IDENTITY]: true });
}

/** Tells whether a guard or an extractor is marked so. */
export function requiresIdentity(guardOrExtractor: unknown): boolean {
  // a class that extends one of them may let anybody pass
  return typeof guardOrExtractor === "function" &&
    Object.hasOwn(guardOrExtractor, REQUIRES_IDENTITY);
}

/** Marks an extractor that takes an identity and does not refuse a caller without one, in place. */
export function markAcceptsIdentity<T extends object>(extractor: T): T {
  return Object.assign(extractor, { [ACCEPTS_IDENTITY]: true });
}

/** Tells whether an extractor is marked so. */
export function acceptsIdentity(extractor: unknown): boolean {
  return typeof extractor === "function" && Object.hasOwn(extractor, ACCEPTS_IDENTITY);
}
