/**
 * The variables of a project's environment.
 *
 * @module
 */
import { join } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import { readText } from "../system/files.ts";
import type { Project } from "./project.ts";

/** Variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Returns the variables of the application: those of the process, else those of `.env`. */
export function readVariables({ root }: Pick<Project, "root">): Variables {
  return { ...parseEnv(readText(join(root, ".env")) ?? ""), ...process.env };
}
