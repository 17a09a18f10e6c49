/**
 * Checks of the application, of its database, and of what is unsafe in production.
 *
 * @module
 */
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ApplicationOptions, routesOf } from "../project/application.ts";
import { DEVELOPMENT_PASSWORDS } from "../project/database.ts";
import {
  type DatabaseOption,
  type ListedMigration,
  migrationsOf,
  tableDifferences,
} from "../project/migrations.ts";
import { hasFile, type Project } from "../project/project.ts";
import { readText, withoutComments } from "../system/files.ts";
import { lineOf } from "../terminal/cli_error.ts";
import type { Variables } from "./environment.ts";
import { count, type Finding, listSome, ok, problem, skipped, warning } from "./finding.ts";

/** Checks whether the application loads, and whether every route declares who can call it. */
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
  const [, file] = /^sqlite:(?:\/\/)?(?!:memory:)(.+)/.exec(variables["DATABASE_URL"] ?? "") ?? [];
  if (file !== undefined && !existsSync(resolve(project.root, file))) {
    return [skipped("database", `${file} is missing: the next start creates it`)];
  }
  if (!hasFile(project, options.database)) {
    return [skipped("database", `${options.database} is missing`)];
  }
  try {
    const migrations = await migrationsOf(project, options);
    const finding = checkMigrations(migrations);
    return [
      ok("database", "it can be reached"),
      finding,
      ...finding.level === "ok"
        ? await checkTables(project, options)
        : [skipped("tables", "a migration is pending")],
    ];
  } catch (error) {
    return [
      problem("database", lineOf(error)),
      skipped("migrations", "the database cannot be reached"),
    ];
  }
}

const SUBJECT = "production";
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Checks the sources and the environment for what is unsafe in production. */
export function checkProduction(project: Project, variables: Variables): readonly Finding[] {
  const findings = [
    ...checkSources(sourcesOf(project)),
    ...checkEnvironment(variables["FW_ENV"]),
    ...checkOAuth2(variables),
    ...checkDatabaseUrl(variables["DATABASE_URL"] ?? ""),
  ];
  return findings.length === 0 ? [ok(SUBJECT, "nothing unsafe was found")] : findings;
}

async function checkTables(
  project: Project,
  options: DatabaseOption,
): Promise<readonly Finding[]> {
  const differences = await tableDifferences(project, options);
  if (differences.length === 0) return [ok("tables", "they agree with the models")];
  return differences.map((difference) => problem("tables", difference));
}

function checkMigrations(migrations: readonly ListedMigration[]): Finding {
  const gone = migrations.filter(({ isMissing }) => isMissing).map(({ name }) => name);
  const due = migrations.filter(({ executedAt }) => !executedAt).map(({ name }) => name);
  if (gone.length > 0) {
    return problem(
      "migrations",
      `the files of migrations that were run are missing: ${listSome(gone)}`,
    );
  }
  const edited = migrations.filter(({ isEdited }) => isEdited).map(({ name }) => name);
  if (edited.length > 0) {
    return warning("migrations", `edited after they were run: ${listSome(edited)}`);
  }
  if (due.length > 0) {
    return warning("migrations", `pending until the next start or fw db migrate: ${listSome(due)}`);
  }
  return ok("migrations", `${count(migrations, "migration")}, none pending`);
}

function checkSources(sources: string): readonly Finding[] {
  const findings: Finding[] = [];
  if (!/\.enableProductionErrors(FromEnv)?\((?!false)/.test(sources)) {
    findings.push(
      problem(SUBJECT, "5xx responses reveal exceptions: call enableProductionErrorsFromEnv()"),
    );
  }
  if (!/\.useRateLimit\(|\brateLimit\(/.test(sources)) {
    findings.push(
      warning(SUBJECT, "requests are not limited: call useRateLimit()"),
    );
  }
  if (/\.listen\(/.test(sources)) {
    findings.push(
      warning(SUBJECT, "a stop interrupts requests: call listenGraceful(), not listen()"),
    );
  }
  const open = endpointsOf(sources).filter((path) => !isGuarded(path, sources));
  if (open.length > 0) {
    const names = open.join(", ");
    findings.push(
      warning(
        SUBJECT,
        `everybody can read ${names}: protect them in the proxy, or by app.use(path)`,
      ),
    );
  }
  return findings;
}

/** Returns the paths of the metrics and of the documentation. */
function endpointsOf(sources: string): readonly string[] {
  const [metrics, metricsPath = "/metrics"] =
    /\.enableMetrics\(\s*(?:["'`]([^"'`]+))?/.exec(sources) ?? [];
  const [, jsonPath = "/openapi.json"] = /\bjsonPath:\s*["'`]([^"'`]+)/.exec(sources) ?? [];
  const [, docsPath = "/docs"] = /\bdocsPath:\s*["'`]([^"'`]+)/.exec(sources) ?? [];
  const isDocumented = /\.enableOpenApi\(/.test(sources);
  return [
    ...metrics ? [metricsPath] : [],
    ...isDocumented && !/\bdocsPath:\s*false/.test(sources) ? [docsPath] : [],
    ...isDocumented ? [jsonPath, jsonPath.replace(/\.json$/, ".yaml")] : [],
  ];
}

/** Checks whether middleware has been added for a path alone, or for the paths below one. */
function isGuarded(path: string, sources: string): boolean {
  const patterns = [...sources.matchAll(/\.use\(\s*["'`](\/[^"'`]+)/g)].map(([, it = ""]) => it);
  return patterns.some((pattern) =>
    pattern === path ||
    pattern.endsWith("/*") && pattern !== "/*" && `${path}/`.startsWith(pattern.slice(0, -1))
  );
}

function checkEnvironment(name: string | undefined): readonly Finding[] {
  if (name === "production") return [];
  if (name === "development") {
    return [problem(SUBJECT, "FW_ENV is development: 5xx responses reveal errors")];
  }
  return [warning(SUBJECT, "FW_ENV is not production")];
}

/** Tokens and keys need an encrypted connection. */
function checkOAuth2(variables: Variables): readonly Finding[] {
  const names = Object.keys(variables).filter((name) => /^OAUTH2_\w*(ISSUER|URL)$/.test(name));
  return names.flatMap((name) => {
    const url = URL.parse(variables[name] ?? "");
    if (url?.protocol !== "http:") return [];
    const why = LOOPBACK.test(url.hostname) ? "is on this machine" : "is not https";
    return [problem(SUBJECT, `${name} ${why}`)];
  });
}

function checkDatabaseUrl(url: string): readonly Finding[] {
  if (/^sqlite:(\/\/)?:memory:/.test(url)) {
    return [problem(SUBJECT, "DATABASE_URL is in memory: data is lost at the end")];
  }
  const passwords = Object.values(DEVELOPMENT_PASSWORDS);
  if (!passwords.includes(URL.parse(url)?.password ?? "")) return [];
  return [problem(SUBJECT, "DATABASE_URL has the password of development")];
}

function sourcesOf(project: Project): string {
  if (!hasFile(project, "src")) return "";
  const folder = join(project.root, "src");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith("_test.ts"))
    .map((file) => withoutComments(readText(join(folder, file)) ?? "")).join(
      "\n",
    );
}
