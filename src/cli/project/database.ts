/**
 * The databases that a project can have.
 *
 * @module
 */

/** The databases that a project can use. */
export const DATABASES = ["postgres", "sqlite", "mysql"] as const;

/** A database. */
export type Database = (typeof DATABASES)[number];

/** The passwords of development databases, which are no secret. */
export const DEVELOPMENT_PASSWORDS: Readonly<Record<Exclude<Database, "sqlite">, string>> = {
  postgres: "postgres",
  mysql: "mysql",
};

/** Returns the name of a project's database, which SQL accepts without quotes. */
export function databaseName(project: string): string {
  return project.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
}

/** Returns the kind of database of a URL, if it is known. */
export function databaseOfUrl(url: string): Database | undefined {
  const [scheme] = url.split(":");
  if (scheme === "postgres" || scheme === "postgresql") return "postgres";
  if (scheme === "mysql" || scheme === "mariadb") return "mysql";
  return scheme === "sqlite" ? "sqlite" : undefined;
}

/** Parses a URL once for each host that it names; nothing if it is malformed. */
export function parseUrls(url: string): readonly URL[] {
  const [, head, list, rest] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#@]+)(.*)$/s.exec(url) ?? [];
  const parsed = list?.split(",").map((host) => URL.parse(`${head}${host}${rest}`)) ??
    [URL.parse(url)];
  return parsed.includes(null) ? [] : parsed as URL[];
}

/** Returns the URL of a database without its user, password and parameters, if it is a URL. */
export function nameOfUrl(url: string): string | undefined {
  const urls = parseUrls(url);
  const [first] = urls;
  if (!first) return undefined;
  const hosts = urls.map(({ host }) => host).join();
  return `${first.protocol}${hosts && `//${hosts}`}${first.pathname}`;
}
