/**
 * Reading what is to be generated, and where.
 *
 * @module
 */
import { kebabCase, snakeCase } from "change-case";
import { isAbsolute, join, posix } from "node:path";
import { EntityName, pluralOf, singularOf } from "../project/entity_name.ts";
import type { Project } from "../project/project.ts";
import type { FilePlan } from "../system/file_plan.ts";
import { isFolder } from "../system/files.ts";
import { CliError } from "../terminal/cli_error.ts";

/** What is to be generated, and where. */
export interface Target {
  /** Its name, without the kind at its end. */
  readonly name: EntityName;
  /** The folders that the name was given with, as paths have them: `admin` of `admin/cats`. */
  readonly folders: readonly string[];
  /** The folder above its own, below the project's: `src/admin` of `admin/cats`. */
  readonly base: string;
  /** The folder of its files, the same for every kind: `src/admin/cats` of `admin/cat`. */
  readonly folder: string;
}

/** One thing that is to be generated. */
export interface Generation {
  /** The files that are to be written. */
  readonly plan: FilePlan;
  /** The project that they are for. */
  readonly project: Project;
  /** Its name, and where it is to be. */
  readonly target: Target;
}

/** Where a command is told to generate. */
export interface TargetOptions {
  /** The folder below the project's; default `src`. */
  readonly path?: string;
  /** Whether no folder is made for what is generated; default false. */
  readonly flat?: boolean;
}

/** Words for an area of an application, not for things: the folder of such a name is not plural. */
const AREAS: ReadonlySet<string> = new Set(
  ("admin auth authentication authorization billing caching checkout logging mail messaging " +
    "monitoring only payroll pricing search security shipping storage timing tracing").split(" "),
);

/**
 * Reads the name of what is to be generated: `cats`, `CatsService` or `admin/cats`. Its folder is the
 * plural of the name, as that of a resource; or the folder of the name that exists.
 *
 * @throws {CliError} if it is no name, or leads out of the project
 */
export function readTarget(
  given: string,
  { root, kind, path = "src", flat = false }: TargetOptions & {
    readonly root: string;
    readonly kind: string;
  },
): Target {
  for (const text of [given, path]) checkInside(text);
  const folders = given.split("/");
  const name = EntityName.parse(folders.pop() ?? "").without(kind);
  const start = posix.normalize(path.replaceAll("\\", "/")).replace(/\/$/, "");
  if (start !== ".") start.split("/").forEach(checkFolder);
  const base = folders.reduce((above, folder) => {
    const own = snakeCase(checkFolder(folder));
    return posix.join(
      above,
      existing(join(root, above), [own, pluralOf(own), singularOf(own)]) ?? own,
    );
  }, start);
  const { snake } = name;
  const usual = isArea(name) ? snake : pluralOf(snake);
  const own = existing(join(root, base), [usual, snake, singularOf(snake)]) ?? usual;
  return {
    name,
    folders: folders.map((folder) => kebabCase(folder)),
    base,
    folder: flat ? base : posix.join(base, own),
  };
}

/** Gives the specifier by which the files of a folder import a file of the project. */
export function specifierOf(folder: string, file: string): string {
  const way = posix.relative(folder, file);
  return way.startsWith(".") ? way : `./${way}`;
}

function checkInside(text: string): void {
  const leadsOut = isAbsolute(text) || /^[A-Za-z]:|\0/.test(text) ||
    text.split(/[\\/]/).includes("..");
  if (!leadsOut) return;
  throw new CliError(`Cannot generate ${JSON.stringify(text)}: it leads out of the project`);
}

/** What a folder is called is part of a specifier, which some characters would end. */
function checkFolder(folder: string): string {
  if (/^[\w][\w.-]*$/.test(folder) && folder !== "node_modules") return folder;
  throw new CliError(
    `Cannot generate in the folder ${JSON.stringify(folder)}: it is no name of one`,
  );
}

/** Finds the first of some folders that exists in another. */
function existing(above: string, names: readonly string[]): string | undefined {
  return names.find((name) => isFolder(join(above, name)));
}

function isArea({ kebab }: EntityName): boolean {
  return AREAS.has(kebab.split("-").at(-1) ?? "");
}
