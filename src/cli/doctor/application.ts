/**
 * The application of a project, and its database.
 *
 * @module
 */
import { lineOf } from "../cli_error.ts";
import type { AppOption } from "../commands/app_option.ts";
import { migrationsOf } from "../commands/db.ts";
import { routesOf } from "../commands/routes.ts";
import { DATABASE_FILE, hasFile, type Project } from "../project.ts";
import { type Finding, ok, problem, skipped, warning } from "./finding.ts";

/** Looks whether the application can be loaded, and whether something says who may call its routes. */
export async function checkApplication(options: AppOption): Promise<readonly Finding[]> {
  try {
    const routes = await routesOf(options);
    const open = routes.filter(({ protection }) => protection === "open");
    const names = open.map(({ method, path }) => `${method} ${path}`);
    return [
      ok("application", `${options.app} loads, and has ${count(routes.length, "route")}`),
      open.length === 0
        ? ok("protection", "every route says who may call it")
        : warning("protection", `nothing says who may call ${listed(names)}`),
    ];
  } catch (error) {
    return [
      problem("application", lineOf(error)),
      skipped("protection", "the application cannot be loaded"),
    ];
  }
}

/** Looks whether the database can be reached, and is up to date. */
export async function checkDatabase(project: Project): Promise<readonly Finding[]> {
  if (!hasFile(project, DATABASE_FILE)) {
    return [skipped("database", `there is no ${DATABASE_FILE}`)];
  }
  try {
    const migrations = await migrationsOf(project);
    const gone = migrations.filter(({ isMissing }) => isMissing).map(({ name }) => name);
    const due = migrations.filter(({ executedAt }) => !executedAt).map(({ name }) => name);
    return [
      ok("database", "it can be reached"),
      gone.length > 0
        ? problem("migrations", `it has run what has no file any more: ${listed(gone)}`)
        : due.length > 0
        ? warning("migrations", `due at the next start, or by fw db migrate: ${listed(due)}`)
        : ok("migrations", `${count(migrations.length, "migration")}, none is due`),
    ];
  } catch (error) {
    return [
      problem("database", lineOf(error)),
      skipped("migrations", "the database does not tell"),
    ];
  }
}

/** Names a few, and counts the others. */
function listed(names: readonly string[]): string {
  const others = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(", ") + (others > 0 ? ` and ${others} more` : "");
}

const MOST_NAMED = 3;

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
