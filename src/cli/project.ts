/**
 * The project that a command is run in.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError } from "./cli_error.ts";
import { PACKAGE } from "./framework.ts";
import { readText } from "./read_text.ts";

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
/** Configuration files may have comments, which `JSON.parse` does not take. */
const FRAMEWORK = new RegExp(`"${PACKAGE}"\\s*:\\s*"([^"]+)"`);

/** Finds the project of a folder: in it or above it. */
export function findProject(folder: string): Project | undefined {
  for (const configFile of CONFIG_FILES) {
    const [, framework] = FRAMEWORK.exec(readText(join(folder, configFile)) ?? "") ?? [];
    if (framework) return { root: folder, configFile, framework };
  }
  const above = dirname(folder);
  return above === folder ? undefined : findProject(above);
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
