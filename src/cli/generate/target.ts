/**
 * What to generate, and where.
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

/** What to generate, and where. */
export interface Target {
  /** The name, without the kind at its end. */
  readonly name: EntityName;
  /** The folders before the name, as in paths: `admin` of `admin/cats`. */
  readonly folders: readonly string[];
  /** The parent of its folder, below the project's: `src/admin` of `admin/cats`. */
  readonly base: string;
  /** The folder of its files, the same for every kind: `src/admin/cats` of `admin/cat`. */
  readonly folder: string;
}

/** A run of a generator. */
export interface Generation {
  /** The files to write. */
  readonly plan: FilePlan;
  /** The project. */
  readonly project: Project;
  /** What to generate, and where. */
  readonly target: Target;
  /** The fields of a model or a payload, as they were written: `title:text`. */
  readonly fields: readonly string[];
  /** The column that has the tenant of a row. */
  readonly tenant: string | undefined;
  /** How many further runs a job has after failed ones. */
  readonly retries: number | undefined;
}

/** Options of the place to generate in. */
export interface TargetOptions {
  /** The folder below the project's; default `src`. */
  readonly path?: string;
  /** Whether it has no folder of its own; default false. */
  readonly flat?: boolean;
}

/** Words for an area of an application, not for things: the folder of such a name is not plural. */
const AREAS: ReadonlySet<string> = new Set(
  ("admin auth authentication authorization billing caching checkout logging mail messaging " +
    "monitoring only payroll pricing search security shipping storage timing tracing").split(" "),
);

/**
 * Reads a name: `cats`, `CatsService` or `admin/cats`. Its folder is the plural of the name for
 * every kind, unless a folder of the name exists.
 *
 * @throws {CliError} if it is invalid, or leads out of the project
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

/** Returns the specifier by which files of a folder import a file of the project. */
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

/** The name of a folder is part of a specifier, which excludes some characters. */
function checkFolder(folder: string): string {
  if (/^[\w][\w.-]*$/.test(folder) && folder !== "node_modules") return folder;
  throw new CliError(
    `Cannot generate in the folder ${JSON.stringify(folder)}: the name is invalid`,
  );
}

/** Finds the first of some folders that exists in another. */
function existing(above: string, names: readonly string[]): string | undefined {
  return names.find((name) => isFolder(join(above, name)));
}

function isArea({ kebab }: EntityName): boolean {
  return AREAS.has(kebab.split("-").at(-1) ?? "");
}
