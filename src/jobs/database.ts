/**
 * The database of an application, with the tables of jobs.
 *
 * @module
 */
import { Table } from "../db/query/table.ts";
import type { AbstractClass } from "../platform/class.ts";

/** A database that has the table of jobs: a `DbService` with the models `jobTables`. */
export interface JobsDatabase {
  /** The jobs. */
  readonly fwJob: object;
  /** The tables of the models. */
  readonly "~tables": readonly unknown[];
  /** Returns the database without its replicas. */
  primary(): JobsDatabase;
}

/** The class of a database with the table of jobs, as its key. */
export type JobsDatabaseKey = AbstractClass<JobsDatabase>;

/** Where tables are found. */
interface WithTables {
  readonly "~tables": readonly unknown[];
  primary(): WithTables;
}

/** Returns the table of a name, which reads and writes the primary database; if there is one. */
export function tableOf(db: WithTables, name: string): Table | undefined {
  return db.primary()["~tables"].find((it): it is Table => it instanceof Table && it.name === name);
}

/**
 * Returns the database of a class among the instances of an application.
 *
 * @throws {TypeError} without a database; `action` begins its message
 */
export function databaseIn<Database extends object>(
  instances: readonly object[],
  { key, action }: {
    readonly key: AbstractClass<Database>;
    readonly action: string;
  },
): Database {
  const db = instances.find((it): it is Database => it instanceof key);
  if (db) return db;
  throw new TypeError(
    `Cannot ${action}: no module provides ${key.name}; import DbModule.forRoot`,
  );
}
