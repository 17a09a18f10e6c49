/**
 * Checks of the application and of its database.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type ApplicationOptions, bootedRoutesOf } from "../project/application.ts";
import {
  type DatabaseOption,
  type ListedMigration,
  migrationsOf,
  tableDifferences,
} from "../project/migrations.ts";
import { databaseOfUrl } from "../project/database.ts";
import { hasFile, type Project } from "../project/project.ts";
import { migrationFolders } from "../project/migration_folders.ts";
import { diffsOf } from "../project/schema_diff.ts";
import type { Variables } from "../project/variables.ts";
import { lineOf } from "../terminal/cli_error.ts";
import { count } from "../terminal/terminal.ts";
import { type Finding, listSome, ok, problem, skipped, warning } from "./finding.ts";

/** Checks whether the application boots, and whether every route declares who can call it. */
export async function checkApplication(
  project: Project,
  options: ApplicationOptions & { readonly isProduction: boolean },
): Promise<readonly Finding[]> {
  const openRoutes = options.isProduction ? problem : warning;
  try {
    const routes = await bootedRoutesOf(project, options);
    const open = routes.filter(({ protection }) => protection === "open");
    const names = open.map(({ method, path }) => `${method} ${path}`);
    return [
      ok("application", `${options.app} loads, and has ${count(routes.length, "route")}`),
      open.length === 0
        ? ok("protection", "every route declares who can call it")
        : openRoutes("protection", `not declared who can call ${listSome(names)}`),
    ];
  } catch (error) {
    return [
      problem("application", lineOf(error)),
      skipped("protection", "the application cannot be loaded"),
    ];
  }
}

/** Checks whether the database can be reached, and is up to date. */
export async function checkDatabase(
  project: Project,
  { variables, ...options }: DatabaseOption & { readonly variables: Variables },
): Promise<readonly Finding[]> {
  const url = variables["DATABASE_URL"] ?? "";
  // a URL with parameters goes on: the start refuses it
  const [, file] = /^sqlite:(?:\/\/)?(?!:memory:)([^?]+)$/.exec(url) ?? [];
  if (file !== undefined && !existsSync(resolve(project.root, file))) {
    return [skipped("database", `${file} is missing: the next start creates it`)];
  }
  if (!hasFile(project, options.database)) {
    return [skipped("database", `${options.database} is missing`)];
  }
  try {
    const migrations = await migrationsOf(project, options);
    const missing = namesOf(migrations, ({ isMissing }) => isMissing);
    const edited = namesOf(migrations, ({ isEdited }) => isEdited);
    const pending = namesOf(migrations, ({ executedAt }) => !executedAt);
    const isCurrent = missing.length + pending.length === 0; // opening the database migrates it
    return [
      ok("database", "it can be reached"),
      ...checkMigrations({ total: migrations.length, missing, edited, pending }),
      ...isCurrent
        ? await checkTables(project, options)
        : [skipped("tables", `a migration is ${pending.length > 0 ? "pending" : "missing"}`)],
    ];
  } catch (error) {
    return [
      problem("database", lineOf(error)),
      skipped("migrations", "the database cannot be reached"),
    ];
  }
}

/**
 * Checks whether the migrations create the tables of the models; not on a server in production,
 * where it would create a database.
 */
export async function checkModels(
  project: Project,
  { variables, database, isProduction }: DatabaseOption & {
    readonly variables: Variables;
    readonly isProduction: boolean;
  },
): Promise<readonly Finding[]> {
  if (!hasFile(project, database)) return [];
  const main = databaseOfUrl(variables["DATABASE_URL"] ?? "");
  const folders = migrationFolders(project);
  if (isProduction && folders.some(({ database = main }) => database !== "sqlite")) {
    return [skipped("models", "compared in development and CI: fw db diff --check")];
  }
  const compared = { database, against: "migrations", renames: [], fills: {} } as const;
  try {
    const changes = (await diffsOf(project, compared)).flatMap(({ changes }) => changes);
    if (changes.length === 0) return [ok("models", "they agree with the migrations")];
    return changes.map((change) => problem("models", `no migration has: ${change}`));
  } catch (error) {
    return [skipped("models", lineOf(error))];
  }
}

async function checkTables(
  project: Project,
  options: DatabaseOption,
): Promise<readonly Finding[]> {
  const differences = await tableDifferences(project, options);
  if (differences.length === 0) return [ok("tables", "they agree with the models")];
  return differences.map((difference) => problem("tables", difference));
}

function namesOf(
  migrations: readonly ListedMigration[],
  holds: (migration: ListedMigration) => boolean,
): readonly string[] {
  return migrations.filter(holds).map(({ name }) => name);
}

function checkMigrations({ total, missing, edited, pending }: {
  readonly total: number;
  readonly missing: readonly string[];
  readonly edited: readonly string[];
  readonly pending: readonly string[];
}): readonly Finding[] {
  const subject = "migrations";
  const findings: Finding[] = [];
  if (missing.length > 0) {
    const text = `the files of migrations that were run are missing: ${listSome(missing)}`;
    findings.push(problem(subject, text));
  }
  if (edited.length > 0) {
    findings.push(warning(subject, `edited after they were run: ${listSome(edited)}`));
  }
  if (pending.length > 0) {
    const text = `pending until the next start or fw db migrate: ${listSome(pending)}`;
    findings.push(warning(subject, text));
  }
  return findings.length > 0
    ? findings
    : [ok(subject, `${count(total, "migration")}, none pending`)];
}
