/**
 * Kysely dialects that differ from another one in their driver only.
 *
 * @module
 */
import type { Dialect, Driver } from "kysely";

/** Gives a dialect with a driver of its own. */
export function withDriver(dialect: Dialect, createDriver: () => Driver): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver,
    createIntrospector: (kysely) => dialect.createIntrospector(kysely),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}
