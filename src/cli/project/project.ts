/**
 * The project that a command is run in.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError } from "../terminal/cli_error.ts";
import { readText, withoutComments } from "../system/files.ts";
import { PACKAGE } from "./framework.ts";

/** A project that uses the framework. */
export interface Project {
  /** Its folder. */
  readonly root: string;
  /** The name of its configuration file. */
  readonly configFile: string;
  /** What it imports the framework as, such as `jsr:@fw/fw@^0.1.0`. */
  readonly framework: string;
}

/** Where projects have their application, unless they are told otherwise: `AppModule` and `setUp`. */
export const APP_FILE = "src/app.ts";

/** Where projects have their database, unless they are told otherwise: `Db` and `databaseOptions`. */
export const DATABASE_FILE = "src/database.ts";

const CONFIG_FILES = ["deno.json", "deno.jsonc", "package.json"];
const FRAMEWORK = new RegExp(`"${PACKAGE}"\\s*:\\s*"([^"]+)"`);

/**
 * Finds the project of a folder: the nearest configuration, which imports the framework or is part of a
 * workspace that does.
 */
export function findProject(folder: string): Project | undefined {
  const configFile = CONFIG_FILES.find((name) => existsSync(join(folder, name)));
  const above = dirname(folder);
  if (configFile === undefined) return above === folder ? undefined : findProject(above);
  const framework = frameworkOf(folder);
  return framework === undefined ? undefined : { root: folder, configFile, framework };
}

/**
 * Finds the project of a folder: in it or above it.
 *
 * @throws {CliError} if there is none
 */
export function requireProject(folder: string): Project {
  const project = findProject(folder);
  if (project) return project;
  throw new CliError(
    `Cannot find a project: no deno.json here or above imports ${PACKAGE}; fw new makes one`,
  );
}

/** Tells whether a project has a file. */
export function hasFile({ root }: Project, path: string): boolean {
  return existsSync(join(root, path));
}

/** Gives what a folder, or the nearest above it, imports the framework as. */
function frameworkOf(folder: string): string | undefined {
  for (const name of [...CONFIG_FILES, "import_map.json"]) {
    const text = withoutComments(readText(join(folder, name)) ?? "");
    const [, framework] = FRAMEWORK.exec(text) ?? [];
    if (framework) return framework;
  }
  const above = dirname(folder);
  return above === folder ? undefined : frameworkOf(above);
}
