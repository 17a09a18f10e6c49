/**
 * The application of a project.
 *
 * @module
 */
import { lineOf } from "../terminal/cli_error.ts";
import type { Project } from "../project/project.ts";
import { type ApplicationOptions, routesOf } from "../project/application.ts";
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
