/**
 * `fw routes`: which routes there are, and how they are protected.
 *
 * @module
 */
import type { Command } from "commander";
import { table } from "../table.ts";
import { paint, print, type Style } from "../terminal.ts";
import { type AppOption, inspect, withAppOption } from "./app_option.ts";

/** A route, as `app.routes()` lists it. */
export interface ListedRoute {
  readonly method: string;
  readonly path: string;
  readonly handler: string;
  readonly protection: "open" | "public" | "guarded" | "identity" | "roles";
  readonly roles: readonly string[];
}

/** Adds `fw routes`. */
export function routesCommand(program: Command): void {
  withAppOption(program.command("routes"))
    .summary("list the routes, and how they are protected")
    .description(`Lists the routes. Their protection is

  public    for everybody, as the route says
  open      for everybody, and nothing says that it should be
  guarded   by guards of its own
  identity  for callers with a token
  roles     for callers with one of the roles that are listed`)
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      `
Example:
  fw routes --json | jq -r '.[] | select(.protection == "open") | .path'`,
    )
    .action(listRoutes);
}

/** Gives the routes of a project. */
export async function routesOf(options: AppOption): Promise<readonly ListedRoute[]> {
  // What app.routes() gives is JSON of this shape.
  return await inspect(options, "return app.routes();") as readonly ListedRoute[];
}

async function listRoutes({ json, ...options }: AppOption & { json?: boolean }): Promise<void> {
  const routes = await routesOf(options);
  if (json) return print(JSON.stringify(routes, null, 2));
  if (routes.length === 0) return print("There are no routes.");
  const rows = routes.map(({ method, path, handler, protection, roles }) => [
    paint("cyan", method),
    path,
    paint("dim", handler),
    paint(COLOURS[protection], [protection, roles.join(", ")].filter(Boolean).join(": ")),
  ]);
  print(table(["METHOD", "PATH", "HANDLER", "PROTECTION"], rows));
}

const COLOURS: Readonly<Record<ListedRoute["protection"], Style>> = {
  open: "yellow",
  public: "dim",
  guarded: "green",
  identity: "green",
  roles: "green",
};
