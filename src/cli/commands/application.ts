/**
 * `fw routes` and `fw openapi`: the routes and the document of an application, without running it.
 *
 * @module
 */
import type { Command } from "commander";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import {
  type ApplicationOptions,
  documentOf,
  type ListedRoute,
  routesOf,
} from "../project/application.ts";
import { requireProject } from "../project/project.ts";
import { CliError, lineOf } from "../terminal/cli_error.ts";
import { paint, print, type Style, table, withProgress } from "../terminal/terminal.ts";
import { addAppOption, addExamples } from "./options.ts";

const STYLES: Readonly<Record<ListedRoute["protection"], Style>> = {
  open: "yellow",
  public: "dim",
  guarded: "green",
  identity: "green",
  scopes: "green",
  roles: "green",
};

/** Adds `fw routes`. */
export function addRoutesCommand(program: Command): void {
  const command = program.command("routes")
    .summary("list the routes and their protection")
    .description(`Lists the routes. Their protection is

  public    for all callers, as the route declares
  open      for all callers, and not declared public
  guarded   by guards
  identity  for callers with a token
  scopes    for callers with a token that grants all of the listed scopes
  roles     for callers with one of the listed roles, and all of the listed scopes`)
    .option("--json", "as JSON")
    .action(listRoutes);
  addAppOption(command);
  addExamples(command, `fw routes --json | jq -r '.[] | select(.protection == "open") | .path'`);
}

/** Adds `fw openapi`. */
export function addOpenApiCommand(program: Command): void {
  const command = program.command("openapi")
    .summary("write the OpenAPI document")
    .description("Writes the OpenAPI 3.1 document of the routes to stdout, or to a file.")
    .option("--out <file>", "the file: YAML if its name ends in .yaml or .yml, else JSON")
    .action(writeDocument);
  addAppOption(command);
  addExamples(command, "fw openapi --out openapi.yaml");
}

async function listRoutes(
  { json = false, ...options }: ApplicationOptions & { json?: boolean },
): Promise<void> {
  const project = requireProject(process.cwd());
  const routes = await withProgress("Loading the routes", () => routesOf(project, options));
  if (json) return print(JSON.stringify(routes, null, 2));
  if (routes.length === 0) return print("There are no routes.");
  const isInPath = ({ path, versions }: ListedRoute) =>
    versions.every((version) => path.split("/").includes(version));
  const hasVersions = !routes.every(isInPath);
  const rows = routes.map(({ method, path, versions, handler, ...route }) => [
    paint("cyan", method),
    path,
    ...hasVersions ? [versions.join(", ")] : [],
    paint("dim", handler),
    paint(STYLES[route.protection], describeProtection(route)),
  ]);
  const heading = ["METHOD", "PATH", ...hasVersions ? ["VERSION"] : [], "HANDLER", "PROTECTION"];
  print(table(rows, { heading }));
}

/** Describes a protection: `roles: admin, auditor; scopes: orders:read`. */
function describeProtection(
  { protection, roles, scopes }: Pick<ListedRoute, "protection" | "roles" | "scopes">,
): string {
  const permissions = Object.entries({ roles, scopes })
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => `${kind}: ${names.join(", ")}`);
  return permissions.join("; ") || protection;
}

async function writeDocument(
  { out, ...options }: ApplicationOptions & { out?: string },
): Promise<void> {
  const project = requireProject(process.cwd());
  const isYaml = /\.ya?ml$/i.test(out ?? "");
  const text = await withProgress(
    "Creating the document",
    () => documentOf(project, { ...options, isYaml }),
  );
  if (out === undefined) return print(text.trimEnd());
  try {
    mkdirSync(dirname(resolve(out)), { recursive: true });
    writeFileSync(out, text);
  } catch (cause) {
    throw new CliError(`Cannot write ${out}: ${lineOf(cause)}`, { cause });
  }
  print(`${paint("green", "wrote")} ${out}`);
}
