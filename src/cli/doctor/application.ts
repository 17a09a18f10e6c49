/**
 * Checks of the application and its database.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type ApplicationOptions, routesOf } from "../project/application.ts";
import {
  type DatabaseOption,
  type ListedMigration,
  migrationsOf,
  missingTables,
} from "../project/migrations.ts";
import { hasFile, type Project } from "../project/project.ts";
import { lineOf } from "../terminal/cli_error.ts";
import type { Variables } from "./environment.ts";
import { count, type Finding, listSome, ok, problem, skipped, warning } from "./finding.ts";

/** Looks whether the application can be loaded, and whether something says who may call its routes. */
export async function checkApplication(
  project: Project,
  { isProduction, ...options }: ApplicationOptions & { readonly isProduction: boolean },
): Promise<readonly Finding[]> {
  const openRoutes = isProduction ? problem : warning;
  try {
    const routes = await routesOf(project, options);
    const open = routes.filter(({ protection }) => protection === "open");
    const names = open.map(({ method, path }) => `${method} ${path}`);
    return [
      ok("application", `${options.app} loads, and has ${count(routes, "route")}`),
      open.length === 0
        ? ok("protection", "every route says who may call it")
        : openRoutes("protection", `nothing says who may call ${listSome(names)}`),
    ];
  } catch (error) {
    return [
      problem("application", lineOf(error)),
      skipped("protection", "the application cannot be loaded"),
    ];
  }
}

/** Looks whether the database can be reached, and is up to date. */
export async function checkDatabase(
  project: Project,
  { variables, ...options }: DatabaseOption & { readonly variables: Variables },
): Promise<readonly Finding[]> {
  const [, file] = /^sqlite:(?:\/\/)?(?!:memory:)(.+)/.exec(variables["DATABASE_URL"] ?? "") ?? [];
  if (file !== undefined && !existsSync(resolve(project.root, file))) {
    return [skipped("database", `there is no ${file} yet: the next start makes it`)];
  }
  if (!hasFile(project, options.database)) {
    return [skipped("database", `there is no ${options.database}`)];
  }
  try {
    const migrations = await migrationsOf(project, options);
    const finding = checkMigrations(migrations);
    return [
      ok("database", "it can be reached"),
      finding,
      await checkTables(project, options, finding),
    ];
  } catch (error) {
    return [
      problem("database", lineOf(error)),
      skipped("migrations", "the database does not tell"),
    ];
  }
}

async function checkTables(
  project: Project,
  options: DatabaseOption,
  { level }: Finding,
): Promise<Finding> {
  if (level !== "ok") return skipped("tables", "they are not up to date");
  const missing = await missingTables(project, options);
  if (missing === undefined) return ok("tables", "they have the columns of the models");
  return problem("tables", `a migration is missing: ${missing}`);
}

function checkMigrations(migrations: readonly ListedMigration[]): Finding {
  const gone = migrations.filter(({ isMissing }) => isMissing).map(({ name }) => name);
  const due = migrations.filter(({ executedAt }) => !executedAt).map(({ name }) => name);
  if (gone.length > 0) {
    return problem("migrations", `it has run what has no file any more: ${listSome(gone)}`);
  }
  if (due.length > 0) {
    return warning("migrations", `due at the next start, or by fw db migrate: ${listSome(due)}`);
  }
  return ok("migrations", `${count(migrations, "migration")}, none is due`);
}
