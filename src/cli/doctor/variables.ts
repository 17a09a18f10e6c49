/**
 * The environment of a project: as `.env.example` explains it, and as it is.
 *
 * @module
 */
import { join } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import type { Project } from "../project.ts";
import { readText } from "../files.ts";
import { type Finding, ok, problem, skipped } from "./finding.ts";

/** Variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Gives the variables that the application will see: those of the process go before those of `.env`. */
export function readVariables({ root }: Project): Variables {
  return { ...parseEnv(readText(join(root, ".env")) ?? ""), ...process.env };
}

/** Looks for variables that `.env.example` has and the environment has not. */
export function checkVariables({ root }: Project, variables: Variables): Finding {
  const example = readText(join(root, ".env.example"));
  if (example === undefined) return skipped("environment", "there is no .env.example");
  const names = Object.keys(parseEnv(example));
  const missing = names.filter((name) => !variables[name]);
  if (missing.length === 0) return ok("environment", `all of ${names.join(", ")} are set`);
  return problem(
    "environment",
    `${missing.join(", ")} of .env.example ${isOrAre(missing)} not set`,
  );
}

function isOrAre(list: readonly unknown[]): string {
  return list.length === 1 ? "is" : "are";
}
