/**
 * The environment of a project: as `.env.example` explains it, and as it is.
 *
 * @module
 */
import { join } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import { readText } from "../system/files.ts";
import type { Project } from "../project/project.ts";
import { type Finding, ok, problem, skipped } from "./finding.ts";

const SUBJECT = "environment";

/** Variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Gives the variables that the application will see: those of the process go before those of `.env`. */
export function readVariables({ root }: Project): Variables {
  return { ...parseEnv(readText(join(root, ".env")) ?? ""), ...process.env };
}

/** Looks for variables that `.env.example` has and the environment has not, and for wrong ones. */
export function checkVariables({ root }: Project, variables: Variables): readonly Finding[] {
  const example = readText(join(root, ".env.example"));
  if (example === undefined) return [skipped(SUBJECT, "there is no .env.example")];
  const names = Object.keys(parseEnv(example));
  const missing = names.filter((name) => !variables[name]);
  const wrong = names.filter((name) => isWrong(name, variables[name]));
  if (missing.length === 0 && wrong.length === 0) {
    return [ok(SUBJECT, `all of ${names.join(", ")} are set`)];
  }
  return [
    ...missing.length > 0
      ? [problem(SUBJECT, `${missing.join(", ")} of .env.example ${isOrAre(missing)} not set`)]
      : [],
    ...wrong.map((name) => problem(SUBJECT, `${name} is no ${name === "PORT" ? "port" : "URL"}`)),
  ];
}

/** Tells whether a value cannot be what its name says. */
function isWrong(name: string, value = ""): boolean {
  if (value === "") return false;
  if (name === "PORT") return !/^\d{1,5}$/.test(value) || Number(value) > 65_535;
  return /_(URL|URI|ISSUER)$/.test(name) && !URL.canParse(value);
}

function isOrAre(list: readonly unknown[]): string {
  return list.length === 1 ? "is" : "are";
}
