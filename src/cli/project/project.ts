/**
 * The project that a command is run in.
 *
 * @module
 */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError } from "../terminal/cli_error.ts";
import { readText, withoutComments } from "../system/files.ts";
import { PACKAGE } from "./framework.ts";
import { readVariables, type Variables } from "./variables.ts";

/** A project that uses the framework. */
export interface Project {
  /** Its folder. */
  readonly root: string;
  /** The name of its configuration file. */
  readonly configFile: string;
  /** The specifier of the framework, such as `jsr:@fw/fw@^0.1.0`. */
  readonly framework: string;
  /**
   * Returns the variables of its application, as they were at the first call: so all that a command
   * does and says is of the same ones.
   *
   * @throws {CliError} if its `.env` cannot be read
   */
  readonly variables: () => Promise<Variables>;
}

/** The default file of the application: `AppModule` and `setUp`. */
export const APP_FILE = "src/app.ts";

/** The default file of the database: `Db` and `databaseOptions`. */
export const DATABASE_FILE = "src/database.ts";

const CONFIG_FILES = ["deno.json", "deno.jsonc", "package.json"];
const FRAMEWORK = new RegExp(`"${PACKAGE}"\\s*:\\s*"([^"]+)"`);

/**
 * Finds the project of a folder: the nearest configuration, if it or its workspace imports the
 * framework.
 */
export function findProject(folder: string): Project | undefined {
  const configFile = CONFIG_FILES.find((name) => existsSync(join(folder, name)));
  const above = dirname(folder);
  if (configFile === undefined) return above === folder ? undefined : findProject(above);
  const framework = frameworkOf(folder);
  if (framework === undefined) return undefined;
  let read: Promise<Variables> | undefined;
  const variables = () => read ??= readVariables(folder);
  return { root: folder, configFile, framework, variables };
}

/**
 * Finds the project of a folder, in it or above it.
 *
 * @throws {CliError} if it is missing
 */
export function requireProject(folder: string): Project {
  const project = findProject(folder);
  if (project) return project;
  throw new CliError(
    `Cannot find a project: no deno.json here or above imports ${PACKAGE}; fw new creates one`,
  );
}

/** Checks whether a project has a file. */
export function hasFile({ root }: Project, path: string): boolean {
  return existsSync(join(root, path));
}

/** A file of TypeScript in a project. */
export interface SourceFile {
  /** Its path from the project's folder, with slashes. */
  readonly path: string;
  /** Its text. */
  readonly text: string;
}

/** Reads the files in `src`, without its tests. */
export function sourcesOf(project: Project): readonly SourceFile[] {
  if (!hasFile(project, "src")) return [];
  const folder = join(project.root, "src");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith("_test.ts"))
    .map((file) => ({
      path: `src/${file.replaceAll("\\", "/")}`,
      text: readText(join(folder, file)) ?? "",
    }));
}

/** Returns the command of the task `start` of a project, if it has one. */
export function startCommand({ root, configFile }: Project): string | undefined {
  const config = readText(join(root, configFile)) ?? "";
  const [, command] = /"start"\s*:\s*(?:\{[^}]*"command"\s*:\s*)?"([^"]*)"/.exec(config) ?? [];
  return command;
}

/** A flag of permissions: a long one, or short ones together, as `-NER` or `-qR=data`. */
const PERMISSION =
  /(?<=\s)(?:--(?:allow|deny|ignore)-|--permission-set|-[qr]*[AEINPRSW][qrAEINPRSW]*(?=[=\s]|$))\S*/g;

/** Returns the flags of a command that grant or deny permissions, without others of Deno. */
export function permissionFlags(command: string): readonly string[] {
  const [upToScript = ""] = command.split(/(?<=\.[cm]?[jt]sx?)(?=\s)/); // arguments follow it
  const flags = upToScript.match(PERMISSION) ?? [];
  // short flags of no permission, which Deno refuses twice
  return flags.map((flag) => flag.replace(/^-\w+/, (short) => short.replaceAll(/[qr]/g, "")));
}

/**
 * Returns the specifier of the framework in the configuration of a folder, or of the nearest above.
 */
function frameworkOf(folder: string): string | undefined {
  for (const name of [...CONFIG_FILES, "import_map.json"]) {
    const text = withoutComments(readText(join(folder, name)) ?? "");
    const [, framework] = FRAMEWORK.exec(text) ?? [];
    if (framework) return framework;
  }
  const above = dirname(folder);
  return above === folder ? undefined : frameworkOf(above);
}
