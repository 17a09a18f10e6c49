/**
 * Reading what is to be generated, and where.
 *
 * @module
 */
import { kebabCase, snakeCase } from "change-case";
import { isAbsolute, posix } from "node:path";
import { EntityName } from "../project/entity_name.ts";
import type { Project } from "../project/project.ts";
import type { FilePlan } from "../system/file_plan.ts";
import { CliError } from "../terminal/cli_error.ts";

/** What is to be generated, and where. */
export interface Target {
  /** Its name, without the kind at its end. */
  readonly name: EntityName;
  /** The folders that the name was given with, as paths have them: `admin` of `admin/cats`. */
  readonly folders: readonly string[];
  /** The folder that folders of their own are made in, below the project's. */
  readonly base: string;
  /** Whether files are put into that folder itself. */
  readonly flat: boolean;
}

/** Where a command is told to generate. */
export interface TargetOptions {
  /** The folder below the project's; default `src`. */
  readonly path?: string;
  /** Whether no folder is made for what is generated; default false. */
  readonly flat?: boolean;
}

/**
 * Reads the name of what is to be generated: `cats`, `CatsService` or `admin/cats`.
 *
 * @throws {CliError} if it is no name, or leads out of the project
 */
export function readTarget(
  given: string,
  { kind, path = "src", flat = false }: TargetOptions & { readonly kind: string },
): Target {
  for (const text of [given, path]) checkInside(text);
  const folders = given.split("/");
  const name = EntityName.parse(folders.pop() ?? "").without(kind);
  const below = folders.map((folder) => snakeCase(checkFolder(folder)));
  const base = posix.normalize(path.replaceAll("\\", "/")).replace(/\/$/, "");
  if (base !== ".") base.split("/").forEach(checkFolder);
  return {
    name,
    folders: folders.map((folder) => kebabCase(folder)),
    base: posix.join(base, ...below),
    flat,
  };
}

/** Gives the folder of a target, of the name of one or of many. */
export function folderOf({ name, base, flat }: Target, own: EntityName = name): string {
  return flat ? base : posix.join(base, own.snake);
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

/** One thing that is to be generated. */
export interface Generation {
  /** The files that are to be written. */
  readonly plan: FilePlan;
  /** The project that they are for. */
  readonly project: Project;
  /** Its name, and where it is to be. */
  readonly target: Target;
}
