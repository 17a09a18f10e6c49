/**
 * Markers of guards and extractors that need an identity.
 *
 * @module
 */

const REQUIRES_IDENTITY = Symbol("fw.requiresIdentity");
const ACCEPTS_IDENTITY = Symbol("fw.acceptsIdentity");

/** Marks a guard or an extractor that refuses a caller without an identity, in place. */
export function markRequiresIdentity<T extends object>(guardOrExtractor: T): T {
  return Object.assign(guardOrExtractor, { [REQUIRES_IDENTITY]: true });
}

/** Checks whether a guard or an extractor is marked with {@linkcode markRequiresIdentity}. */
export function requiresIdentity(guardOrExtractor: unknown): boolean {
  // a subclass of a marked guard can let every caller pass
  return typeof guardOrExtractor === "function" &&
    Object.hasOwn(guardOrExtractor, REQUIRES_IDENTITY);
}

/** Marks an extractor that reads an identity and accepts callers without one, in place. */
export function markAcceptsIdentity<T extends object>(extractor: T): T {
  return Object.assign(extractor, { [ACCEPTS_IDENTITY]: true });
}

/** Checks whether an extractor is marked with {@linkcode markAcceptsIdentity}. */
export function acceptsIdentity(extractor: unknown): boolean {
  return typeof extractor === "function" && Object.hasOwn(extractor, ACCEPTS_IDENTITY);
}
