/**
 * The files of a new project.
 *
 * @module
 */
import { databaseName } from "../project/database.ts";
import { applicationFiles } from "./application.ts";
import { databaseFiles } from "./database_files.ts";
import { denoConfig, GITIGNORE } from "./deno_config.ts";
import { dockerFiles } from "./docker.ts";
import type { Files, NewProject } from "./new_project.ts";
import { oauth2Files } from "./oauth2.ts";
import { readme } from "./readme.ts";
import { environmentFiles } from "./variables.ts";

/** Gives the files of a new project. */
export function projectFiles(project: NewProject): Files {
  return {
    "deno.json": denoConfig(project),
    "README.md": readme(project),
    ...environmentFiles(project),
    ".gitignore": GITIGNORE,
    ...dockerFiles(project),
    ...applicationFiles(project),
    ...project.database ? databaseFiles(project.database, databaseName(project.name)) : {},
    ...project.oauth2 ? oauth2Files() : {},
  };
}
