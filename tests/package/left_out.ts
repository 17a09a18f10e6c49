/**
 * The modules that bundles for browsers and the edge leave out.
 *
 * @module
 */

/** The packages of servers, drivers and metrics, and parts of packages. */
export const LEFT_OUT: readonly string[] = [
  "@hono/node-server",
  "hono/bun",
  "hono/deno",
  "kysely-postgres-js",
  "mysql2",
  "postgres",
  "prom-client",
  "ws",
];

/** The module that replaces each of them. */
export const IN_PLACE_OF_LEFT_OUT = `throw new TypeError(
  "Cannot load a server, a driver or metrics: bundles for the edge leave them out",
);
`;
