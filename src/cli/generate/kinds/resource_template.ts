/**
 * What the files of a resource are made of.
 *
 * @module
 */
import type { EntityName } from "../../project/entity_name.ts";

/** What a resource is made for: one of many, and where it finds what it shares with others. */
export interface ResourceTemplate {
  /** The name of one. */
  readonly one: EntityName;
  /** The name of many. */
  readonly many: EntityName;
  /** The name of its repository. */
  readonly accessor: string;
  /** The path of its routes, below the prefix and the version: `admin/cats`. */
  readonly prefix: string;
  /** The specifier of the file of the database. */
  readonly database: string;
  /** The specifier of the file that opens the database of tests. */
  readonly testDatabase: string;
  /** The specifier of the file of `IdParam`. */
  readonly idParam: string;
  /** The specifier of the file of `PageQuery`. */
  readonly pageQuery: string;
}
