/**
 * Stands, in a bundle for the edge, in the place of what serves and stores elsewhere: the package for
 * npm says so to bundlers, in the field `browser` of its `package.json`. Nothing imports it.
 *
 * @module
 */
throw new TypeError(
  "Cannot load a server, a driver, metrics or a Redis store: bundles for the edge leave them out",
);
export {};
