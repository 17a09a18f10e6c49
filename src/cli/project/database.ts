/**
 * The databases that a project can have.
 *
 * @module
 */

/** The databases that a project can have. */
export const DATABASES = ["postgres", "sqlite", "mysql"] as const;

/** A database. */
export type Database = (typeof DATABASES)[number];

/** The passwords of the databases of development: they protect nothing. */
export const DEVELOPMENT_PASSWORDS: Readonly<Record<Exclude<Database, "sqlite">, string>> = {
  postgres: "postgres",
  mysql: "mysql",
};

/** Gives the name of a project's database: as SQL takes it without quotes. */
export function databaseName(project: string): string {
  return project.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
}

/** Gives the database that a URL is of; nothing if it is of none of them. */
export function databaseOfUrl(url: string): Database | undefined {
  const [scheme] = url.split(":");
  if (scheme === "postgres" || scheme === "postgresql") return "postgres";
  if (scheme === "mysql" || scheme === "mariadb") return "mysql";
  return scheme === "sqlite" ? "sqlite" : undefined;
}
